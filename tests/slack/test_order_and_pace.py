"""In order within each thread, and never earlier than Slack allows in a room (R27)."""

import pytest

from casestore import bindings, cases, outbox
from casestore.cases import Opening
from casestore.states import Origin, OutboxKind
from casestore.tx import Tx
from channels.slack.pace import Pace
from tests.slack.office import Office
from tests.slack.reading import read


def test_a_room_is_posted_to_once_a_second_and_whoever_came_first_goes_first() -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert pace.wait_s("C1", "a") == 0
    assert [pace.wait_s("C1", thread) for thread in "bcb"] == [1, 2, 1], "asking again does not lose one's place"
    assert pace.wait_s("C2", "x") == 0, "another room waits for nobody"
    now[0] = 101.0
    assert [pace.wait_s("C1", thread) for thread in "bc"] == [0, 1]
    now[0] = 110.0
    assert pace.wait_s("C1", "c") == 0, "who comes late to a time that was given is not late"
    assert pace.wait_s("C1", "d") == 0


def test_what_slack_says_of_a_room_holds_for_all_its_threads() -> None:
    pace = Pace(lambda: 100.0)
    pace.hold("C1", 30)
    assert [pace.wait_s("C1", thread) for thread in "ab"] == [30, 31]


@pytest.mark.timeout(120)
async def test_five_hundred_messages_over_twenty_threads_leave_in_order_without_one_early_send(office: Office) -> None:
    await office.close()
    office.paced = office.slack.clock.now
    await office.open()
    threads = [office.ann.writes(office.ops, f"thread {number}") for number in range(20)]

    def put_all(tx: Tx) -> None:
        now = office.clock.now()
        for thread in threads:
            address = f"slack:{office.slack.team}/{office.ops.id}/{thread.ts}"
            case = cases.open_case(tx, now, Opening("local", "t", Origin.SLACK), actor="test")
            bindings.bind(tx, now, case, address, actor="test")
            for number in range(25):
                outbox.put(tx, now, case.id, address, OutboxKind.MESSAGE, body=f"line {number}")

    office.slack.workspace.pace = 1.0
    await office.service.store.write(put_all)
    for _ in range(600):
        while await office.service.delivery.deliver_due():
            continue
        office.slack.clock.advance(1)
        office.clock.ms += 1_000
        if len(office.slack.posts()) == 500:
            break
    assert all(call.ok for call in office.slack.calls("chat.postMessage")), "nothing was sent too early"
    for thread in threads:
        assert [read(post) for post in office.slack.posts(thread)] == [f"line {number}" for number in range(25)]
