"""429 and Retry-After, of each method that we call: nothing is lost, nothing is early, and nobody else waits (R27)."""

import asyncio

import pytest

from casestore import bindings, cases, outbox
from casestore.cases import Opening
from casestore.models import CaseId
from casestore.states import Origin, OutboxKind
from casestore.tx import Tx
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read
from tests.wire.slack.rooms import Message

RESTART = ("svc.restart", {"service": "shop"})


@pytest.fixture
async def timed(office: Office) -> Office:
    """The service, whose seconds the test counts."""
    await office.keeps_time()
    return office


async def due(office: Office, *threads: Message, lines: int = 1) -> None:
    """So many lines are due in each of these threads."""

    def put_all(tx: Tx) -> None:
        now = office.clock.now()
        for thread in threads:
            address = f"slack:{office.slack.team}/{thread.room.id}/{thread.ts}"
            case = cases.open_case(tx, now, Opening("local", "t", Origin.SLACK), actor="test")
            bindings.bind(tx, now, case, address, actor="test")
            for number in range(lines):
                outbox.put(tx, now, CaseId(case.id), address, OutboxKind.MESSAGE, body=f"line {number}")

    await office.service.store.write(put_all)
    office.service.delivery.wake()


def told_to_wait(office: Office, method: str) -> int:
    """How many calls came while Slack wanted none."""
    return [call.status for call in office.slack.calls(method)].count(429)


async def test_a_room_that_may_not_be_posted_to_is_left_alone_by_all_its_threads_and_other_rooms_go_on(
    timed: Office,
) -> None:
    office, elsewhere = timed, timed.slack.room("elsewhere", timed.ann)
    busy = [office.ann.writes(office.ops, f"thread {number}") for number in range(3)]
    other = office.ann.writes(elsewhere, "thread")
    office.slack.limit("chat.postMessage", 30, room=office.ops)
    await due(office, *busy, other, lines=2)
    await office.until(lambda: office.slack.posts(other) or None, "a line in the other room")
    await office.until(lambda: told_to_wait(office, "chat.postMessage") or None, "a 429")
    for _ in range(45):
        while await office.service.delivery.deliver_due():
            continue
        await office.slack.advance(1)
        office.clock.ms += 1_000
    assert told_to_wait(office, "chat.postMessage") == 1, "only the first was told to wait, no other was early"
    for thread in (*busy, other):
        assert [read(post) for post in office.slack.posts(thread)] == ["line 0", "line 1"]


async def test_an_edit_that_has_to_wait_keeps_the_other_edits_waiting_and_no_message(timed: Office) -> None:
    office = timed
    office.answers(calls(RESTART))
    first = await office.asks()
    card = await office.card(first)
    office.answers(calls(("svc.restart", {"service": "blog"})))
    second = await office.asks("again")
    other = await office.in_time(lambda: next(iter(office.slack.posts(second)), None), "the second card")
    office.answers(says("The shop is up."), says("The blog is up."), says("Hello."))
    office.slack.limit("chat.update", 30)
    for pressed in (card, other):
        await office.kim.presses(pressed, "gate_approve")
        await office.until(lambda: told_to_wait(office, "chat.update") or None, "a 429")
    await office.until_so(lambda: settled(office, 4))
    third = await office.asks("hello")
    await office.until_so(lambda: settled(office, 5))
    await office.in_time(lambda: office.slack.posts(third) or None, "an answer elsewhere", most_s=25)
    assert told_to_wait(office, "chat.update") == 1
    await office.slack.advance(30)
    await office.in_time(lambda: buttons(card) == buttons(other) == [] or None, "two cards without buttons")
    assert told_to_wait(office, "chat.update") == 1, "no edit was early"


async def settled(office: Office, requests: int) -> bool:
    return len(office.model.sent) >= requests and office.service.engine.working == 0


async def test_a_modal_that_may_not_be_opened_is_said_to_whoever_pressed_with_the_time_and_asked_for_then(
    timed: Office,
) -> None:
    office = timed
    office.answers(calls(RESTART))
    card = await office.card(await office.asks())
    office.slack.fail_next("views.open", retry_after=20)
    await office.kim.presses(card, "gate_deny")
    await office.whispered(office.kim, "press again in 20 s")
    office.clock.ms += 19_000
    await office.kim.presses(card, "gate_deny")
    await office.whispered(office.kim, "press again in 1 s")
    assert len(office.slack.calls("views.open")) == 1
    office.clock.ms += 1_000
    await office.kim.presses(card, "gate_deny")
    await office.modal(office.kim)


async def test_what_became_of_a_post_is_asked_again_when_slack_says_and_it_is_not_posted_twice(timed: Office) -> None:
    office = timed
    office.slack.fail_next("chat.postMessage", cut_after_accepting=True)
    office.slack.fail_next("conversations.replies", retry_after=30)
    office.answers(says("Only once."))
    asked = await office.asks()
    await office.slack.called("conversations.replies")
    for _ in range(29):
        office.clock.ms += 1_000
        await office.service.delivery.deliver_due()
    assert len(office.slack.calls("conversations.replies")) == 1
    await office.in_time(lambda: len(office.slack.calls("conversations.replies")) == 2 or None, "a second look")
    await office.until_so(lambda: nothing_left(office))
    assert [read(post) for post in office.slack.posts(asked)] == ["Only once."]
    assert len(office.slack.calls("chat.postMessage")) == 1


async def nothing_left(office: Office) -> bool:
    return (await office.service.store.read(outbox.counts)).get("sending", 0) == 0


@pytest.mark.parametrize("directly", [False, True])
async def test_reading_what_was_missed_waits_as_long_as_slack_says_and_goes_on_at_the_same_page(
    timed: Office, directly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = timed
    office.answers(says("Hello."))
    said = await (office.ann.says(None, "hi") if directly else office.ann.mentions(office.ops, "hi"))
    await office.shows(said.message, "Hello.")
    await office.close()
    missed = [f"line {number}" for number in range(250)]
    for text in missed:
        office.ann.writes(said.message.room, text, thread=None if directly else said)
    method = "conversations.history" if directly else "conversations.replies"
    before = len(office.slack.calls(method))
    waited, sleep = list[float](), asyncio.sleep

    async def sleeping(seconds: float) -> None:
        if seconds == 30:
            waited.append(seconds)
            office.clock.ms += 30_000
        await sleep(0 if seconds == 30 else seconds)

    monkeypatch.setattr(asyncio, "sleep", sleeping)
    office.slack.fail_next(method, retry_after=30, after=1)
    office.model.script[:] = [says("I have read it.") for _ in missed]
    await office.open()
    await office.until_so(lambda: heard(office, len(missed) + 1))
    assert waited == [30]
    pages = [call.args.get("cursor") for call in office.slack.calls(method)[before:] if call.status == 200]
    assert len(pages) == 2, "the first page was not read again"


async def heard(office: Office, many: int) -> bool:
    return (
        await office.service.store.read(lambda tx: tx.value("SELECT count(*) FROM messages WHERE direction = 'in'"))
        == many
    )


async def test_who_is_a_guest_is_asked_again_when_slack_says_and_until_then_nobody_new_is_let_in(timed: Office) -> None:
    office = timed
    await office.let_strangers_in()
    office.slack.limit("users.info", 60)
    said = await office.mallory.mentions(office.ops, "help")
    await office.slack.called("users.info")
    office.clock.ms += 25_000
    await office.slack.advance(25)
    office.answers(says("Hello ann."))
    await office.shows(await office.asks(), "Hello ann.")
    assert len(office.slack.calls("users.info")) == 1
    assert not said.acked
    office.clock.ms += 60_000
    office.answers(says("Hello mallory."))
    await office.slack.advance(60)
    await office.shows(said.message, "Hello mallory.")
    assert told_to_wait(office, "users.info") == 1
