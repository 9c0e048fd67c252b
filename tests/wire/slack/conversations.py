"""conversations.* and users.info: reading what is there.

https://docs.slack.dev/apis/web-api/using-the-conversations-api
"""

from tests.wire.slack.methods import Method
from tests.wire.slack.payload import Json, Refused, is_true
from tests.wire.slack.rooms import Kind, Message, Room
from tests.wire.slack.tokens import OF_KIND, Token
from tests.wire.slack.workspace import Workspace


def history(workspace: Workspace, args: Json, token: Token) -> Json:
    """conversations.history: newest first, without what was said in threads.

    https://docs.slack.dev/reference/methods/conversations.history: `not_in_channel`, limit 1 to 999, default 100.
    """
    room = workspace.room(args["channel"], token, family="history")
    if workspace.bot.id not in room.members:
        raise Refused("not_in_channel")
    top = [m for m in room.standing() if m.thread_ts is None or m.thread_ts == m.ts]
    return page(list(reversed(between(top, args))), args, 100, 999)


def replies(workspace: Workspace, args: Json, token: Token) -> Json:
    """conversations.replies: oldest first, the message that begins the thread before all others.

    https://docs.slack.dev/reference/methods/conversations.replies: `thread_not_found`; the first message is given
    whatever `oldest` says.
    """
    room = workspace.room(args["channel"], token, family="history")
    if workspace.bot.id not in room.members:
        raise Refused("not_in_channel")
    found = room.message(str(args["ts"]))
    root = found.root if found is not None else str(args["ts"])
    below = room.replies(root)
    first = room.message(root)
    if first is None and not below:
        raise Refused("thread_not_found")
    thread = ([] if first is None else [first]) + between(below, args)
    return page(thread, args, 1000, 1000)


def between(messages: list[Message], args: Json) -> list[Message]:
    """Those after `oldest` and before `latest`; the limits themselves only if `inclusive`."""
    inclusive = is_true(args.get("inclusive"))
    low, high = limit(args, "oldest", "0"), limit(args, "latest", "9999999999")
    return [
        m for m in messages
        if low < number(m.ts) < high or (inclusive and number(m.ts) in (low, high))
    ]  # fmt: skip


def limit(args: Json, name: str, usual: str) -> tuple[int, int]:
    """One end of the range, or `invalid_ts_oldest`, `invalid_ts_latest`: conversations.history#errors."""
    try:
        return number(str(args.get(name) or usual))
    except ValueError as wrong:
        raise Refused(f"invalid_ts_{name}") from wrong


def number(ts: str) -> tuple[int, int]:
    """A timestamp as something that can be compared."""
    seconds, _, rest = ts.partition(".")
    return int(seconds), int((rest or "0").ljust(6, "0"))


def page(messages: list[Message], args: Json, usual: int, most: int) -> Json:
    """One page, and the cursor of the next. https://docs.slack.dev/apis/web-api/pagination"""
    most_now, start = cut(args, usual, most)
    shown, more = messages[start : start + most_now], len(messages) > start + most_now
    # conversations.history, include_all_metadata: "Return all metadata associated with this message".
    metadata = is_true(args.get("include_all_metadata"))
    return {
        "messages": [m.as_json(metadata=metadata) for m in shown], "has_more": more,
        "response_metadata": {"next_cursor": f"next:{start + most_now}" if more else ""},
    }  # fmt: skip


def cut(args: Json, usual: int, most: int) -> tuple[int, int]:
    """How many items a page has, and with which it begins."""
    try:
        most_now, start = (
            int(str(args.get("limit") or usual)),
            int(str(args.get("cursor") or "0").removeprefix("next:")),
        )
    except ValueError as wrong:
        raise Refused("invalid_cursor") from wrong
    if not 1 <= most_now <= most:
        raise Refused("invalid_limit")
    return most_now, start


def info(workspace: Workspace, args: Json, token: Token) -> Json:
    """conversations.info. https://docs.slack.dev/reference/methods/conversations.info"""
    room = workspace.room(args["channel"], token, family="read")
    return {"channel": {**room.as_json(), "is_member": workspace.bot.id in room.members}}


def listing(workspace: Workspace, args: Json, token: Token) -> Json:
    """conversations.list: each type needs its own scope; of a direct conversation it says with whom, and no more.

    https://docs.slack.dev/reference/methods/conversations.list: types, default public_channel; limit default 100,
    "an integer under 1000"; a direct conversation has `is_user_deleted` and neither name nor members.
    """
    kinds = {"public_channel": Kind.PUBLIC, "private_channel": Kind.PRIVATE, "im": Kind.DIRECT,
             "mpim": Kind.GROUP_DIRECT}  # fmt: skip
    found: list[Room] = []
    for name in str(args.get("types") or "public_channel").split(","):
        if name.strip() not in kinds:
            raise Refused("invalid_types")
        kind = kinds[name.strip()]
        token.need(f"{OF_KIND[kind]}:read")
        found += [
            room for room in workspace.rooms.values()
            if room.kind is kind and not room.deleted and (kind is Kind.PUBLIC or workspace.bot.id in room.members)
            and not (room.archived and is_true(args.get("exclude_archived")))
        ]  # fmt: skip
    most, start = cut(args, 100, 999)
    more = len(found) > start + most
    return {
        "channels": [listed(workspace, room) for room in found[start : start + most]],
        "response_metadata": {"next_cursor": f"next:{start + most}" if more else ""},
    }


def listed(workspace: Workspace, room: Room) -> Json:
    """One room of the list. https://docs.slack.dev/reference/objects/conversation-object"""
    if room.kind is not Kind.DIRECT:
        return {**room.as_json(), "is_member": workspace.bot.id in room.members}
    (other,) = room.members - {workspace.bot.id}
    return {
        "id": room.id, "created": 1_700_000_000, "is_archived": room.archived, "is_im": True, "is_org_shared": False,
        "user": other, "is_user_deleted": workspace.people[other].deactivated, "priority": 0,
        "context_team_id": room.team,
    }  # fmt: skip


def open_direct(workspace: Workspace, args: Json, token: Token) -> Json:
    """conversations.open, for one person. https://docs.slack.dev/reference/methods/conversations.open#errors"""
    person = workspace.people.get(str(args["users"]))
    if person is None:
        raise Refused("user_not_found")
    if person.deactivated:
        raise Refused("user_disabled")
    return {"channel": {"id": workspace.direct(person).id}}


def user_info(workspace: Workspace, args: Json, token: Token) -> Json:
    """users.info. https://docs.slack.dev/reference/methods/users.info#errors"""
    person = workspace.people.get(str(args["user"]))
    if person is None:
        raise Refused("user_not_found")
    return {"user": person.as_json(workspace.team)}


def auth_test(workspace: Workspace, args: Json, token: Token) -> Json:
    """auth.test. https://docs.slack.dev/reference/methods/auth.test"""
    who: Json = {
        "url": f"https://{workspace.team.lower()}.slack.com/", "team": "Casebound", "user": workspace.bot.name,
        "team_id": workspace.team, "user_id": workspace.bot.id, "bot_id": workspace.bot.bot_id,
        "is_enterprise_install": False,
    }  # fmt: skip
    return who if workspace.enterprise is None else {**who, "enterprise_id": workspace.enterprise}


RANGE = ("cursor", "inclusive", "latest", "limit", "oldest", "include_all_metadata")
METHODS = {
    "auth.test": Method(auth_test),
    "conversations.history": Method(history, ("channel",), RANGE, reads=True),
    "conversations.replies": Method(replies, ("channel", "ts"), RANGE, reads=True),
    "conversations.list": Method(listing, (), ("cursor", "exclude_archived", "limit", "types"), reads=True),
    "conversations.info": Method(info, ("channel",), ("include_locale", "include_num_members"), reads=True),
    "conversations.open": Method(open_direct, ("users",), ("return_im", "prevent_creation"), "im:write"),
    "users.info": Method(user_info, ("user",), ("include_locale",), "users:read", reads=True),
}
