"""What saying something does, whoever says it, and what a thread does when it is spoken in."""

from collections.abc import Iterable, Sequence

from tests.wire.discord import events
from tests.wire.discord.components import texts
from tests.wire.discord.content import Files
from tests.wire.discord.mentions import ALL, pinged
from tests.wire.discord.messages import Attached, Flag, Message, Type
from tests.wire.discord.payload import ApiError, Json
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Direct, Place, Thread
from tests.wire.discord.refusals import (
    missing_permissions,
    no_messages_to_this_user,
    thread_is_archived,
    thread_is_locked,
)  # fmt: skip
from tests.wire.discord.world import World


def say(
    world: World, place: Place, author: Person, content: str, *, embeds: Sequence[Json] = (),
    components: Sequence[Json] = (), files: Sequence[Attached] = (), type: Type = Type.DEFAULT,
    flags: Flag | None = None, nonce: str | None = None, allowed: Json = ALL, replied: Message | None = None,
    to: Person | None = None, interaction: Json | None = None,
) -> Message:  # fmt: skip
    """Put it there and tell the bot. Who is named in a thread, and so notified, is in it from then on."""
    message = Message(
        place, world.clock.snowflake(), author, content, world.clock.iso(), Type.REPLY if replied else type,
        list(embeds), list(components), list(files), flags or Flag(0), nonce, to=to, interaction=interaction,
    )  # fmt: skip
    if replied is not None:
        message.replied = replied
        message.reference = reference(replied)
    message.pings = pinged([content, *texts(message.components)], allowed, author, place, world.people, replied)
    world.put(message)
    if isinstance(place, Thread) and not world.quiet(message):
        for person in message.pings.users:
            if May.VIEW_CHANNEL in place.parent.may(person):
                join(world, place, person, by=author, announced=False)
    events.said(world, message)
    return message


def reference(to: Message) -> Json:
    """https://docs.discord.com/developers/resources/message#message-reference-structure"""
    found: Json = {"type": 0, "message_id": to.id, "channel_id": to.place.id}
    if to.place.guild is not None:
        found["guild_id"] = to.place.guild.id
    return found


def attached(world: World, files: Files, described: Iterable[Json] = ()) -> list[Attached]:
    """The files of a request, with what its `attachments` say of them."""
    about = {int(item["id"]): item for item in described}
    return [
        Attached(
            world.clock.snowflake(), about.get(n, {}).get("filename") or name, content, mimetype,
            about.get(n, {}).get("description"),
        )
        for n, (name, content, mimetype) in sorted(files.items())
    ]  # fmt: skip


def may_say(world: World, place: Place, author: Person) -> None:
    """Whether somebody may say something here, or the refusal.

    topics/threads#permissions: in a thread SEND_MESSAGES_IN_THREADS counts. #locked-threads: "Users won't be able to
    create or update messages in locked threads" without MANAGE_THREADS. 50278, 50007: a direct message needs a guild in
    common and somebody who takes it.
    """
    may = place.may(author)
    if isinstance(place, Direct):
        if not world.mutual(place.person):
            raise ApiError(403, 50278, "Cannot send messages to this user due to having no mutual guilds")
        if not place.person.accepts_direct:
            raise no_messages_to_this_user()
    elif (May.SEND_MESSAGES_IN_THREADS if isinstance(place, Thread) else May.SEND_MESSAGES) not in may:
        raise missing_permissions()
    if isinstance(place, Thread) and place.locked and May.MANAGE_THREADS not in may:
        raise thread_is_archived() if place.archived else thread_is_locked()


def may_change(place: Place, author: Person) -> None:
    """Whether a message here can be changed: never in an archived thread (50083), in a locked one by moderators."""
    if isinstance(place, Thread):
        if place.archived:
            raise thread_is_archived()
        if place.locked and May.MANAGE_THREADS not in place.may(author):
            raise thread_is_locked()


def wake(world: World, place: Place) -> None:
    """topics/threads#active--archived-threads: "Sending a message will automatically unarchive the thread"."""
    if isinstance(place, Thread) and place.archived:
        set_archived(world, place, False)


def set_archived(world: World, thread: Thread, archived: bool, *, locked: bool | None = None) -> None:
    """Archive a thread or take it back. `archive_timestamp` "is changed when … archiving, or unarchiving"."""
    thread.locked = thread.locked if locked is None else locked
    if thread.archived is not archived:
        thread.archived, thread.archive_changed = archived, world.clock.now()
        thread.active_at = world.clock.now()
        if not archived:
            events.thread_opened(world, thread)
            return
    events.thread_updated(world, thread)


def join(world: World, thread: Thread, person: Person, *, by: Person, announced: bool = True) -> None:
    """Somebody is in a thread from now on.

    topics/threads#new-message-types: RECIPIENT_ADD is "also sent when a user is added to … a thread by someone else".
    """
    if person.id in thread.members:
        return
    thread.members[person.id] = world.clock.iso()
    events.added(world, thread, person)
    if announced and by is not person:
        note = Message(
            thread, world.clock.snowflake(), by, "", world.clock.iso(), Type.RECIPIENT_ADD
        )  # fmt: skip
        note.pings.users.append(person)
        events.said(world, world.put(note))


def start_thread(world: World, thread: Thread, by: Person, starter: Message | None = None) -> Thread:
    """A thread is there. topics/threads#new-message-types: what messages that makes."""
    world.places[thread.id] = thread
    thread.members[by.id] = world.clock.iso()
    thread.archive_changed = thread.active_at = world.clock.now()
    events.thread_created(world, thread)
    if starter is not None:
        starter.flags |= Flag.HAS_THREAD
        first = Message(
            thread, world.clock.snowflake(), starter.author, "", world.clock.iso(), Type.THREAD_STARTER_MESSAGE
        )  # fmt: skip
        first.reference, first.replied = reference(starter), starter
        world.put(first)
        events.changed(world, starter)
    elif not thread.private:
        note = Message(
            thread.parent, world.clock.snowflake(), by, thread.name, world.clock.iso(), Type.THREAD_CREATED
        )  # fmt: skip
        note.reference = {"type": 0, "channel_id": thread.id, "guild_id": thread.guild.id}
        events.said(world, world.put(note))
    return thread
