"""Commands in Slack: by a slash in a room, and as a message where Slack takes no slash command, in a thread."""

from __future__ import annotations

import pytest

from bot.commands import obey
from casestore import bindings, cases, leases, messages
from casestore.scope import System
from casestore.states import Direction, LeaseKind
from tests.loop.scripted import says
from tests.slack.office import Office, typed
from tests.slack.reading import read
from tests.wire.slack.active import active
from tests.wire.slack.rooms import Message


async def heard(office: Office) -> list[str]:
    """What people have said, in the one case there is."""
    case = await office.only_case()
    said = await office.service.store.read(messages.of_case, System(), case.id)
    return [message.text for message in said if message.direction is Direction.IN]


@pytest.fixture
async def asked(office: Office) -> Message:
    """A thread with a case in it."""
    office.answers(says("Hello."))
    asked = await office.asks("the shop is down")
    await office.shows(asked, "Hello.")
    return asked


async def test_a_slash_command_in_a_room_is_answered_to_its_author_alone(office: Office, asked: Message) -> None:
    ran = await office.ann.runs("/case", "list", room=office.ops)
    told = await office.whispered(office.ann, "C-1001")
    assert "the shop is down" in told.text
    await office.slack.acked(ran)
    await office.kim.runs("/gate", "list", room=office.ops)
    await office.whispered(office.kim, "Nothing waits for a decision.")
    await office.mallory.runs("/case", "list", room=office.ops)
    await office.whispered(office.mallory, "I do not know you")
    assert len(office.slack.posts(asked)) == 1
    assert await heard(office) == ["the shop is down"]


@pytest.mark.parametrize("direct", [False, True])
async def test_a_case_that_is_opened_by_a_command_begins_a_thread(office: Office, direct: bool) -> None:
    office.answers(says("On it."), says("Still on it."))
    room = office.slack.direct(office.ann) if direct else office.ops
    await office.ann.runs("/case", typed("open my laptop <burns> & smokes"), room=None if direct else room)
    await office.whispered(office.ann, "C-1001 is open")
    root = await office.until(lambda: next(iter(office.slack.posts(room)), None), "the first message of a thread")
    assert read(root).startswith("C-1001: my laptop ")
    assert read(root).endswith(" (opened by ann)")
    assert active(root) == []
    assert root.thread_ts is None
    await office.shows(root, "On it.")
    await office.ann.says(None if direct else office.ops, "and now it is out", thread=root)
    await office.shows(root, "Still on it.")
    case = await office.only_case()
    (bound,) = await office.service.store.read(bindings.of_case, case.id)
    assert bound.address == f"slack:{office.slack.team}/{room.id}/{root.ts}"


async def test_in_a_thread_a_command_is_a_message_that_mentions_us_and_no_message_of_the_case(
    office: Office, asked: Message
) -> None:
    said = await office.kim.mentions(office.ops, "/case take", thread=asked)
    await office.whispered(office.kim, "C-1001 is yours")
    await office.slack.acked(*said.deliveries)
    case = await office.only_case()
    assert (await office.service.store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN
    assert await heard(office) == ["the shop is down"]
    await office.kim.mentions(office.ops, "/case release", thread=asked)
    await office.whispered(office.kim, "C-1001 is the assistant's again.")
    assert len(office.model.sent) == 1


async def test_a_command_that_comes_eleven_times_is_done_once(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """R29"""
    done, really = list[str](), obey.obey

    def counted(*args: object) -> object:
        done.append(str(args[2]))
        return really(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(obey, "obey", counted)
    office.answers(says("On it."))
    said = await office.ann.mentions(office.ops, "/case open the shop is down")
    for _ in range(5):
        said.deliveries += await office.ann.tell(said.message)
    await office.slack.acked(*said.deliveries)
    assert len(said.deliveries) >= 11
    await office.shows(said.message, "On it.")
    assert len(done) == 1
    assert len(await office.service.store.read(cases.listing, System())) == 1
    assert len([one for one in office.slack.whispers(office.ann) if "is open" in one.text]) == 1


async def test_one_that_fails_is_not_acknowledged_and_is_done_when_it_comes_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R29"""
    really, failed = obey.obey, 0

    def failing(*args: object) -> object:
        nonlocal failed
        failed += 1
        if failed == 1:
            raise RuntimeError("a bug")
        return really(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(obey, "obey", failing)
    office.answers(says("On it."))
    said = await office.ann.says(None, "/case open the shop is down")
    await office.slack.until(lambda: failed == 1)
    assert not said.acked
    await office.slack.advance(3)
    await office.slack.acked(*said.deliveries)
    await office.whispered(office.ann, "is open")
    assert len(await office.service.store.read(cases.listing, System())) == 1


async def test_what_comes_again_after_a_restart_finds_what_was_done(office: Office) -> None:
    office.answers(says("On it."))
    said = await office.ann.mentions(office.ops, "/case open the shop is down")
    await office.shows(said.message, "On it.")
    await office.restart()
    await office.slack.connected()
    said.deliveries += await office.ann.tell(said.message)
    await office.slack.acked(*said.deliveries)
    await office.whispered(office.ann, "This thread is C-1001's")
    assert len(await office.service.store.read(cases.listing, System())) == 1


async def test_a_case_is_bound_to_a_second_thread_and_heard_there(office: Office, asked: Message) -> None:
    office.answers(says("I hear you in both."))
    second = (await office.kim.mentions(office.ops, "/case bind C-1001")).message
    await office.whispered(office.kim, "C-1001 is bound to this thread too.")
    await office.ann.says(office.ops, "and here?", thread=second)
    await office.shows(second, "I hear you in both.")
    assert await heard(office) == ["the shop is down", "and here?"]


@pytest.mark.parametrize(
    "text", ["what does /case take do?", "/casein is a protein", "> /case take", "`/case take`", "case take", "/shrug"]
)
async def test_ordinary_words_are_no_command(office: Office, text: str) -> None:
    office.answers(says("I see."))
    asked = await office.asks(text)
    await office.shows(asked, "I see.")
    assert office.slack.whispers() == []
    assert await heard(office) == [text]


async def test_a_command_that_is_not_addressed_to_us_is_what_somebody_says(office: Office, asked: Message) -> None:
    office.answers(says("I see."))
    await office.ann.says(office.ops, "/case resolve", thread=asked)
    await office.shows(asked, "I see.")
    assert await heard(office) == ["the shop is down", "/case resolve"]


async def test_people_of_an_unlisted_workspace_command_nothing(office: Office, asked: Message) -> None:
    """R20. Slack offers our slash commands to nobody else's people; a message is the way that is left to them."""
    await office.let_strangers_in()
    guest = office.slack.member("guest", team="T0OTHER")
    office.ops.members.add(guest.id)
    said = await guest.mentions(office.ops, "/case open something")
    await office.slack.acked(*said.deliveries)
    assert office.slack.whispers(guest) == []
    assert len(await office.service.store.read(cases.listing, System())) == 1
