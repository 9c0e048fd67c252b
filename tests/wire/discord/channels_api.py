"""What is read of channels, guilds and people, and the way to the gateway."""

from tests.wire.discord import showing
from tests.wire.discord.endpoints import Answer, Endpoint
from tests.wire.discord.guilds import Guild
from tests.wire.discord.intents import Intent
from tests.wire.discord.payload import Json
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Room, Thread
from tests.wire.discord.refusals import (
    missing_access,
    unknown_channel,
    unknown_guild,
    unknown_member,
    unknown_user,
    wrong_channel_type,
)  # fmt: skip
from tests.wire.discord.shapes import shape, snowflake
from tests.wire.discord.world import LAST, Call, World, moment, number


def channel(world: World, call: Call) -> Answer:
    """https://docs.discord.com/developers/resources/channel#get-channel"""
    return 200, showing.channel(world, world.place(call.params["channel"]))


def myself(world: World, call: Call) -> Answer:
    """https://docs.discord.com/developers/resources/user#get-current-user"""
    return 200, world.bot.as_json() | {"verified": True, "mfa_enabled": False}


def user(world: World, call: Call) -> Answer:
    """…/resources/user#get-user"""
    person = world.people.get(call.params["user"])
    if person is None:
        raise unknown_user()
    return 200, person.as_json()


_recipient = shape({"recipient_id": snowflake})


def open_direct(world: World, call: Call) -> Answer:
    """…/resources/user#create-dm: "if one already exists, it will be returned instead"."""
    _recipient(call.body, "")
    person = world.people.get(str(call.body["recipient_id"]))
    if person is None:
        raise unknown_user()
    # Another bot cannot be written to.
    if person.bot:
        raise wrong_channel_type()
    return 200, showing.channel(world, world.direct(person))


def my_guilds(world: World, call: Call) -> Answer:
    """…/resources/user#get-current-user-guilds: 200 at most, by id; `permissions` are those of the bot."""
    limit = number(call, "limit", 200, 1, 200)
    after, before = number(call, "after", 0, 0, LAST), number(call, "before", LAST, 0, LAST)
    inside = [g for g in world.guilds.values() if world.bot.id in g.members and after < int(g.id) < before]
    return 200, [
        {
            "id": g.id, "name": g.name, "icon": None, "banner": None, "owner": g.owner is world.bot, "features": [],
            "permissions": str(int(g.base(world.bot))),
        }
        for g in inside[:limit]
    ]  # fmt: skip


def guild(world: World, call: Call) -> Answer:
    """https://docs.discord.com/developers/resources/guild#get-guild"""
    return 200, _guild(world, call).as_json()


def rooms(world: World, call: Call) -> Answer:
    """…/resources/guild#get-guild-channels: "Does not include threads", nor rooms that the bot may not view."""
    home = _guild(world, call)
    here = [p for p in world.places.values() if isinstance(p, Room) and p.home is home and not p.deleted]
    return 200, [showing.channel(world, room) for room in here if May.VIEW_CHANNEL in room.may(world.bot)]


def member(world: World, call: Call) -> Answer:
    """…/resources/guild#get-guild-member"""
    home = _guild(world, call)
    person = world.people.get(call.params["user"])
    if person is None:
        raise unknown_user()
    if person.id not in home.members:
        raise unknown_member()
    return 200, home.member_json(person)


def active_threads(world: World, call: Call) -> Answer:
    """…/resources/guild#list-active-guild-threads: newest first, with the bot's own memberships."""
    home = _guild(world, call)
    found = [
        p for p in world.places.values()
        if isinstance(p, Thread) and p.guild is home and not p.deleted and not p.archived
        and May.VIEW_CHANNEL in p.may(world.bot)
    ]  # fmt: skip
    return 200, _listed(world, sorted(found, key=lambda thread: -int(thread.id)))


def archived_threads(world: World, call: Call) -> Answer:
    """…/resources/channel#list-public-archived-threads and #list-private-archived-threads, which needs MANAGE_THREADS
    as well; both need READ_MESSAGE_HISTORY. Newest archived first."""
    private = call.params["kind"] == "private"
    needed = (May.READ_MESSAGE_HISTORY, May.MANAGE_THREADS) if private else (May.READ_MESSAGE_HISTORY,)
    room = world.place(call.params["channel"], *needed)
    if not isinstance(room, Room):
        raise wrong_channel_type()
    return 200, _archived(world, call, [t for t in world.threads_of(room) if t.private is private])


def joined_private(world: World, call: Call) -> Answer:
    """…/resources/channel#list-joined-private-archived-threads: by id, newest first, and `before` is an id too."""
    room = world.place(call.params["channel"], May.READ_MESSAGE_HISTORY)
    if not isinstance(room, Room):
        raise unknown_channel()
    limit, before = number(call, "limit", 50, 2, 100), number(call, "before", LAST, 0, LAST)
    mine = [
        t for t in world.threads_of(room)
        if t.private and t.archived and world.bot.id in t.members and int(t.id) < before
    ]  # fmt: skip
    mine.sort(key=lambda thread: -int(thread.id))
    return 200, {**_listed(world, mine[:limit]), "has_more": len(mine) > limit}


def _archived(world: World, call: Call, threads: list[Thread]) -> Json:
    """By when they were archived, newest first; `before` is such a time."""
    limit = number(call, "limit", 50, 2, 100)
    found = sorted((t for t in threads if t.archived), key=lambda thread: -thread.archive_changed)
    if before := call.query.get("before"):
        found = [t for t in found if t.archive_changed < moment(before)]
    return {**_listed(world, found[:limit]), "has_more": len(found) > limit}


def _listed(world: World, threads: list[Thread]) -> Json:
    return {
        "threads": [showing.channel(world, thread) for thread in threads],
        "members": [thread.member_json(world.bot) for thread in threads if world.bot.id in thread.members],
    }


def _guild(world: World, call: Call) -> Guild:
    found = world.guilds.get(call.params["guild"])
    if found is None:
        raise unknown_guild()
    if world.bot.id not in found.members:
        raise missing_access()
    return found


def application(world: World, call: Call) -> Answer:
    """https://docs.discord.com/developers/resources/application#get-current-application

    `flags`: #application-object-application-flags, GATEWAY_MESSAGE_CONTENT_LIMITED is bit 19.
    """
    content = Intent.MESSAGE_CONTENT in world.privileged
    return 200, {
        "id": world.app, "name": "casebound", "icon": None, "description": "", "summary": "", "bot_public": False,
        "bot_require_code_grant": False, "verify_key": "0", "flags": 1 << 19 if content else 0, "team": None,
        "owner": world.bot.as_json(), "bot": world.bot.as_json(),
    }  # fmt: skip


def gateway(world: World, call: Call) -> Answer:
    """https://docs.discord.com/developers/events/gateway#get-gateway-bot"""
    return 200, {
        "url": world.url.replace("http", "ws", 1) + "/gateway", "shards": 1,
        "session_start_limit": {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1},
    }  # fmt: skip


_paged = ("before", "limit")
ENDPOINTS = (
    Endpoint("get_channel", "GET", "/channels/{channel}", channel),
    Endpoint("get_current_user", "GET", "/users/@me", myself),
    Endpoint("create_dm", "POST", "/users/@me/channels", open_direct),
    Endpoint("get_my_guilds", "GET", "/users/@me/guilds", my_guilds, ("before", "after", "limit", "with_counts")),
    Endpoint("get_user", "GET", "/users/{user}", user),
    Endpoint("get_guild", "GET", "/guilds/{guild}", guild, ("with_counts",)),
    Endpoint("get_guild_channels", "GET", "/guilds/{guild}/channels", rooms),
    Endpoint("get_guild_member", "GET", "/guilds/{guild}/members/{user}", member),
    Endpoint("list_active_threads", "GET", "/guilds/{guild}/threads/active", active_threads),
    Endpoint(
        "list_archived_threads", "GET", "/channels/{channel}/threads/archived/{kind}", archived_threads, _paged
    ),
    Endpoint(
        "list_joined_private_threads", "GET", "/channels/{channel}/users/@me/threads/archived/private",
        joined_private, _paged,
    ),
    Endpoint("get_application", "GET", "/oauth2/applications/@me", application),
    Endpoint("get_gateway_bot", "GET", "/gateway/bot", gateway),
)  # fmt: skip
