"""chat.*: posting, changing, deleting.

https://docs.slack.dev/reference/methods/chat.postMessage and its neighbours
"""

from tests.wire.slack import events
from tests.wire.slack.blocks import MOST_MARKDOWN, check_message
from tests.wire.slack.metadata import check_metadata
from tests.wire.slack.methods import Method, decoded
from tests.wire.slack.payload import Json, Refused, length
from tests.wire.slack.rooms import Kind, Message, Room
from tests.wire.slack.tokens import Token
from tests.wire.slack.views import with_names
from tests.wire.slack.workspace import Workspace

# chat.postMessage, "Truncating content": "Slack will truncate messages containing more than 40,000 characters".
MOST_TEXT = 40_000

# https://docs.slack.dev/reference/methods/chat.update#errors, msg_too_long: "The text field cannot exceed 4,000
# characters."
MOST_NEW_TEXT = 4_000


def content(args: Json) -> tuple[str, list[Json]]:
    """The text and the blocks, or what is wrong with them. Errors: chat.postMessage#errors."""
    text = str(args.get("text") or "")
    blocks = check_message(decoded(args["blocks"], "invalid_blocks_format")) if args.get("blocks") else []
    if markdown := args.get("markdown_text"):
        # "This argument should not be used in conjunction with blocks or text. Limit this field to 12,000 characters."
        if text or blocks:
            raise Refused("markdown_text_conflict")
        if length(str(markdown)) > MOST_MARKDOWN:
            raise Refused("msg_too_long")
        text = str(markdown)
    if not text and not blocks:
        raise Refused("no_text")
    return text, with_names({"blocks": blocks})["blocks"]


def post(workspace: Workspace, args: Json, token: Token, *, only_for: str = "") -> Message:
    """Say something in a room or a thread."""
    room = writable(workspace, args["channel"], token)
    text, blocks = content(args)
    metadata = check_metadata(decoded(args["metadata"], "invalid_metadata_format")) if args.get("metadata") else None
    thread = str(args["thread_ts"]) if args.get("thread_ts") else None
    # Posting below a message that is gone: https://github.com/slackapi/bolt-js/issues/2307 (a maintainer's answer).
    if thread is not None:
        parent = room.message(thread)
        if parent is None and not room.replies(thread):
            raise Refused("thread_not_found")
        # chat.postMessage, thread_ts: "Avoid using a reply's ts value; use its parent instead." Slack puts it there.
        thread = parent.root if parent is not None else thread
    said = Message(
        room, workspace.clock.ts(), workspace.bot, text[:MOST_TEXT], blocks, thread, metadata,
        truncated=len(text) > MOST_TEXT, to=workspace.people[only_for] if only_for else None,
    )  # fmt: skip
    return workspace.put(said)


def writable(workspace: Workspace, channel: object, token: Token) -> Room:
    """A room that the app may say something in. Errors: chat.postMessage#errors."""
    # "Passing a user's ID as the value of channel posts to that user's App Home channel".
    person = workspace.people.get(str(channel))
    room = workspace.direct(person) if person is not None else workspace.room(channel, token)
    if room.archived:
        raise Refused("is_archived")
    # Without chat:write.public, which this app does not ask for, a bot posts only where it is.
    if workspace.bot.id not in room.members:
        raise Refused("not_in_channel")
    return room


def post_message(workspace: Workspace, args: Json, token: Token) -> Json:
    """chat.postMessage"""
    said = post(workspace, args, token)
    workspace.events.append(events.message(workspace, said))
    answer: Json = {"channel": said.room.id, "ts": said.ts, "message": said.as_json(metadata=True)}
    # Nothing but this says so: https://github.com/vercel-labs/emulate/pull/244 (message_truncated).
    if said.truncated:
        answer |= {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}
    return answer


def post_ephemeral(workspace: Workspace, args: Json, token: Token) -> Json:
    """chat.postEphemeral. `user_not_in_channel`: https://docs.slack.dev/reference/methods/chat.postEphemeral#errors"""
    room = writable(workspace, args["channel"], token)
    if str(args["user"]) not in room.members:
        raise Refused("user_not_in_channel")
    said = post(workspace, args, token, only_for=str(args["user"]))
    return {"message_ts": said.ts}


def own(workspace: Workspace, args: Json, token: Token, refusal: str) -> Message:
    """A message of the app itself; another's is refused, and so is one that was for one person alone.

    https://docs.slack.dev/reference/methods/chat.update: "Ephemeral messages … cannot be updated".
    """
    room = workspace.room(args["channel"], token)
    found = room.message(str(args["ts"]))
    if found is None or found.to is not None:
        raise Refused("message_not_found")
    if found.author is not workspace.bot:
        raise Refused(refusal)
    return found


def update(workspace: Workspace, args: Json, token: Token) -> Json:
    """chat.update. https://docs.slack.dev/reference/methods/chat.update

    Blocks stay only where neither blocks nor text are given; an empty list takes them away. Metadata stays unless
    given.
    """
    found = own(workspace, args, token, "cant_update_message")
    # chat.update#errors, is_inactive: "within a frozen, archived or deleted channel".
    if found.room.archived:
        raise Refused("is_inactive")
    if workspace.bot.id not in found.room.members:
        raise Refused("not_in_channel" if found.room.kind is Kind.PUBLIC else "channel_not_found")
    if length(str(args.get("text") or "")) > MOST_NEW_TEXT:
        raise Refused("msg_too_long")
    text, blocks = content({"text": args.get("text") or found.text, **{k: args[k] for k in BODY if k in args}})
    metadata = check_metadata(decoded(args["metadata"], "invalid_metadata_format")) if args.get("metadata") else None
    before = found.as_json()
    if args.get("text") or "blocks" in args:
        found.versions.append(found.blocks)
        found.text, found.blocks = text, blocks
    found.metadata = metadata or found.metadata
    found.edited_ts = workspace.clock.ts()
    workspace.events.append(events.changed(workspace, found, before))
    workspace.changes.changed()
    return {"channel": found.room.id, "ts": found.ts, "text": found.text, "message": found.as_json(metadata=True)}


BODY = ("blocks", "markdown_text")


def delete(workspace: Workspace, args: Json, token: Token) -> Json:
    """chat.delete. https://docs.slack.dev/reference/methods/chat.delete"""
    found = own(workspace, args, token, "cant_delete_message")
    found.deleted = True
    workspace.events.append(events.deleted(workspace, found))
    workspace.changes.changed()
    return {"channel": found.room.id, "ts": found.ts}


def permalink(workspace: Workspace, args: Json, token: Token) -> Json:
    """chat.getPermalink. https://docs.slack.dev/reference/methods/chat.getPermalink"""
    room = workspace.room(args["channel"], token)
    found = room.message(str(args["message_ts"]))
    if found is None:
        raise Refused("message_not_found")
    path = f"archives/{room.id}/p{found.ts.replace('.', '')}"
    return {"channel": room.id, "permalink": f"https://{workspace.team.lower()}.slack.com/{path}"}


def set_status(workspace: Workspace, args: Json, token: Token) -> Json:
    """assistant.threads.setStatus: the status line. An empty status takes it away.

    https://docs.slack.dev/reference/methods/assistant.threads.setStatus
    """
    room = workspace.room(args["channel_id"], token)
    workspace.statuses[room.id, str(args["thread_ts"])] = str(args.get("status") or "")
    workspace.changes.changed()
    return {}


# Not here: `attachments` ("legacy", and what they hold is not checked) and `reply_broadcast`.
SAID = (
    "text", "blocks", "markdown_text", "thread_ts", "unfurl_links", "unfurl_media",
    "mrkdwn", "link_names", "parse", "metadata",
)  # fmt: skip
METHODS = {
    "chat.postMessage": Method(post_message, ("channel",), SAID, "chat:write"),
    "chat.postEphemeral": Method(
        post_ephemeral, ("channel", "user"), ("text", "blocks", "thread_ts", "markdown_text"),
        "chat:write",
    ),
    "chat.update": Method(
        update, ("channel", "ts"),
        ("text", "blocks", "markdown_text", "metadata", "link_names", "parse"),
        "chat:write",
    ),
    "chat.delete": Method(delete, ("channel", "ts"), (), "chat:write"),
    "chat.getPermalink": Method(permalink, ("channel", "message_ts"), reads=True),
    "assistant.threads.setStatus": Method(
        set_status, ("channel_id", "thread_ts"), ("status", "loading_messages"), "chat:write"
    ),
}  # fmt: skip
