"""In order within each thread, and never earlier than Slack allows in a room (R27)."""

from itertools import count, cycle

import pytest

from casestore import bindings, cases, outbox
from casestore.cases import Opening
from casestore.models import Case
from casestore.states import Origin, OutboxKind
from casestore.tx import Tx
from channels.slack.pace import Pace
from tests.slack.office import Office
from tests.slack.reading import read
from tests.wire.slack.rooms import Message

EACH, HELD_S = 25, 30
STEPS_S = (0.25, 1.375, 0.875)
"""How time passes between two looks at the outbox: hardly ever is it exactly the time that somebody was told."""


def test_a_room_is_posted_to_once_a_second_and_whoever_came_first_goes_first() -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert pace.wait_s("C1", "a") == 0
    assert [pace.wait_s("C1", thread) for thread in "bcb"] == [1, 2, 1], "asking again does not lose one's place"
    assert pace.wait_s("C2", "x") == 0, "another room waits for nobody"
    now[0] = 101.0
    assert [pace.wait_s("C1", thread) for thread in "bc"] == [0, 1]
    now[0] = 110.0
    assert pace.wait_s("C1", "c") == 0, "who comes late is let go at once"
    assert pace.wait_s("C1", "d") == 1, "but not together with another"


def test_the_first_message_of_a_room_waits_for_nothing_however_time_goes_on() -> None:
    pace = Pace(count(step=0.001).__next__)
    assert pace.wait_s("C1", "a") == 0


def test_those_who_come_late_to_their_times_still_leave_a_second_apart_and_in_their_order() -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert [pace.wait_s("C1", thread) for thread in "abcd"] == [0, 1, 2, 3]
    now[0] = 102.5
    assert [pace.wait_s("C1", thread) for thread in "bcde"] == [0, 1, 2, 3], "what is late moves those behind it"
    now[0] = 103.5
    assert [pace.wait_s("C1", thread) for thread in "dc"] == [1, 0]


def test_a_thread_that_never_comes_again_keeps_the_others_waiting_for_a_few_seconds_only() -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert [pace.wait_s("C1", thread) for thread in ("a", "lost")] == [0, 1]
    now[0] = 105.0
    assert [pace.wait_s("C1", thread) for thread in "bc"] == [0, 2], "it may be a little late"
    now[0] = 120.0
    assert [pace.wait_s("C1", thread) for thread in "bcd"] == [0, 1, 2], "nobody waits for it any more"


def test_what_slack_says_of_a_room_holds_for_all_its_threads_those_too_that_had_a_time() -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert [pace.wait_s("C1", thread) for thread in "abc"] == [0, 1, 2]
    pace.hold("C1", "a", 30)
    now[0] = 102.0
    assert [pace.wait_s("C1", thread) for thread in "cbd"] == [30, 29, 31]
    now[0] = 130.0
    assert [pace.wait_s("C1", thread) for thread in "ba"] == [1, 0], "who was sent away is the first again"


@pytest.mark.timeout(120)
async def test_five_hundred_messages_over_twenty_threads_leave_in_order_without_one_early_send(office: Office) -> None:
    """Four rooms, five threads in each; in the middle of it Slack holds one room back."""
    await office.close()
    slack, office.paced = office.slack, office.slack.clock.now
    await office.open()
    rooms = [office.ops, *(slack.room(f"ops-{number}", office.ann) for number in range(3))]
    threads = [office.ann.writes(room, f"thread {number}") for room in rooms for number in range(5)]
    slack.pace(1.0)
    began = slack.clock.now()
    await office.service.store.write(_put, office.clock.now(), threads)
    steps = cycle(STEPS_S)
    held_at: float | None = None
    while len(slack.posts()) < EACH * len(threads):
        await _all_said_that_may_be(office)
        if held_at is None and len(slack.posts()) >= 100:
            held_at = slack.clock.now()
            slack.limit("chat.postMessage", HELD_S, room=office.ops)
        step = next(steps)
        slack.clock.advance(step)
        office.clock.pass_by(round(step * 1_000))
        assert slack.clock.now() - began < HELD_S + 2 * EACH * 5, "about one a second in each room, not in all of them"

    assert held_at is not None
    refused = [call for call in slack.calls("chat.postMessage") if not call.ok]
    assert [(call.args["channel"], call.status) for call in refused] == [(office.ops.id, 429)], "one learns of it"
    (held,) = refused
    there = [call.at for call in slack.calls("chat.postMessage") if call.args["channel"] == office.ops.id]
    assert min(at for at in there if at > held.at) >= held_at + HELD_S, "nobody asks again before Slack has said so"
    for thread in threads:
        assert [read(post) for post in slack.posts(thread)] == [f"line {number}" for number in range(EACH)]


def _put(tx: Tx, now: int, threads: list[Message]) -> None:
    """So many lines for each thread, put in by turns."""
    known: list[tuple[str, Case]] = []
    for thread in threads:
        address = f"slack:{thread.room.team}/{thread.room.id}/{thread.ts}"
        case = cases.open_case(tx, now, Opening("local", "t", Origin.SLACK), actor="test")
        bindings.bind(tx, now, case, address, actor="test")
        known.append((address, case))
    for number in range(EACH):
        for address, case in known:
            outbox.put(tx, now, case.id, address, OutboxKind.MESSAGE, body=f"line {number}")


async def _all_said_that_may_be(office: Office) -> None:
    """Nothing is due at this moment and nothing on its way: time may pass."""
    service = office.service
    while await service.delivery.deliver_due() or (await service.store.read(outbox.counts))["sending"]:
        continue


def test_a_room_that_is_quiet_again_is_forgotten_and_one_that_waits_is_not() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    pace.hold("held", "t", 1_000_000.0)
    for number in range(5_000):
        now += 10.0
        assert pace.wait_s(f"C{number}", "t") == 0.0
    assert len(pace) <= 1_002
    assert pace.wait_s("held", "t") > 0.0
