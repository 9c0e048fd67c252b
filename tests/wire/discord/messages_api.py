"""Messages: https://docs.discord.com/developers/resources/message#get-channel-messages and what follows there."""

from tests.wire.discord import events, saying, showing
from tests.wire.discord.components import texts
from tests.wire.discord.content import CREATE, EDIT, Body, check_body, need_something
from tests.wire.discord.endpoints import Answer, Endpoint
from tests.wire.discord.mentions import ALL, pinged
from tests.wire.discord.messages import SYSTEM, Attached, Flag, Message
from tests.wire.discord.payload import ApiError, Json, invalid
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Direct, Place
from tests.wire.discord.refusals import missing_permissions, no_history_no_reply, not_the_author, thread_is_archived
from tests.wire.discord.world import LAST, Call, World, number

# `enforce_nonce`: "checked for uniqueness in the past few minutes". How many is not said.
NONCE_SECONDS = 180.0
MOST_READ = 100


def create(world: World, call: Call) -> Answer:
    """#create-message"""
    place = world.place(call.params["channel"])
    saying.may_say(world, place, world.bot)
    body = check_body(call.body, call.files, CREATE)
    need_something(body.content, body.embeds or [], body.components or [], len(call.files))
    _may_attach(world, place, body, len(call.files))
    nonce = None if call.body.get("nonce") is None else str(call.body["nonce"])
    replied = _replied(world, place, call.body)
    if nonce is not None and call.body.get("enforce_nonce"):
        then, earlier = world.nonces.get((world.bot.id, nonce), (0.0, None))
        # "If another message was created by the same author with the same nonce, that message will be returned".
        if earlier is not None and world.clock.now() - then <= NONCE_SECONDS:
            return 200, showing.with_nonce(earlier, showing.over_http(world, earlier))
    saying.wake(world, place)
    said = saying.say(
        world, place, world.bot, body.content or "", embeds=body.embeds or [], components=body.components or [],
        files=saying.attached(world, call.files, body.kept or []), flags=body.flags, nonce=nonce,
        allowed=ALL if body.allowed is None else body.allowed, replied=replied,
    )  # fmt: skip
    if nonce is not None:
        world.nonces[world.bot.id, nonce] = (world.clock.now(), said)
    return 200, showing.with_nonce(said, showing.over_http(world, said))


def _may_attach(world: World, place: Place, body: Body, files: int) -> None:
    """topics/permissions: ATTACH_FILES and EMBED_LINKS."""
    may = place.may(world.bot)
    if (files and May.ATTACH_FILES not in may) or (body.embeds and May.EMBED_LINKS not in may):
        raise missing_permissions()


def _replied(world: World, place: Place, raw: Json) -> Message | None:
    """ "the current user must have the READ_MESSAGE_HISTORY permission. The referenced message must exist and cannot be
    a system message"; with `fail_if_not_exists` False it is a message like others."""
    reference = raw.get("message_reference")
    if reference is None:
        return None
    if May.READ_MESSAGE_HISTORY not in place.may(world.bot):
        raise no_history_no_reply()
    found = place.messages.get(str(reference["message_id"]))
    elsewhere = str(reference.get("channel_id", place.id)) != place.id
    if found is None or found.deleted or found.to is not None or elsewhere:
        if reference.get("fail_if_not_exists", True):
            raise invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None
    if found.type in SYSTEM:
        raise invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
    return found


def edit(world: World, call: Call) -> Answer:
    """#edit-message: its author may change it; others only its flags, which this server has no use for."""
    place = world.place(call.params["channel"])
    said = world.message(place, call.params["message"])
    if said.author is not world.bot:
        raise not_the_author()
    saying.may_change(place, world.bot)
    change(world, said, call, ALL)
    return 200, showing.over_http(world, said)


def change(world: World, said: Message, call: Call, default: Json) -> None:
    """Change what is given, and leave the rest. "If there is no explicit allowed_mentions in the edit request, the
    content will be parsed with default allowances"."""
    body = check_body(
        call.body, call.files, EDIT, flags=Flag.SUPPRESS_EMBEDS | Flag.IS_COMPONENTS_V2, before=said.flags
    )
    raw = body.raw
    content = (body.content or "") if "content" in raw else said.content
    embeds = (body.embeds or []) if "embeds" in raw else said.embeds
    components = (body.components or []) if "components" in raw else said.components
    files = _kept(world, said, call, body)
    need_something(content, embeds, components, len(files))
    if "components" in raw:
        said.versions.append(said.components)
    said.content, said.embeds, said.components, said.attachments = content, embeds, components, files
    # Editing the answer that was deferred ends its "loading state".
    said.flags = body.flags & ~Flag.LOADING
    said.edited_at = world.clock.iso()
    if "content" in raw or "components" in raw:
        allowed = default if body.allowed is None else body.allowed
        said.pings = pinged(
            [content, *texts(components)], allowed, said.author, said.place, world.people, said.replied
        )  # fmt: skip
    world.changes.changed()
    events.changed(world, said)


def _kept(world: World, said: Message, call: Call, body: Body) -> list[Attached]:
    """ "the attachments array must contain all attachments that should be present after edit"."""
    if body.kept is None:
        return [*said.attachments, *saying.attached(world, call.files)]
    named = {str(item["id"]) for item in body.kept}
    kept = [file for file in said.attachments if file.id in named]
    return [*kept, *saying.attached(world, call.files, [i for i in body.kept if int(i["id"]) in call.files])]


def delete(world: World, call: Call) -> Answer:
    """#delete-message. topics/threads: in an archived thread messages may be deleted; in a locked one "only … if that
    thread is also active"."""
    place = world.place(call.params["channel"])
    said = world.message(place, call.params["message"])
    may = place.may(world.bot)
    if said.author is not world.bot and (isinstance(place, Direct) or May.MANAGE_MESSAGES not in may):
        raise missing_permissions()
    if getattr(place, "archived", False) and getattr(place, "locked", False) and May.MANAGE_THREADS not in may:
        raise thread_is_archived()
    said.deleted = True
    events.deleted(world, said)
    return 204, None


def read(world: World, call: Call) -> Answer:
    """#get-channel-messages: newest first, 50 unless told, 100 at most; nothing without READ_MESSAGE_HISTORY.

    "The before, after, and around parameters are mutually exclusive". With `after`, the oldest after it are taken.
    """
    place = world.place(call.params["channel"])
    given = {name: call.query[name] for name in ("around", "before", "after") if name in call.query}
    limit = number(call, "limit", 50, 1, MOST_READ)
    for name in given:
        number(call, name, 0, 0, LAST)
    if len(given) > 1:
        raise invalid("", "MUTUALLY_EXCLUSIVE", "Only one of around, before and after may be passed.")
    if May.READ_MESSAGE_HISTORY not in place.may(world.bot):
        return 200, []
    there = [m for m in place.messages.values() if not m.deleted and m.to is None]
    if "after" in given:
        there = [m for m in there if int(m.id) > int(given["after"])][:limit]
    elif "around" in given:
        before = [m for m in there if int(m.id) <= int(given["around"])][-(limit // 2 + 1) :]
        there = [*before, *[m for m in there if m not in before and int(m.id) > int(given["around"])]][:limit]
    else:
        there = [m for m in there if "before" not in given or int(m.id) < int(given["before"])][-limit:]
    return 200, [showing.over_http(world, m) for m in reversed(there)]


def read_one(world: World, call: Call) -> Answer:
    """#get-channel-message: VIEW_CHANNEL and READ_MESSAGE_HISTORY."""
    place = world.place(call.params["channel"], May.READ_MESSAGE_HISTORY)
    return 200, showing.over_http(world, world.message(place, call.params["message"]))


def typing(world: World, call: Call) -> Answer:
    """https://docs.discord.com/developers/resources/channel#trigger-typing-indicator: 204, for ten seconds."""
    place = world.place(call.params["channel"])
    if call.body:
        raise ApiError(400, 50035, "Invalid Form Body")
    saying.may_say(world, place, world.bot)
    world.typing.append(place.id)
    return 204, None


_ONE = "/channels/{channel}/messages/{message}"
ENDPOINTS = (
    Endpoint("create_message", "POST", "/channels/{channel}/messages", create, files=True),
    Endpoint("get_messages", "GET", "/channels/{channel}/messages", read, ("around", "before", "after", "limit")),
    Endpoint("get_message", "GET", _ONE, read_one),
    Endpoint("edit_message", "PATCH", _ONE, edit, files=True),
    Endpoint("delete_message", "DELETE", _ONE, delete),
    Endpoint("typing", "POST", "/channels/{channel}/typing", typing),
)
