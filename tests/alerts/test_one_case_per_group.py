"""One case per alert group: opened once, joined by new members, silent about what is known (R1, R3)."""

import asyncio

import pytest

from bot.alerts.alertmanager import read
from bot.people import closing
from casestore import leases, trail
from casestore.models import Case
from casestore.scope import System
from casestore.states import CaseState, Origin, Provenance
from tests.alerts.conftest import Intake
from tests.alerts.notifications import LATER, alert, group, labels_of, sent
from tests.conftest import HOUR, World


async def test_what_a_real_alertmanager_sent_in_its_order(alerts: Intake) -> None:
    opened = await alerts.take(read(sent("firing-two"), alerts.now))
    assert opened.what == "opened"
    assert opened.case is not None
    case_id = opened.case.id
    assert await alerts.members(case_id) == {"0435ec4597511fbb": "firing", "9744909312e8ac12": "firing"}

    one = await alerts.take(read(sent("one-of-two-resolved"), alerts.now))
    assert (one.what, one.case and one.case.id) == ("members_resolved", case_id)
    assert await alerts.members(case_id) == {"0435ec4597511fbb": "firing", "9744909312e8ac12": "resolved"}

    over = await alerts.take(read(sent("all-resolved"), alerts.now))
    assert (over.what, over.case and over.case.id) == ("group_resolved", case_id)
    assert await alerts.members(case_id) == {"0435ec4597511fbb": "resolved", "9744909312e8ac12": "resolved"}
    assert [case.state for case in await alerts.all_cases()] == [CaseState.RESOLVED]
    assert [kind for kind, _ in await alerts.trail(case_id)] == [
        "case.opened", "alert.fired", "alert.member_resolved", "alert.member_resolved", "alert.group_resolved",
        "case.resolved",
    ]  # fmt: skip
    verified = await alerts.store.read(trail.verify, System(), case_id)
    assert verified.problems == ()


async def test_a_case_that_an_alert_opens_has_no_requester_and_says_what_it_is_about(alerts: Intake) -> None:
    case = await alerts.open(group(alert("db-1", labels={"severity": "critical"}), alert("db-2")))
    assert (case.origin, case.requester, case.priority, case.state) == (Origin.ALERT, None, "critical", CaseState.NEW)
    assert case.title == "db-1 is full (and 1 more)"
    assert case.subject == 'alertname="DiskAlmostFull"'
    [message] = await alerts.messages(case.id)
    assert (message.provenance, message.author, message.turn_id) == (Provenance.ALERT, None, None)
    assert [(part["type"], part["status"], labels_of(part)["instance"]) for part in message.body] == [
        ("alert", "firing", "db-1"), ("alert", "firing", "db-2")
    ]  # fmt: skip
    assert message.body[0]["startsAt"] == "2026-11-30T11:55:19.000Z"
    assert message.body[0]["annotations"] == {"summary": "db-1 is full"}
    assert message.text.startswith("firing: DiskAlmostFull, since 2026-11-30T11:55:19.000Z\nsummary: db-1 is full\n")
    assert await alerts.store.read(leases.ready, alerts.now, 10) == [case.id]


async def test_a_repeated_notification_opens_nothing_and_says_nothing(alerts: Intake) -> None:
    case = await alerts.open(group(alert("a"), alert("b")))
    before = [await alerts.case(case.id), await alerts.messages(case.id), await alerts.trail(case.id)]
    for hour in (4, 8):
        taken = await alerts.take(group(alert("b"), alert("a")), now=alerts.now + hour * HOUR)
        assert (taken.what, taken.case) == ("known", before[0])
    assert [await alerts.case(case.id), await alerts.messages(case.id), await alerts.trail(case.id)] == before
    assert {member.last_seen_at for member in await alerts.episodes(case.id)} == {alerts.now + 8 * HOUR}
    assert {member.first_seen_at for member in await alerts.episodes(case.id)} == {alerts.now}


async def test_twenty_notifications_at_once_open_one_case(alerts: Intake) -> None:
    taken = await asyncio.gather(*(alerts.take(group(alert("a"), alert(f"b{n}"))) for n in range(20)))
    assert sorted(one.what for one in taken) == ["joined"] * 19 + ["opened"]
    [case] = await alerts.all_cases()
    assert len(await alerts.members(case.id)) == 21


async def test_a_new_member_joins_the_case_and_is_said_alone(alerts: Intake) -> None:
    case = await alerts.open(group(alert("a")))
    taken = await alerts.take(group(alert("a"), alert("b"), alert("c", resolved=True)))
    assert (taken.what, taken.case and taken.case.id) == ("joined", case.id)
    assert await alerts.members(case.id) == {"a": "firing", "b": "firing", "c": "resolved"}
    _, message = await alerts.messages(case.id)
    assert [labels_of(part)["instance"] for part in message.body] == ["b"]
    assert message.text.startswith("also firing: DiskAlmostFull")
    assert [kind for kind, _ in await alerts.trail(case.id)][1:] == [
        "alert.fired", "alert.member_resolved", "alert.fired"
    ]  # fmt: skip


async def test_two_groups_are_two_cases_also_when_their_names_differ_only_in_case(alerts: Intake) -> None:
    for key, receiver in (("x", "bot"), ("X", "bot"), ("x", "Bot")):
        await alerts.open(group(alert("a"), key=key, receiver=receiver))
    assert len(await alerts.all_cases()) == 3


async def test_a_group_that_only_resolves_is_nothing_to_open_a_case_for(alerts: Intake) -> None:
    taken = await alerts.take(group(alert("a", resolved=True)))
    assert (taken.case, taken.what) == (None, "ignored")
    assert await alerts.all_cases() == []


async def test_a_new_episode_of_the_same_alert_in_a_live_case_is_one_more_member(alerts: Intake) -> None:
    case = await alerts.open(group(alert("a")))
    taken = await alerts.take(group(alert("a", starts=LATER)))
    assert taken.what == "joined"
    one, two = await alerts.episodes(case.id)
    # nobody said that the first has ended, yet one alert does not fire twice at a time
    assert (one.state, one.ends_at, two.state) == ("resolved", two.starts_at, "firing")
    assert (await alerts.take(group(alert("a", starts=LATER, resolved=True)))).what == "group_resolved"


@pytest.mark.parametrize("state", [CaseState.RESOLVED, CaseState.CLOSED, CaseState.CANCELLED])
async def test_a_new_episode_after_the_end_of_a_case_is_a_new_case_that_follows_it(
    alerts: Intake, world: World, state: CaseState
) -> None:
    earlier = await alerts.open(group(alert("a")))
    await end(world, earlier, state)
    taken = await alerts.take(group(alert("a", starts=LATER)))
    assert taken.what == "opened"
    assert taken.case is not None
    assert taken.case.follows == earlier.id
    assert (await alerts.case(earlier.id)).state is state
    assert {one.starts_at for one in await alerts.episodes(taken.case.id)} == {1796042400123}


async def test_a_case_resolved_while_its_alert_fires_is_not_opened_again_by_the_repeat(
    alerts: Intake, world: World
) -> None:
    case = await alerts.open(group(alert("a"), alert("b")))
    await end(world, case, CaseState.RESOLVED)
    before = [await alerts.case(case.id), await alerts.messages(case.id), await alerts.trail(case.id)]
    taken = await alerts.take(group(alert("a"), alert("b")))
    assert taken.what == "known"
    assert [await alerts.case(case.id), await alerts.messages(case.id), await alerts.trail(case.id)] == before
    assert len(await alerts.all_cases()) == 1


async def test_what_is_new_in_the_group_of_an_ended_case_opens_one_for_all_that_fires(
    alerts: Intake, world: World
) -> None:
    earlier = await alerts.open(group(alert("a"), alert("b")))
    await end(world, earlier, CaseState.RESOLVED)
    taken = await alerts.take(group(alert("a"), alert("b", resolved=True), alert("c")))
    assert taken.case is not None
    assert taken.case.follows == earlier.id
    # the new case waits for all that fires; what had resolved before it belongs to the old one
    assert await alerts.members(taken.case.id) == {"a": "firing", "c": "firing"}
    assert await alerts.members(earlier.id) == {"a": "firing", "b": "resolved"}
    [message] = await alerts.messages(taken.case.id)
    assert [labels_of(part)["instance"] for part in message.body] == ["a", "c"]


async def test_an_older_case_that_was_reopened_is_the_one_that_takes_new_members(alerts: Intake, world: World) -> None:
    older = await alerts.open(group(alert("a")))
    await end(world, older, CaseState.RESOLVED)
    newer = await alerts.take(group(alert("a", starts=LATER)))
    assert newer.case is not None
    await end(world, newer.case, CaseState.CLOSED)
    await world.store.write(closing.reopen, world.now, older, by="principal:kim#2", why="")
    taken = await alerts.take(group(alert("a", starts=LATER), alert("z")))
    assert (taken.what, taken.case and taken.case.id) == ("joined", older.id)


async def end(world: World, case: Case, state: CaseState) -> None:
    """An operator ends a case."""
    verb = {
        CaseState.RESOLVED: closing.resolve, CaseState.CLOSED: closing.close, CaseState.CANCELLED: closing.cancel
    }[state]  # fmt: skip
    await world.store.write(verb, world.now, case, by="principal:kim#2", why="dealt with")
