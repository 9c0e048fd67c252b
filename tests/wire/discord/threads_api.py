"""Threads: https://docs.discord.com/developers/resources/channel#start-thread-from-message and what follows there."""

from tests.wire.discord import events, saying, showing
from tests.wire.discord.endpoints import Answer, Endpoint
from tests.wire.discord.messages import Message, Type
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Kind, Place, Room, Thread
from tests.wire.discord.refusals import (
    missing_access,
    missing_permissions,
    thread_exists,
    thread_is_archived,
    thread_is_locked,
    unknown_channel,
    unknown_member,
    unknown_user,
    wrong_channel_type,
)  # fmt: skip
from tests.wire.discord.shapes import Check, boolean, nullable, number, one_of, shape, string
from tests.wire.discord.world import Call, World

# channel#thread-metadata-object: "auto_archive_duration … can be set to: 60, 1440, 4320, 10080", minutes.
DURATIONS = (60, 1440, 4320, 10080)
A_DAY = 1440

_name = string(100, 1)
_common: dict[str, Check] = {
    "auto_archive_duration": one_of(*DURATIONS), "rate_limit_per_user": nullable(number(0, 21600)),
}  # fmt: skip
_from_message = shape({"name": _name}, _common)
_without = shape({"name": _name}, {**_common, "type": one_of(11, 12), "invitable": boolean})
_changed = shape(
    {}, {**_common, "name": _name, "archived": boolean, "locked": boolean, "invitable": boolean}
)  # fmt: skip


def from_message(world: World, call: Call) -> Answer:
    """#start-thread-from-message. topics/threads: "The created thread and the message … will share the same id"."""
    room = _room(world, call.params["channel"], May.CREATE_PUBLIC_THREADS)
    starter = world.message(room, call.params["message"])
    _from_message(call.body, "")
    if starter.id in world.places:
        raise thread_exists()
    thread = _thread(world, call, room, Kind.PUBLIC_THREAD, starter.id)
    return 201, showing.channel(world, saying.start_thread(world, thread, world.bot, starter))


def without_message(world: World, call: Call) -> Answer:
    """#start-thread-without-message. `type` "defaults to PRIVATE_THREAD" in v10."""
    kind = Kind(int(call.body.get("type", Kind.PRIVATE_THREAD)))
    private = kind is Kind.PRIVATE_THREAD
    room = _room(
        world, call.params["channel"], May.CREATE_PRIVATE_THREADS if private else May.CREATE_PUBLIC_THREADS
    )  # fmt: skip
    _without(call.body, "")
    thread = _thread(world, call, room, kind, world.clock.snowflake())
    return 201, showing.channel(world, saying.start_thread(world, thread, world.bot))


def _thread(world: World, call: Call, room: Room, kind: Kind, id: str) -> Thread:
    return Thread(
        id, room, str(call.body["name"]), kind, world.bot, world.clock.now(),
        int(call.body.get("auto_archive_duration", A_DAY)), bool(call.body.get("invitable", True)),
    )  # fmt: skip


def _room(world: World, id: str, needed: May) -> Room:
    room = world.place(id, needed)
    if not isinstance(room, Room):
        raise wrong_channel_type()
    return room


def add_member(world: World, call: Call) -> Answer:
    """#add-thread-member: "Requires the ability to send messages in the thread. Also requires the thread is not
    archived." topics/permissions: who is added has to be able to view the room."""
    thread = world.thread(call.params["channel"], unknown_channel())
    _active(world, thread)
    saying.may_say(world, thread, world.bot)
    person = world.bot if call.params["user"] == "@me" else world.people.get(call.params["user"])
    if person is None:
        raise unknown_user()
    if May.VIEW_CHANNEL not in thread.parent.may(person):
        raise missing_access()
    # channel#thread-metadata-object, `invitable`: "whether non-moderators can add other non-moderators".
    if not thread.invitable and thread.owner is not world.bot and May.MANAGE_THREADS not in thread.may(world.bot):
        raise missing_permissions()
    saying.join(world, thread, person, by=world.bot)
    return 204, None


def remove_member(world: World, call: Call) -> Answer:
    """#remove-thread-member: MANAGE_THREADS, "or the creator of the thread if it is a PRIVATE_THREAD".

    #leave-thread: `@me`.
    """
    thread = world.thread(call.params["channel"], unknown_channel())
    _active(world, thread)
    person: Person | None = world.bot if call.params["user"] == "@me" else world.people.get(call.params["user"])
    if person is None or person.id not in thread.members:
        raise unknown_member()
    moderates = May.MANAGE_THREADS in thread.may(world.bot) or (thread.private and thread.owner is world.bot)
    if person is not world.bot and not moderates:
        raise missing_permissions()
    del thread.members[person.id]
    events.removed(world, thread, person)
    return 204, None


def _active(world: World, thread: Thread) -> None:
    if thread.archived:
        raise thread_is_archived()
    if thread.locked and May.MANAGE_THREADS not in thread.may(world.bot):
        raise thread_is_locked()


def modify(world: World, call: Call) -> Answer:
    """#modify-channel, of a thread: topics/threads#editing--deleting-threads says who may change what.

    An archived thread takes no change but being unarchived, which may come along: discord-api-docs issue 6928.
    """
    place: Place = world.place(call.params["channel"])
    if not isinstance(place, Thread):
        # Rooms are changed by their admins, not by this bot.
        raise missing_permissions()
    _changed(call.body, "")
    body = call.body
    moderates = May.MANAGE_THREADS in place.may(world.bot)
    archived = bool(body.get("archived", place.archived))
    if place.archived and archived and body.keys() - {"archived"}:
        raise thread_is_archived()
    if place.archived and not archived and place.locked and not moderates:
        raise missing_permissions()
    owns = place.owner is world.bot
    # "Editing a thread to set archived to false only requires the current user has already been added to the thread."
    free = {"archived"} if place.archived and not archived and world.bot.id in place.members else set[str]()
    owners = {"name", "archived", "auto_archive_duration", "invitable"} if owns else set[str]()
    if not moderates and (body.keys() - free - owners):
        raise missing_permissions()
    if not moderates and place.locked and not place.archived:
        raise thread_is_locked()
    renamed = "name" in body and body["name"] != place.name
    place.name = str(body.get("name", place.name))
    if "auto_archive_duration" in body:
        place.auto_archive, place.archive_changed = int(body["auto_archive_duration"]), world.clock.now()
    place.invitable = bool(body.get("invitable", place.invitable))
    saying.set_archived(world, place, archived, locked=bool(body.get("locked", place.locked)))
    if renamed:
        # topics/threads#new-message-types: CHANNEL_NAME_CHANGE "is sent when the thread's name is changed".
        note = Message(
            place, world.clock.snowflake(), world.bot, place.name, world.clock.iso(), Type.CHANNEL_NAME_CHANGE
        )  # fmt: skip
        events.said(world, world.put(note))
    return 200, showing.channel(world, place)


def delete(world: World, call: Call) -> Answer:
    """#deleteclose-channel: a thread needs MANAGE_THREADS, a room MANAGE_CHANNELS, which this bot never has."""
    place = world.place(call.params["channel"])
    if not isinstance(place, Thread) or May.MANAGE_THREADS not in place.may(world.bot):
        raise missing_permissions()
    shown = showing.channel(world, place)
    place.deleted = True
    events.thread_deleted(world, place)
    return 200, shown


ENDPOINTS = (
    Endpoint("start_thread_from_message", "POST", "/channels/{channel}/messages/{message}/threads", from_message),
    Endpoint("start_thread", "POST", "/channels/{channel}/threads", without_message),
    Endpoint("add_thread_member", "PUT", "/channels/{channel}/thread-members/{user}", add_member),
    Endpoint("remove_thread_member", "DELETE", "/channels/{channel}/thread-members/{user}", remove_member),
    Endpoint("modify_channel", "PATCH", "/channels/{channel}", modify),
    Endpoint("delete_channel", "DELETE", "/channels/{channel}", delete),
)
