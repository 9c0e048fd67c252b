"""One person at work in Discord: what they say, press, fill in and run, and what they see.

Each act is what Discord would do: the message stands in its place, and the bot is told of it, if it may see it.
"""

from collections.abc import Sequence

from tests.wire.discord import events, saying
from tests.wire.discord.components import BUTTON, walk
from tests.wire.discord.guilds import Guild
from tests.wire.discord.interactions import Asked, Interaction, Interactions
from tests.wire.discord.mentions import ALL
from tests.wire.discord.messages import Attached, Message
from tests.wire.discord.modals import Modal
from tests.wire.discord.payload import Json, length
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Kind, Place, Room, Thread
from tests.wire.discord.running import chosen, resolved_message
from tests.wire.discord.world import World

MOST_TYPED = 2000


class Member:
    """Somebody with an account."""

    def __init__(self, world: World, acts: Interactions, person: Person) -> None:
        self._world = world
        self._acts = acts
        self.person = person

    @property
    def id(self) -> str:
        """The account's id."""
        return self.person.id

    # --- saying -------------------------------------------------------------------------------------------------

    def says(
        self, where: Place | None, text: str, *, to: Message | None = None, files: Sequence[Attached] = (),
        told: bool = True,
    ) -> Message:  # fmt: skip
        """Say something; `where` None: to the bot, directly. `to`: as a reply. `told` False: the bot hears nothing."""
        place = self._world.direct(self.person) if where is None else where
        assert length(text) <= MOST_TYPED, f"Discord lets nobody write more than {MOST_TYPED} characters."
        assert text or files, "Discord sends no empty message."
        saying.may_say(self._world, place, self.person)
        saying.wake(self._world, place)
        gateway = self._world.gateway
        self._world.gateway = gateway if told else None
        try:
            return saying.say(
                self._world, place, self.person, text, files=files, allowed=ALL, replied=to,
                nonce=self._world.clock.snowflake(),
            )  # fmt: skip
        finally:
            self._world.gateway = gateway

    def mentions(self, where: Place, text: str, *, files: Sequence[Attached] = ()) -> Message:
        """Say something to the bot, by its name."""
        return self.says(where, f"{self._world.bot.mention} {text}", files=files)

    def file(self, name: str, content: bytes, mimetype: str = "text/plain") -> Attached:
        """A file of theirs, for `says(…, files=[…])`."""
        return Attached(self._world.clock.snowflake(), name, content, mimetype)

    def forwards(self, said: Message, where: Place) -> Message:
        """Pass a message on: the new one has no text of its own. …/resources/message#message-reference-types"""
        saying.may_say(self._world, where, self.person)
        made = Message(where, self._world.clock.snowflake(), self.person, "", self._world.clock.iso())
        made.forwarded, made.reference = said, {**saying.reference(said), "type": 1}
        events.said(self._world, self._world.put(made))
        return made

    def sends_sticker(self, where: Place, name: str) -> Message:
        """A sticker: a message with no text."""
        saying.may_say(self._world, where, self.person)
        made = Message(where, self._world.clock.snowflake(), self.person, "", self._world.clock.iso())
        made.stickers = [name]
        events.said(self._world, self._world.put(made))
        return made

    def unfurls(self, said: Message, link: str) -> None:
        """Discord shows a preview of a link, a moment later: a MESSAGE_UPDATE with the same text and without a time of
        editing. …/events/gateway-events#message-update
        """
        said.embeds = [{"type": "link", "url": link, "title": link}]
        events.changed(self._world, said)

    def edits(self, said: Message, text: str) -> None:
        """Change what they said."""
        assert said.author is self.person, "Only its author edits a message."
        saying.may_change(said.place, self.person)
        said.content, said.edited_at = text, self._world.clock.iso()
        events.changed(self._world, said)

    def takes_out(self, file: Attached, said: Message) -> None:
        """Take one file out of what they said, which is an edit of it."""
        assert said.author is self.person, "Only its author edits a message."
        said.attachments, said.edited_at = [one for one in said.attachments if one is not file], self._world.clock.iso()
        events.changed(self._world, said)

    def deletes(self, said: Message) -> None:
        """Take away a message; a moderator may take away anybody's."""
        assert said.author is self.person or May.MANAGE_MESSAGES in said.place.may(self.person), "It is not theirs."
        said.deleted = True
        events.deleted(self._world, said)

    def dismisses(self, said: Message) -> None:
        """Take an ephemeral message from their screen."""
        assert said.to is self.person, "There is nothing to dismiss."
        said.deleted = True
        self._world.changes.changed()

    # --- threads ------------------------------------------------------------------------------------------------

    def starts_thread(self, room: Room, name: str, *, private: bool = False, on: Message | None = None) -> Thread:
        """Begin a thread, on a message or on its own."""
        kind = Kind.PRIVATE_THREAD if private else Kind.PUBLIC_THREAD
        id = on.id if on is not None else self._world.clock.snowflake()
        thread = Thread(id, room, name, kind, self.person, self._world.clock.now(), 1440)
        return saying.start_thread(self._world, thread, self.person, on)

    def adds(self, thread: Thread, person: Person) -> None:
        """Bring somebody into a thread."""
        saying.join(self._world, thread, person, by=self.person)

    # --- commands, buttons, forms -------------------------------------------------------------------------------

    def runs(self, command: str, *, where: Place | None = None, **options: object) -> Interaction:
        """Run a slash command: `runs("case open", where=room, text="…")`; `where` None: in the direct conversation."""
        place = self._world.direct(self.person) if where is None else where
        self._may_use(place)
        data = chosen(self._world, place, command.split(), options)
        return self._tell(self._acts.new(Asked.COMMAND, self.person, place, data))

    def uses(self, command: str, on: Message) -> Interaction:
        """Choose an entry of a message's menu."""
        self._may_use(on.place)
        data = resolved_message(self._world, on.place, command, on)
        return self._tell(self._acts.new(Asked.COMMAND, self.person, on.place, data))

    def presses(self, said: Message, button: str, *, stale: bool = False) -> Interaction:
        """Press the button with these words on it, or with this custom_id.

        `stale`: as the message stood before its last change; the press and the change have crossed, and the bot is
        told of the message as it was. A button that is gone when the press arrives is refused to the person by
        Discord itself, and the bot hears nothing.
        """
        assert said in self._world.sees(self.person, said.place) or stale, "They do not see this message."
        shown = said.versions[-1] if stale and said.versions else said.components
        found = _button(shown, button)
        data: Json = {"custom_id": found["custom_id"], "component_type": BUTTON, "id": found.get("id", 2)}
        return self._tell(self._acts.new(Asked.COMPONENT, self.person, said.place, data, message=said, shown=shown))

    @property
    def modal(self) -> Modal | None:
        """The form that is open before them."""
        asked = [made.modal for made in self._acts.all if made.person is self.person and made.modal is not None]
        return next((modal for modal in reversed(asked) if modal.open), None)

    def submits(self, modal: Modal, **values: str) -> Interaction:
        """Send a form off, with these values by custom_id (what is no letter or digit is written `_`)."""
        assert modal.open, "The form is closed."
        rows: list[Json] = []
        for top in modal.content["components"]:
            filled = [_filled(item, values) for item in walk([top]) if "custom_id" in item]
            if "component" in top:
                rows.append({"type": top["type"], "id": 1, "component": filled[0]})
            elif filled:
                rows.append({"type": top["type"], "id": 1, "components": filled})
        modal.open = False
        asked_by = modal.asked_by
        data: Json = {"custom_id": modal.content["custom_id"], "components": rows}
        made = self._acts.new(
            Asked.MODAL, self.person, asked_by.place, data, message=asked_by.message, opened_by=asked_by
        )  # fmt: skip
        return self._tell(made)

    def closes(self, modal: Modal) -> None:
        """Close a form without sending it off. The bot does not hear of it."""
        modal.open = False

    def again(self, made: Interaction) -> None:
        """The same interaction reaches the bot a second time: …/reference#consistency, "up to N times per client"."""
        self._tell(made)

    def _tell(self, made: Interaction) -> Interaction:
        events.interaction(self._world, made.payload)
        return made

    def _may_use(self, place: Place) -> None:
        """topics/threads: users cannot "use application commands" in archived threads."""
        assert May.USE_APPLICATION_COMMANDS in place.may(self.person), "They may not use commands here."
        assert not (isinstance(place, Thread) and place.archived), "Nobody uses commands in an archived thread."

    # --- seeing -------------------------------------------------------------------------------------------------

    def sees(self, where: Place | None = None) -> list[Message]:
        """What stands before them in a place, answers for them alone included; oldest first."""
        return self._world.sees(self.person, self._world.direct(self.person) if where is None else where)

    def leaves(self, guild: Guild) -> None:
        """Go out of a guild. The bot hears of it only with GUILD_MEMBERS, which it does not ask for."""
        guild.remove(self.person)


def _button(components: list[Json], which: str) -> Json:
    found = [item for item in walk(components) if item["type"] == BUTTON and "custom_id" in item]
    for item in found:
        if which in (item["custom_id"], item.get("label")):
            assert not item.get("disabled"), f"The button {which} cannot be pressed."
            return item
    there = [(item["custom_id"], item.get("label")) for item in found]
    raise AssertionError(f"There is no button {which}; there is: {there}")


def _filled(item: Json, values: dict[str, str]) -> Json:
    """What a filled in text input says. components/reference#text-input: what is required is not sent off empty."""
    name = str(item["custom_id"])
    key = next((k for k in values if k in (name, "".join(c if c.isalnum() else "_" for c in name))), None)
    given = values[key] if key is not None else str(item.get("value") or "")
    most, least = int(item.get("max_length") or 4000), int(item.get("min_length") or 0)
    assert given or item.get("required", True) is False, f"{name} must be filled in."
    assert not given or least <= length(given) <= most, f"{name} takes from {least} to {most} characters."
    return {"type": item["type"], "custom_id": name, "value": given, "id": 1}
