"""What the bot is told of. https://docs.discord.com/developers/events/gateway-events

Only what it may see: topics/threads#permissions, "Clients will not be informed of a thread through the gateway if they
do not have permission to view that thread"; topics/permissions#channel-visibility for rooms.
"""

from collections.abc import Callable, Sequence

from tests.wire.discord import showing
from tests.wire.discord.guilds import Guild, Role
from tests.wire.discord.intents import ALWAYS, Intent
from tests.wire.discord.messages import Message
from tests.wire.discord.payload import Json
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Direct, Place, Room, Thread
from tests.wire.discord.world import World


def _tell(world: World, name: str, data: Callable[[bool], Json], intent: Intent) -> None:
    world.changes.changed()
    if world.gateway is not None:
        world.gateway.happened(name, data, intent)


def _about(world: World, place: Place, name: str, data: Callable[[bool], Json], intent: Intent) -> None:
    """An event of a place, if the bot may see it and its guild is there."""
    guild = place.guild
    if May.VIEW_CHANNEL in place.may(world.bot) and not (guild is not None and guild.away):
        _tell(world, name, data, intent)


def _of_messages(place: Place) -> Intent:
    return Intent.DIRECT_MESSAGES if isinstance(place, Direct) else Intent.GUILD_MESSAGES


def said(world: World, message: Message) -> None:
    """MESSAGE_CREATE"""
    if not world.quiet(message):
        place = message.place
        _about(
            world, place, "MESSAGE_CREATE",
            lambda content: showing.with_nonce(message, showing.in_event(world, message, content)),
            _of_messages(place),
        )  # fmt: skip


def changed(world: World, message: Message) -> None:
    """MESSAGE_UPDATE: since 2025 the whole message, as MESSAGE_CREATE has it."""
    if not world.quiet(message):
        place = message.place
        _about(
            world, place, "MESSAGE_UPDATE", lambda content: showing.in_event(world, message, content),
            _of_messages(place),
        )  # fmt: skip


def deleted(world: World, message: Message) -> None:
    """MESSAGE_DELETE"""
    if world.quiet(message):
        return
    place = message.place
    data: Json = {"id": message.id, "channel_id": place.id}
    if place.guild is not None:
        data["guild_id"] = place.guild.id
    _about(world, place, "MESSAGE_DELETE", lambda _: data, _of_messages(place))


def bulk_deleted(world: World, place: Place, messages: Sequence[Message]) -> None:
    """MESSAGE_DELETE_BULK: a moderator has cleared many at once."""
    data: Json = {"ids": [message.id for message in messages], "channel_id": place.id}
    if place.guild is not None:
        data["guild_id"] = place.guild.id
    _about(world, place, "MESSAGE_DELETE_BULK", lambda _: data, _of_messages(place))


def thread_created(world: World, thread: Thread) -> None:
    """THREAD_CREATE with `newly_created`; and, "always sent when the current user is added", THREAD_MEMBERS_UPDATE."""
    _about(
        world, thread, "THREAD_CREATE", lambda _: {**showing.channel(world, thread), "newly_created": True},
        Intent.GUILDS,
    )  # fmt: skip
    if world.bot.id in thread.members:
        _members(world, thread, added=[world.bot])


def thread_updated(world: World, thread: Thread) -> None:
    """THREAD_UPDATE"""
    _about(world, thread, "THREAD_UPDATE", lambda _: _without_member(world, thread), Intent.GUILDS)


def thread_opened(world: World, thread: Thread) -> None:
    """topics/threads#unarchiving-a-thread: THREAD_UPDATE, then THREAD_MEMBER_UPDATE "to all members"."""
    thread_updated(world, thread)
    if world.bot.id in thread.members:
        data: Json = {**thread.member_json(world.bot), "guild_id": thread.guild.id}
        _about(world, thread, "THREAD_MEMBER_UPDATE", lambda _: data, Intent.GUILDS)


def threads_synced(world: World, room: Room) -> None:
    """topics/threads#gaining-access-to-channels: THREAD_LIST_SYNC, with what is active there and may be seen."""
    threads = [t for t in world.threads_of(room) if not t.archived and May.VIEW_CHANNEL in t.may(world.bot)]
    data: Json = {
        "guild_id": room.home.id, "channel_ids": [room.id],
        "threads": [showing.channel(world, thread) for thread in threads],
        "members": [thread.member_json(world.bot) for thread in threads if world.bot.id in thread.members],
    }  # fmt: skip
    _about(world, room, "THREAD_LIST_SYNC", lambda _: data, Intent.GUILDS)


def role_made(world: World, guild: Guild, role: Role, *, new: bool) -> None:
    """GUILD_ROLE_CREATE, GUILD_ROLE_UPDATE"""
    data: Json = {"guild_id": guild.id, "role": role.as_json(len(guild.roles))}
    if world.bot.id in guild.members:
        _tell(world, "GUILD_ROLE_CREATE" if new else "GUILD_ROLE_UPDATE", lambda _: data, Intent.GUILDS)


def member_changed(world: World, guild: Guild, person: Person) -> None:
    """GUILD_MEMBER_UPDATE. gateway#caveats: of the bot itself it is sent without the GUILD_MEMBERS intent too."""
    data: Json = {"guild_id": guild.id, **guild.member_json(person)}
    if world.bot.id in guild.members:
        _tell(
            world, "GUILD_MEMBER_UPDATE", lambda _: data, ALWAYS if person is world.bot else Intent.GUILD_MEMBERS
        )  # fmt: skip


def thread_deleted(world: World, thread: Thread) -> None:
    """THREAD_DELETE: "Contains the id, guild_id, parent_id, and type fields"."""
    data: Json = {
        "id": thread.id, "guild_id": thread.guild.id, "parent_id": thread.parent.id, "type": thread.kind.value,
    }  # fmt: skip
    _about(world, thread, "THREAD_DELETE", lambda _: data, Intent.GUILDS)


def added(world: World, thread: Thread, person: Person) -> None:
    """Somebody has come into a thread. Of others than the bot only with GUILD_MEMBERS (gateway#caveats).

    topics/threads#gaining-access-to-private-threads: "Whenever a user is added to a private thread, the Gateway also
    sends a Thread Create event".
    """
    if person is world.bot:
        _about(world, thread, "THREAD_CREATE", lambda _: showing.channel(world, thread), Intent.GUILDS)
    _members(world, thread, added=[person])


def removed(world: World, thread: Thread, person: Person) -> None:
    """Somebody is out of a thread: THREAD_MEMBERS_UPDATE, of the bot itself also when it can see it no more."""
    data: Json = {
        "id": thread.id, "guild_id": thread.guild.id, "member_count": len(thread.members),
        "removed_member_ids": [person.id],
    }  # fmt: skip
    if person is world.bot:
        _tell(world, "THREAD_MEMBERS_UPDATE", lambda _: data, Intent.GUILDS)
    else:
        _about(world, thread, "THREAD_MEMBERS_UPDATE", lambda _: data, Intent.GUILD_MEMBERS)


def _members(world: World, thread: Thread, added: list[Person]) -> None:
    data: Json = {
        "id": thread.id, "guild_id": thread.guild.id, "member_count": len(thread.members),
        "added_members": [thread.member_json(person) for person in added],
    }  # fmt: skip
    intent = Intent.GUILDS if world.bot in added else Intent.GUILD_MEMBERS
    _about(world, thread, "THREAD_MEMBERS_UPDATE", lambda _: data, intent)


def _without_member(world: World, thread: Thread) -> Json:
    return {name: value for name, value in showing.channel(world, thread).items() if name != "member"}


def room_event(world: World, room: Room, name: str) -> None:
    """CHANNEL_CREATE, CHANNEL_UPDATE, CHANNEL_DELETE. A room that the bot may not view comes obfuscated."""
    if world.bot.id in room.home.members and not room.home.away:
        hidden = May.VIEW_CHANNEL not in room.may(world.bot)
        _tell(world, name, lambda _: room.as_json(hidden=hidden), Intent.GUILDS)


def guild_gone(world: World, guild: Guild, *, outage: bool) -> None:
    """GUILD_DELETE: "If the unavailable field is not set, the user was removed from the guild"."""
    data: Json = {"id": guild.id, "unavailable": True} if outage else {"id": guild.id}
    _tell(world, "GUILD_DELETE", lambda _: data, Intent.GUILDS)


def guild_there(world: World, guild: Guild, *, joined: bool) -> None:
    """GUILD_CREATE: "When a guild becomes available again", or "When the current user joins a new Guild".

    Clients tell the two by `unavailable`, which stands, as false, only in the first.
    """
    hidden = {"unavailable"} if joined else set[str]()
    _tell(
        world, "GUILD_CREATE",
        lambda _: {name: value for name, value in showing.guild_create(world, guild).items() if name not in hidden},
        Intent.GUILDS,
    )  # fmt: skip


def interaction(world: World, data: Json) -> None:
    """INTERACTION_CREATE, which no intent is needed for."""
    _tell(world, "INTERACTION_CREATE", lambda _: data, ALWAYS)
