"""One person at work in Slack: what they say, press, fill in and run.

Each act is what Slack would do: the message stands in the room, and the app is told of it, if it is there. What an act
gives back says how the app was told (`Said.deliveries`, `Delivery`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from tests.wire.slack import events, files
from tests.wire.slack.deliveries import Deliveries, Delivery
from tests.wire.slack.interactions import Interactions
from tests.wire.slack.payload import Json
from tests.wire.slack.people import Person
from tests.wire.slack.rooms import Kind, Message, Room
from tests.wire.slack.views import View
from tests.wire.slack.workspace import Shared, Workspace


@dataclass(eq=False)
class Said:
    """A message of a person, and what the app was told of it."""

    message: Message
    deliveries: list[Delivery] = field(default_factory=list[Delivery])

    @property
    def ts(self) -> str:
        """Its name in its room."""
        return self.message.ts

    @property
    def acked(self) -> bool:
        """Whether the app has acknowledged everything it was told of it."""
        return bool(self.deliveries) and all(delivery.acked for delivery in self.deliveries)


Place = Message | Said | None


class Member:
    """Somebody with an account."""

    def __init__(self, workspace: Workspace, deliveries: Deliveries, acts: Interactions, person: Person) -> None:
        self._workspace = workspace
        self._deliveries = deliveries
        self._acts = acts
        self.person = person

    @property
    def id(self) -> str:
        """The account's id."""
        return self.person.id

    async def _tell(self, event: Json, room: Room | None) -> list[Delivery]:
        """Tell the app of an event, if it is where it happened."""
        workspace = self._workspace
        if room is not None and workspace.bot.id not in room.members:
            return []
        wrapped = events.callback(workspace, event, workspace.id("Ev"), room)
        return [await self._deliveries.send("events_api", wrapped)]

    async def says(
        self,
        room: Room | None,
        text: str,
        *,
        thread: Place = None,
        files: Sequence[Shared] = (),
        broadcast: bool = False,
    ) -> Said:
        """Say something; `room` None: to the app, directly. A mention in it makes two events, as in Slack."""
        said = self.writes(room, text, thread=thread, files=files)
        return Said(said, await self.tell(said))

    async def mentions(self, room: Room, text: str, *, thread: Place = None, files: Sequence[Shared] = ()) -> Said:
        """Say something to the app, by its name."""
        return await self.says(room, f"<@{self._workspace.bot.id}> {text}", thread=thread, files=files)

    def writes(
        self,
        room: Room | None,
        text: str,
        *,
        thread: Place = None,
        files: Sequence[Shared] = (),
        broadcast: bool = False,
    ) -> Message:
        """The message alone, of which the app is not told: it was down, or it is told by `tell`."""
        workspace = self._workspace
        where = workspace.direct(self.person) if room is None else room
        below = None if thread is None else (thread.message if isinstance(thread, Said) else thread)
        # reference/events/message: file_share for one with files.
        subtype = "file_share" if files else ""
        said = Message(
            where, workspace.clock.ts(), self.person, text, thread_ts=None if below is None else below.root,
            files=[self._shown(file, where) for file in files], subtype=subtype,
            nonce="" if self.person.bot_id else workspace.id("client-"),
        )  # fmt: skip
        return workspace.put(said)

    async def tell(self, said: Message, *, message: bool = True, mention: bool = True) -> list[Delivery]:
        """Tell the app of a message (again): each time with new event ids, as in node-slack-sdk issue 2141.

        https://docs.slack.dev/reference/events/app_mention: an app in the room with `message.*` hears both; a direct
        message is never an app_mention.
        """
        told: list[Delivery] = []
        named = f"<@{self._workspace.bot.id}>" in said.text and said.room.kind is not Kind.DIRECT
        if mention and named:
            told += await self._tell(events.mention(self._workspace, said), said.room)
        if message:
            told += await self._tell(events.message(self._workspace, said), said.room)
        return told

    def shares(self, name: str, content: bytes, mimetype: str) -> Shared:
        """A file of theirs, for `says(…, files=[…])`."""
        file = Shared(self._workspace.id("F"), name, mimetype, content, self.person)
        self._workspace.files[file.id] = file
        return file

    def _shown(self, file: Shared, room: Room) -> Json:
        return files.in_event(self._workspace, file, shared=room.shared)

    async def edits(self, what: Message | Said, text: str) -> list[Delivery]:
        """Change what they said."""
        message = what.message if isinstance(what, Said) else what
        before = message.as_json()
        message.text, message.edited_ts = text, self._workspace.clock.ts()
        return await self._tell(events.changed(self._workspace, message, before), message.room)

    async def unfurls(self, what: Message | Said, link: str) -> list[Delivery]:
        """Slack shows a preview of a link: a message_changed with the same text and without `edited`."""
        message = what.message if isinstance(what, Said) else what
        before = message.as_json()
        message.attachments = [{"from_url": link, "original_url": link, "fallback": link, "title": link, "id": 1}]
        return await self._tell(events.changed(self._workspace, message, before), message.room)

    async def deletes(self, what: Message | Said) -> list[Delivery]:
        """Take away a message; an admin may take away anybody's."""
        message = what.message if isinstance(what, Said) else what
        message.deleted = True
        self._workspace.changes.changed()
        return await self._tell(events.deleted(self._workspace, message), message.room)

    async def deletes_file(self, file: Shared, of: Said) -> list[Delivery]:
        """Take away a file alone: its message is changed, and has a tombstone in its place.

        https://docs.slack.dev/reference/objects/file-object, `mode`: `tombstone`.
        """
        before, file.deleted = of.message.as_json(), True
        gone = {"id": file.id, "mode": "tombstone"}
        of.message.files = [gone if shown["id"] == file.id else shown for shown in of.message.files]
        return await self._tell(events.changed(self._workspace, of.message, before), of.message.room)

    async def reacts(self, to: Message | Said, name: str = "eyes") -> list[Delivery]:
        """An emoji below a message."""
        message = to.message if isinstance(to, Said) else to
        return await self._tell(events.reaction(self._workspace, self.person, message, name), message.room)

    async def joins(self, room: Room) -> list[Delivery]:
        """Come into a room."""
        room.members.add(self.id)
        return await self._tell(
            events.joined_or_left(self._workspace, "member_joined_channel", room, self.person), room
        )

    async def leaves(self, room: Room) -> list[Delivery]:
        """Go out of a room."""
        room.members.discard(self.id)
        return await self._tell(events.joined_or_left(self._workspace, "member_left_channel", room, self.person), room)

    async def presses(self, on: Message | View, action: str, *, stale: bool = False, option: str = "") -> Delivery:
        """Press the button of this action_id, or with these words on it; `option` chooses in a menu.

        `stale`: as it stood before the last change, on a screen that still shows it, or on a message that is gone.
        """
        payload = self.pressing(on, action, stale=stale, option=option)
        return await self._deliveries.send("interactive", payload)

    def pressing(self, on: Message | View, action: str, *, stale: bool = False, option: str = "") -> Json:
        """What the app is told of such a press, without telling it."""
        shown = on.versions[-1] if stale and isinstance(on, Message) and on.versions else on.blocks
        assert stale or not (isinstance(on, Message) and on.deleted), "The message is gone; nobody sees a button of it."
        block, element = _find(shown, action)
        value: Json = {}
        if option:
            chosen = next(o for o in element["options"] if option in (o["value"], o["text"]["text"]))
            value = {"selected_option": chosen}
        return self._acts.press(self.person, on, block, element, value)

    async def submits(self, view: View, **values: str) -> Delivery:
        """Send a modal off, with these values by action_id (`-` and `.` written as `_`) or by block_id.

        It closes once the app answers without errors: `closes_if_accepted`.
        """
        assert not view.closed, "The modal is closed."
        state: Json = {}
        for block in view.blocks:
            if block["type"] != "input":
                continue
            element = block["element"]
            name = str(element.get("action_id", "input"))
            key = next(
                (k for k in values if k in (name, block["block_id"], _plain(name), _plain(block["block_id"]))), None
            )
            given = values.get(key) if key else element.get("initial_value")
            # reference/block-kit/blocks/input-block, `optional`: what is not optional cannot be sent off empty.
            assert given or block.get("optional"), f"{name} must be filled in; Slack does not send it off empty."
            most = int(element.get("max_length", 3000))
            assert given is None or len(given) <= most, f"{name} takes {most} characters; Slack lets nobody write more."
            state[block["block_id"]] = {name: _filled(element, given)}
        payload = self._acts.submission(self.person, view, state)
        delivery = await self._deliveries.send("interactive", payload)
        return delivery

    def sees_answer(self, view: View, delivery: Delivery) -> dict[str, str]:
        """What the modal does with the app's answer: the errors it shows, or it closes (or changes).

        https://docs.slack.dev/surfaces/modals#displaying_errors
        """
        assert delivery.acked, "The app has not answered."
        action = delivery.answer.get("response_action")
        view.errors = cast("dict[str, str]", delivery.answer.get("errors", {}) if action == "errors" else {})
        for block in view.errors:
            assert any(b["block_id"] == block and b["type"] == "input" for b in view.blocks), f"no input {block}"
        view.closed = action not in ("errors", "update", "push")
        return view.errors

    async def closes(self, view: View) -> Delivery | None:
        """Close a modal without sending it off. The app hears of it only if it asked to."""
        view.closed = True
        if not view.content.get("notify_on_close"):
            return None
        return await self._deliveries.send("interactive", self._acts.closing(self.person, view))

    async def runs(self, command: str, text: str = "", *, room: Room | None = None) -> Delivery:
        """Run a slash command, in a room or (None) in the conversation with the app."""
        where = self._workspace.direct(self.person) if room is None else room
        payload = self._acts.command(self.person, where, command, text)
        return await self._deliveries.send("slash_commands", payload)

    async def uses(self, callback_id: str, on: Message | Said | None = None) -> Delivery:
        """Use a shortcut, on a message or (None) from the search bar."""
        message = on.message if isinstance(on, Said) else on
        return await self._deliveries.send("interactive", self._acts.shortcut(self.person, callback_id, message))

    async def opens_home(self, tab: str = "home") -> list[Delivery]:
        """Look at the app's home, or (`messages`) at the conversation with it."""
        return await self._tell(events.home_opened(self._workspace, self.person, tab), None)

    @property
    def home(self) -> View | None:
        """What their App Home shows."""
        return self._workspace.homes.get(self.id)

    @property
    def modal(self) -> View | None:
        """The modal that is open before them."""
        open_now = [
            v for v in self._workspace.views.values() if v.person is self.person and v.content["type"] == "modal"
        ]
        return next((view for view in reversed(open_now) if not view.closed), None)


def _find(blocks: list[Json], action: str) -> tuple[Json, Json]:
    """The element that is meant, by its action_id or the words on it, and its block."""
    seen: list[str] = []
    for block in blocks:
        elements: list[Json] = [*block.get("elements", []), *([block["accessory"]] if "accessory" in block else [])]
        for element in elements if block["type"] in ("actions", "section") else []:
            label: object = element.get("text")
            words = str(cast("Json", label)["text"]) if isinstance(label, dict) else ""
            if action in (element.get("action_id"), words):
                return block, element
            seen.append(f"{element.get('action_id')} ({words})")
    raise AssertionError(f"There is no {action} to press; there is: {seen}")


def _filled(element: Json, given: str | None) -> Json:
    """What a filled in element says. https://docs.slack.dev/reference/block-kit/block-elements"""
    kind = str(element["type"])
    if kind in ("static_select", "radio_buttons"):
        options = [option for option in element["options"] if option["value"] == given]
        return {"type": kind, "selected_option": options[0] if options else None}
    if kind == "users_select":
        return {"type": kind, "selected_user": given}
    return {"type": kind, "value": given}


def _plain(name: str) -> str:
    return name.replace("-", "_").replace(".", "_").replace(":", "_")
