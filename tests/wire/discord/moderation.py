"""What moderators and admins do, and what Discord itself does to a guild."""

from tests.wire.discord import events, saying
from tests.wire.discord.guilds import Guild, Role
from tests.wire.discord.messages import Message
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import NOTHING, May
from tests.wire.discord.places import Place, Room, Thread
from tests.wire.discord.world import World


class Moderation:
    """The part of the server that is everybody with more rights than a member."""

    world: World

    def archive(self, thread: Thread, *, locked: bool | None = None) -> None:
        """Close a thread; with `locked`, so that only moderators open it again."""
        saying.set_archived(self.world, thread, True, locked=locked)

    def unarchive(self, thread: Thread) -> None:
        """Open it again."""
        saying.set_archived(self.world, thread, False)

    def lock(self, thread: Thread, locked: bool = True) -> None:
        """Lock a thread that stays open, or take the lock off."""
        saying.set_archived(self.world, thread, thread.archived, locked=locked)

    def put_in(self, thread: Thread, person: Person, *, by: Person) -> None:
        """Somebody is brought into a thread."""
        saying.join(self.world, thread, person, by=by)

    def rename(self, thread: Thread, name: str) -> None:
        """Another name."""
        thread.name = name
        events.thread_updated(self.world, thread)

    def delete_thread(self, thread: Thread) -> None:
        """A thread is gone."""
        events.thread_deleted(self.world, thread)
        thread.deleted = True

    def delete_room(self, room: Room) -> None:
        """A room is gone, and what is in it. https://docs.discord.com/developers/resources/channel#deleteclose-channel"""
        events.room_event(self.world, room, "CHANNEL_DELETE")
        for thread in self.world.threads_of(room):
            thread.deleted = True
        room.deleted = True
        self.world.changes.changed()

    def clear(self, place: Place, *messages: Message) -> None:
        """Take away many messages at once."""
        for message in messages:
            message.deleted = True
        events.bulk_deleted(self.world, place, messages)

    def rule(self, room: Room, who: Person | Role, *, deny: May = NOTHING, allow: May = NOTHING) -> None:
        """What a person (the bot too) or a role may not do in a room, or may there alone: CHANNEL_UPDATE."""
        before = self._rooms_in_sight(room.home)
        room.set_rule(who, deny=deny, allow=allow)
        events.room_event(self.world, room, "CHANNEL_UPDATE")
        self._sync(room.home, before)

    def grant(self, guild: Guild, person: Person, role: Role) -> None:
        """Somebody (the bot too) gets a role: GUILD_MEMBER_UPDATE."""
        before = self._rooms_in_sight(guild)
        guild.add(person, role)
        events.member_changed(self.world, guild, person)
        self._sync(guild, before)

    def take(self, guild: Guild, person: Person, role: Role) -> None:
        """Somebody has a role no more."""
        guild.members[person.id].discard(role.id)
        events.member_changed(self.world, guild, person)

    def time_out(self, guild: Guild, person: Person, out: bool = True) -> None:
        """Somebody may only look on for a while, or may do again what they might."""
        (guild.timed_out.add if out else guild.timed_out.discard)(person.id)
        events.member_changed(self.world, guild, person)

    def _rooms_in_sight(self, guild: Guild) -> set[str]:
        rooms = [p for p in self.world.places.values() if isinstance(p, Room) and p.home is guild and not p.deleted]
        return {room.id for room in rooms if May.VIEW_CHANNEL in room.may(self.world.bot)}

    def _sync(self, guild: Guild, before: set[str]) -> None:
        """Tell the bot of the threads in the rooms that it can see now and could not before."""
        for id in self._rooms_in_sight(guild) - before:
            room = self.world.places[id]
            assert isinstance(room, Room)
            events.threads_synced(self.world, room)

    def remove_from(self, thread: Thread, person: Person) -> None:
        """Somebody is put out of a thread; the bot too."""
        thread.members.pop(person.id, None)
        events.removed(self.world, thread, person)

    def kick_bot(self, guild: Guild) -> None:
        """The bot is put out of a guild: GUILD_DELETE."""
        guild.remove(self.world.bot)
        events.guild_gone(self.world, guild, outage=False)

    def invite_bot(self, guild: Guild) -> None:
        """The bot comes into a guild: GUILD_CREATE."""
        guild.add(self.world.bot)
        events.guild_there(self.world, guild, joined=True)

    def outage(self, guild: Guild) -> None:
        """Discord has lost a guild for a while: GUILD_DELETE with `unavailable`."""
        events.guild_gone(self.world, guild, outage=True)
        guild.away = True

    def back(self, guild: Guild) -> None:
        """It is there again."""
        guild.away = False
        events.guild_there(self.world, guild, joined=False)
