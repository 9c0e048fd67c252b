"""Another bot that begins a new thread each time: it is stopped after some, operators are told, and let it go on."""

from __future__ import annotations

import pytest

from bot.clock import SystemClock
from bot.settings import Limits
from casestore import cases, outbox, principals, trail
from casestore.errors import StoreUnavailable
from casestore.scope import System
from casestore.states import Role
from casestore.tx import Tx
from tests.cli.command_line import Cli
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.reading import read
from tests.slack.test_other_bots import bound
from tests.wire.slack.member import Member, Said
from tests.wire.slack.rooms import Room

MOST = 3
MINUTE = 60_000
STOPPED = f"has opened {MOST} cases within 1h, the last is C-100{MOST}"


@pytest.fixture
async def room(office: Office) -> Room:
    """A bot may open three cases in an hour; who approves is told in this room."""
    room = office.slack.room("approvals", office.kim, office.lee)
    slack = office.settings.slack.model_copy(update={"approvals_room": room.id})
    limits = Limits(programs_open=MOST)
    office.settings = office.settings.model_copy(update={"slack": slack, "limits": limits})
    await office.restart()
    await office.slack.connected()
    return room


@pytest.fixture
async def bot(office: Office, room: Room) -> Member:
    """One that an operator has bound."""
    bot = office.slack.other_bot("jira")
    await bound(office, bot)
    return bot


async def begins(office: Office, bot: Member, words: str) -> Said:
    """The bot mentions us in a new thread."""
    said = await bot.says(office.ops, f"<@{office.slack.bot.id}> {words}")
    await office.slack.acked(*said.deliveries)
    return said


async def goes_round(office: Office, bot: Member, times: int) -> None:
    """It begins a thread, is answered, and begins the next."""
    for number in range(times):
        office.answers(says(f"answer {number}"))
        await office.shows((await begins(office, bot, f"beep {number}")).message, f"answer {number}")


async def opened(office: Office) -> int:
    """How many cases there are."""
    return len(await office.service.store.read(cases.listing, System()))


async def told(office: Office, room: Room) -> list[str]:
    """What stands in the room of those who approve."""
    return [read(post) for post in office.slack.posts(room)]


async def test_after_some_it_opens_no_more_and_operators_are_told_once(office: Office, room: Room, bot: Member) -> None:
    await goes_round(office, bot, MOST)
    for number in range(3):
        await begins(office, bot, f"and again {number}")
    await bot.says(None, "and directly")
    await office.until(lambda: office.slack.posts(room), "a notice")
    await office.restart()
    await office.slack.connected()
    await begins(office, bot, "after a restart")
    assert await opened(office) == MOST
    assert len(office.model.sent) == MOST
    (notice,) = await told(office, room)
    assert STOPPED in notice
    assert "/case hear C-1003" in notice
    case = await office.service.store.read(cases.get, System(), 1003)
    (entry,) = [
        e for e in await office.service.store.read(trail.read, System(), case.id) if e.kind == "program.stopped"
    ]
    assert str(bot.person.bot_id) in entry.meta


async def test_people_and_other_bots_go_on_meanwhile_and_so_do_the_threads_it_has(
    office: Office, room: Room, bot: Member
) -> None:
    await goes_round(office, bot, MOST - 1)
    office.answers(says("The last."))
    thread = (await begins(office, bot, "the last")).message
    await office.shows(thread, "The last.")
    await begins(office, bot, "one too many")
    office.answers(says("Go on."))
    await bot.says(office.ops, "more about it", thread=thread)
    await office.shows(thread, "Go on.")
    office.answers(says("Hello ann."))
    await office.shows(await office.asks(), "Hello ann.")
    other = office.slack.other_bot("grafana")
    await bound(office, other)
    await goes_round(office, other, 1)


async def test_an_operator_lets_it_go_on_and_nobody_else_does(office: Office, room: Room, bot: Member) -> None:
    await goes_round(office, bot, MOST)
    await begins(office, bot, "one too many")
    await office.slack.acked(await office.ann.runs("/case", "hear C-1003", room=office.ops))
    await office.whispered(office.ann, "No case C-1003")
    await begins(office, bot, "still too many")
    assert await opened(office) == MOST
    await office.slack.acked(await office.kim.runs("/case", "hear C-1003", room=office.ops))
    await office.whispered(office.kim, "I open cases for jira (slack/")
    office.clock.ms += MINUTE
    await goes_round(office, bot, MOST)
    await begins(office, bot, "one too many again")
    await office.until(lambda: len(office.slack.posts(room)) == 2, "a second notice")
    assert await opened(office) == 2 * MOST
    await office.slack.acked(await office.kim.runs("/case", "hear C-1003", room=office.ops))
    await office.whispered(office.kim, "No program was stopped at C-1003, or it is heard again already.")


async def test_an_operator_lets_it_go_on_from_the_command_line_and_the_story_says_so(
    office: Office, room: Room, bot: Member, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await goes_round(office, bot, MOST)
    await begins(office, bot, "one too many")
    monkeypatch.setenv("CASEBOUND_SERVICE__DB", str(office.db))
    cli = Cli(capsys)
    assert "only an operator may let a bot go on" in (await cli("case", "hear", "C-1003", "--as", "ann")).line
    assert "No program was stopped at C-1001" in (await cli("case", "hear", "C-1001", "--as", "kim")).line
    heard = await cli.done("case", "hear", "C-1003", "--as", "kim")
    account = f"slack/{office.slack.team}/{bot.person.bot_id}"
    assert heard == f"Cases are opened for jira ({account}) again.\n"
    office.clock.ms = SystemClock().now() + MINUTE
    await goes_round(office, bot, 1)
    shown = await cli.done("case", "show", "C-1003", "--all", "--as", "kim")
    assert f"the bot {account} opens no more cases: it had opened 3" in shown
    assert f"kim let the bot {account} open cases again" in shown


async def test_once_the_time_has_passed_it_may_again(office: Office, room: Room, bot: Member) -> None:
    await goes_round(office, bot, MOST)
    office.clock.ms += 59 * MINUTE
    await begins(office, bot, "one too many")
    office.clock.ms += 59 * MINUTE
    await begins(office, bot, "and again")
    assert await opened(office) == MOST
    office.clock.ms += MINUTE
    await goes_round(office, bot, 1)
    assert len(await told(office, room)) == 1


async def test_few_in_a_long_time_are_never_too_many(office: Office, room: Room, bot: Member) -> None:
    for _ in range(3 * MOST):
        await goes_round(office, bot, 1)
        office.clock.ms += 21 * MINUTE
    assert await told(office, room) == []


async def test_without_a_room_it_is_said_in_the_thread_of_the_last_case(office: Office) -> None:
    office.settings = office.settings.model_copy(update={"limits": Limits(programs_open=1)})
    await office.restart()
    await office.slack.connected()
    bot = office.slack.other_bot("jira")
    await bound(office, bot)
    office.answers(says("Hello."))
    thread = (await begins(office, bot, "beep")).message
    await office.shows(thread, "Hello.")
    await begins(office, bot, "one too many")
    await office.shows(thread, "has opened 1 cases within 1h, the last is C-1001")


async def test_a_case_that_a_person_has_opened_on_its_message_is_not_counted_as_its_own(
    office: Office, room: Room, bot: Member
) -> None:
    access = office.settings.access.model_copy(update={"quoted": "requester"})
    office.settings = office.settings.model_copy(update={"access": access})
    await office.restart()
    await office.slack.connected()
    for number in range(MOST):
        said = await bot.says(office.ops, f"build {number} failed")
        office.answers(says(f"I see {number}."))
        await office.slack.acked(await office.ann.uses("open_case", said))
        await office.shows(said.message, f"I see {number}.")
    await goes_round(office, bot, 1)
    assert await told(office, room) == []


async def test_our_own_words_that_an_integration_has_carried_elsewhere_begin_nothing(
    office: Office, room: Room, bot: Member
) -> None:
    ours = "The shop has been restarted, and answers again."
    office.answers(says(ours))
    await office.shows(await office.asks(), ours)
    bridge = await bot.says(None, f"*casebound* in #ops:\n{ours}")
    await office.slack.acked(*bridge.deliveries)
    await begins(office, bot, f"ann said that you said: {ours}")
    assert await opened(office) == 1
    await goes_round(office, bot, 1)
    assert await opened(office) == 2


def _nothing_due(tx: Tx) -> bool:
    return not sum(outbox.counts(tx).values())


async def test_while_nothing_can_be_stored_no_bot_is_answered_from_memory_and_what_it_said_is_judged_later(
    office: Office, bot: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R15: nothing is counted there, and two bots would go round."""
    office.answers(says("Hello."))
    thread = await office.asks("hi")
    await office.shows(thread, "Hello.")
    await office.until_so(lambda: office.service.store.read(_nothing_due))
    write = office.service.store.write

    async def full(*args: object, **kwargs: object) -> object:
        raise StoreUnavailable("The disk is full.")

    monkeypatch.setattr(office.service.store, "write", full)
    office.answers(says("From memory."))
    said = await bot.mentions(office.ops, "beep", thread=thread)
    await office.slack.acked(*said.deliveries)
    await office.service.standby.idle()
    theirs = await office.asks("me", by=office.ann)
    await office.shows(theirs, "From memory.")
    await office.service.standby.idle()
    assert office.slack.posts(thread) == [await office.shows(thread, "Hello.")]
    monkeypatch.setattr(office.service.store, "write", write)
    office.answers(says("Beep to you too."))
    office.clock.ms += MINUTE
    await office.service.standby.settle()
    await office.shows(thread, "Beep to you too.")


@pytest.mark.parametrize("role", [Role.REQUESTER, Role.OPERATOR])
async def test_a_bot_gets_past_it_by_no_command_whatever_it_is_bound_as(office: Office, room: Room, role: Role) -> None:
    bot = office.slack.other_bot("jira")
    await bound(office, bot, role)
    await goes_round(office, bot, MOST)
    await begins(office, bot, "one too many")
    for command in ("hear C-1003", "open one more"):
        await begins(office, bot, f"/case {command}")
    await begins(office, bot, "still too many")
    assert await opened(office) == MOST


async def test_a_requester_does_not_let_a_bot_go_on_that_is_bound_to_them(office: Office, room: Room) -> None:
    bot = office.slack.other_bot("anns script")

    def hers(tx: Tx) -> None:
        ann = principals.by_name(tx, "ann")
        principals.bind(
            tx, 1, ann.id, channel="slack", space=office.slack.team, account_id=bot.person.bot_id, bound_by=None
        )  # fmt: skip

    await office.service.store.write(hers)
    for number in range(2):  # which are a person's, and do not count
        office.answers(says(f"Hello {number}."))
        await office.shows(await office.asks(), f"Hello {number}.")
    await goes_round(office, bot, MOST)
    await begins(office, bot, "one too many")
    await office.slack.acked(await office.ann.runs("/case", "hear C-1005", room=office.ops))
    await office.whispered(office.ann, "Only an operator lets a bot go on that was stopped.")
    await begins(office, bot, "still too many")
    assert await opened(office) == 2 + MOST
    office.answers(says("Hello ann."))
    await office.shows(await office.asks(), "Hello ann.")
