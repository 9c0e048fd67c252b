"""What Slack delivers: eleven times, late, in two shapes, while the store is away, over a lost connection."""

import pytest

from bot.inbound import intake
from casestore import cases, messages, principals
from casestore.errors import StoreUnavailable
from casestore.scope import System
from casestore.states import Direction, Role
from tests.loop.scripted import Held, Waits, says
from tests.slack.office import Office


async def stored(office: Office) -> list[str]:
    """What people said, in the one case there is."""
    case = await office.only_case()
    said = await office.service.store.read(messages.of_case, System(), case.id)
    return [message.text for message in said if message.direction is Direction.IN]


async def test_one_mention_in_eleven_envelopes_and_two_shapes_is_one_message_and_one_run(office: Office) -> None:
    office.answers(says("Once."))
    said = await office.ann.mentions(office.ops, "help")
    for _ in range(5):
        said.deliveries += await office.ann.tell(said.message)  # fresh event ids, as mention and as message
    await office.slack.acked(*said.deliveries)
    assert len(said.deliveries) >= 11
    await office.shows(said.message, "Once.")
    assert await stored(office) == ["help"]
    assert len(office.model.sent) == 1


async def test_where_only_the_repetition_reaches_us_it_is_worked_once(office: Office) -> None:
    await office.slack.sockets.drop()
    said = await office.ann.mentions(office.ops, "help")
    office.answers(says("Once."))
    await office.slack.connected()
    await office.slack.advance(3)
    await office.shows(said.message, "Once.")
    assert await stored(office) == ["help"]


async def test_a_message_is_acknowledged_long_before_a_slow_model_has_answered(office: Office) -> None:
    held = Held()
    office.answers(Waits(held, says("At last.")))
    said = await office.ann.mentions(office.ops, "help")
    await office.slack.acked(*said.deliveries)
    await held.reached.wait()
    assert office.slack.posts(said) == []
    held.release.set()
    await office.shows(said.message, "At last.")


async def test_a_bug_at_receipt_is_no_acknowledgement_and_the_repetition_is_stored_once(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R29"""
    receive, failed = intake.receive, 0

    def failing(*args: object) -> object:
        nonlocal failed
        failed += 1
        if failed == 1:
            raise RuntimeError("a bug")
        return receive(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(intake, "receive", failing)
    office.answers(says("Once."))
    said = await office.ann.says(None, "help")
    await office.slack.until(lambda: failed == 1)
    assert not said.acked
    await office.slack.advance(3)
    await office.slack.acked(*said.deliveries)
    await office.shows(said.message, "Once.")
    assert await stored(office) == ["help"]


async def test_where_the_store_cannot_be_written_the_answer_comes_from_memory_and_is_stored_later(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R15"""
    office.answers(says("Hello."))
    asked = await office.asks("hi")
    await office.shows(asked, "Hello.")
    write = office.service.store.write

    async def full(*args: object, **kwargs: object) -> object:
        raise StoreUnavailable("The disk is full.")

    monkeypatch.setattr(office.service.store, "write", full)
    office.answers(says("From memory."))
    said = await office.ann.says(office.ops, "and now?", thread=asked)
    await office.shows(asked, "From memory.")
    assert said.acked
    await office.slack.again(said.deliveries[0])
    await office.slack.acked(*said.deliveries)

    monkeypatch.setattr(office.service.store, "write", write)
    await office.service.standby.idle()
    office.clock.ms += 60_000
    await office.service.standby.settle()
    assert await stored(office) == ["hi", "and now?"]
    assert [post for post in office.slack.posts(asked) if "full" in post.text] == []


@pytest.mark.parametrize("how", ["refresh", "drop"])
async def test_a_connection_that_is_renewed_or_lost_loses_nothing(office: Office, how: str) -> None:
    if how == "refresh":
        await office.slack.sockets.disconnect("refresh_requested")
    else:
        await office.slack.sockets.drop()
    office.answers(says("Still here."))
    asked = await office.asks()
    await office.slack.connected()
    await office.slack.advance(3)
    await office.shows(asked, "Still here.")


async def test_what_was_said_while_the_service_was_down_is_read_at_its_start_each_once(office: Office) -> None:
    """R29: in the threads that are bound."""
    office.answers(says("Hello."))
    asked = await office.asks("hi")
    await office.shows(asked, "Hello.")
    await office.close()
    for number in range(30):
        office.ann.writes(office.ops, f"line {number}", thread=asked)
    office.answers(says("I have read it all."))
    await office.open()
    await office.shows(asked, "I have read it all.")
    assert await stored(office) == ["hi", *(f"line {number}" for number in range(30))]
    await office.restart()
    assert len(await stored(office)) == 31


async def test_other_bots_our_own_words_and_previews_of_links_start_nothing(office: Office) -> None:
    await office.let_strangers_in()
    office.answers(says("https://example.org is down"))
    asked = await office.asks("is https://example.org up?")
    await office.shows(asked, "is down")
    other = office.slack.other_bot("jira")
    said = await other.says(office.ops, f"<@{office.slack.bot.id}> do it", thread=asked)
    previews = await office.ann.unfurls(asked, "https://example.org")
    await office.slack.acked(*said.deliveries, *previews)
    assert await stored(office) == ["is https://example.org up?"]
    assert len(office.model.sent) == 1


async def test_people_of_a_workspace_that_is_not_listed_do_not_exist_even_where_strangers_are_let_in(
    office: Office,
) -> None:
    """R20"""
    await office.let_strangers_in()
    guest = office.slack.member("guest", team="T0OTHER")
    office.ops.members.add(guest.id)
    said = await guest.mentions(office.ops, "help")
    await office.slack.acked(*said.deliveries, await guest.uses("open_case", said))
    assert await office.service.store.read(cases.listing, System()) == []
    assert office.slack.posts() == office.slack.whispers() == []

    office.answers(says("Hello stranger."))
    await office.shows(await office.asks("help", by=office.mallory), "Hello stranger.")
    case = await office.only_case()
    assert case.requester is not None
    who = await office.service.store.read(principals.get, case.requester)
    assert who.role is Role.REQUESTER


async def test_each_direct_message_begins_a_thread_of_its_own(office: Office) -> None:
    office.answers(says("First."), says("Second."))
    first = await office.ann.says(None, "one thing")
    await office.shows(first.message, "First.")
    second = await office.ann.says(None, "another thing")
    await office.shows(second.message, "Second.")
    titles = [case.title for case in await office.service.store.read(cases.listing, System())]
    assert sorted(titles) == ["another thing", "one thing"]


async def test_an_edit_and_a_deletion_reach_what_we_hold_and_start_nothing(office: Office) -> None:
    office.answers(says("Hello."))
    asked = await office.asks("hi, my password is hunter2")
    await office.shows(asked, "Hello.")
    second = await office.ann.says(office.ops, "and delete this", thread=asked)
    office.answers(says("Why?"))
    await office.shows(asked, "Why?")
    edits = await office.ann.edits(asked, f"<@{office.slack.bot.id}> hi")
    deletions = await office.ann.deletes(second)
    await office.slack.acked(*edits, *deletions)
    assert await stored(office) == ["hi", "(deleted by its author)"]
    assert len(office.model.sent) == 2


async def test_the_title_of_a_case_is_changed_and_taken_away_with_the_words_that_gave_it(office: Office) -> None:
    office.answers(says("Hello."))
    asked = await office.asks("my password is hunter2")
    await office.shows(asked, "Hello.")
    assert (await office.only_case()).title == "my password is hunter2"
    await office.slack.acked(*await office.ann.edits(asked, f"<@{office.slack.bot.id}> I cannot log in"))
    assert (await office.only_case()).title == "I cannot log in"
    await office.slack.acked(*await office.ann.deletes(asked))
    assert (await office.only_case()).title == "(what it was about was deleted)"


async def test_a_title_that_somebody_gave_stays_whatever_becomes_of_the_first_message(office: Office) -> None:
    office.answers(says("Hello."))
    asked = await office.asks("my password is hunter2")
    await office.shows(asked, "Hello.")
    case = await office.only_case()
    await office.service.store.write(cases.retitle, office.clock.now(), case.id, "Log in", actor="test")
    await office.slack.acked(*await office.ann.deletes(asked))
    assert (await office.only_case()).title == "Log in"


async def test_what_is_changed_before_it_is_read_is_read_as_it_is_then(office: Office) -> None:
    held = Held()
    office.answers(Waits(held, says("First.")), says("Second."))
    asked = await office.asks("one")
    await held.reached.wait()
    second = await office.ann.says(office.ops, "tow", thread=asked)
    await office.slack.acked(*second.deliveries, *await office.ann.edits(second, "two"))
    held.release.set()
    await office.shows(asked, "Second.")
    assert "two" in str(office.model.sent[-1])
    assert "tow" not in str(office.model.sent[-1])
