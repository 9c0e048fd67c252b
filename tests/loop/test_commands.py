"""What people type to the bot: the same acts as on the command line, for the one whose account it is (R20, R21)."""

from __future__ import annotations

import pytest

from bot.inbound import intake
from bot.outbound import threads
from casestore import bindings, cases, leases, outbox, principals
from casestore.db import Store
from casestore.errors import StoreUnavailable
from casestore.models import Case
from casestore.scope import System
from casestore.states import CaseState, LeaseKind, OutboxState, Role
from casestore.tx import Tx
from channels.address import Address
from tests.loop.rig import THREAD, Killed, Rig
from tests.loop.scripted import calls, says

RESTART = ("svc.restart", {"service": "a"})
ROOM = Address(channel="memory", space="S", room="help")
OTHER = THREAD.begun("t2")


async def typed(rig: Rig, text: str, *, by: str = "kim", at: Address = THREAD) -> str:
    """What somebody is answered."""
    return await rig.channel.type_command(text, address=at, account=rig.account(by))


async def now(rig: Rig, case: Case) -> Case:
    """A case as it is by now."""
    return await rig.store.read(cases.by_id, case.id)


async def elsewhere(rig: Rig) -> None:
    """olga is an operator, of another tenant."""

    def add(tx: Tx) -> None:
        olga = principals.add(tx, 1, tenant="other", name="olga", role=Role.OPERATOR)
        channel, space, account_id = rig.account("olga").identity
        principals.bind(tx, 1, olga.id, channel=channel, space=space, account_id=account_id, bound_by=None)

    await rig.store.write(add)


async def test_the_lists_say_where_each_case_stands_and_what_each_gate_waits_for(rig: Rig) -> None:
    rig.model.then(calls(RESTART))
    case = await rig.say("It hangs")
    await rig.work()
    for command in ("/cases", "/case list", "/CASE  LIST"):
        assert await typed(rig, command) == f"{case.label}  waits for a decision  It hangs"
    for command in ("/gates", "/gate list"):
        told = await typed(rig, command)
        assert told.startswith(f"Gate 1 of {case.label}. It waits for an operator, not the requester to decide, until ")
        assert told.endswith(': Restart "a"')
    asked, *call = (await typed(rig, "/gate show 1")).split("\n")
    assert asked == told, "and then the call itself, which a list has no room for"
    assert call == [
        "Will run: svc.restart (consequential, not reversible)", "service  a",
        "Asked by: the assistant, for ann (not verified)",
    ]  # fmt: skip
    shown = await typed(rig, f"/case show {case.label}")
    assert f"{case.label}  waits for a decision  It hangs" in shown
    assert "asked by ann" in shown
    assert 'Restart "a"' in shown


@pytest.mark.parametrize("number", ["{label}", "{number}", "c-{number}", ""])
async def test_a_case_is_named_in_any_way_or_is_that_of_the_thread(rig: Rig, number: str) -> None:
    case = await rig.say("It hangs")
    told = await typed(rig, f"/case take {number.format(label=case.label, number=case.number)}")
    assert told == f"{case.label} is yours. Hand it back: /case release {case.label}"
    assert (await rig.store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN


async def test_a_case_goes_from_hand_to_hand_and_is_resolved(rig: Rig) -> None:
    rig.model.then(says("Hello."), says("Again."))
    case = await rig.say("It hangs")
    await rig.work()
    assert (await typed(rig, "/case take")).startswith(f"{case.label} is yours")
    assert await typed(rig, "/case take") == f"{case.label} is already yours."
    assert await typed(rig, "/case release") == f"{case.label} is the assistant's again."
    assert await typed(rig, "/case release") == f"{case.label} is not taken over by anybody."
    assert await typed(rig, f"/case resolve {case.label} it was the cable") == (
        f"{case.label} is resolved: it was the cable"
    )
    assert (await now(rig, case)).state is CaseState.RESOLVED
    await rig.work()
    assert rig.posted()[-1] == f"{case.label} was resolved: it was the cable."


@pytest.mark.parametrize("verb", ["take", "release"])
async def test_what_only_operators_do_a_requester_is_refused(rig: Rig, verb: str) -> None:
    case = await rig.say("It hangs")
    assert await typed(rig, f"/case {verb}", by="ann") == "Only an operator takes cases over and hands them back."
    assert (
        await typed(rig, f"/case bind {case.label}", by="ann", at=OTHER)
        == "Only an operator may bind a case to a thread."
    )
    assert await typed(rig, "/case unbind", by="ann") == "Only an operator may unbind a case."
    assert (await rig.store.read(leases.of_case, case.id)).kind is not LeaseKind.HUMAN
    assert [one.address for one in await rig.store.read(bindings.of_case, case.id)] == [str(THREAD)]


@pytest.mark.parametrize("command", ["show", "take", "release", "resolve", "bind"])
async def test_a_case_that_one_may_not_see_answers_like_one_that_is_not_there(rig: Rig, command: str) -> None:
    """R21"""
    await elsewhere(rig)
    case = await rig.say("a secret")
    hidden = await typed(rig, f"/case {command} {case.label}", by="olga", at=OTHER)
    absent = await typed(rig, f"/case {command} C-9999", by="olga", at=OTHER)
    assert hidden.replace(case.label, "C-9999") == absent
    assert "secret" not in hidden
    assert await typed(rig, "/case list", by="olga") == "There are no cases."
    assert await typed(rig, "/case mine", by="olga") == "There are no cases."
    assert await typed(rig, f"/case {command}", by="olga") != ""


async def test_mine_are_those_i_asked_for_and_those_i_am_to_see_to(rig: Rig) -> None:
    mine = await rig.say("mine", by="kim", at=OTHER)
    theirs = await rig.say("theirs")
    assert await typed(rig, "/case mine") == f"{mine.label}  new  mine"
    await typed(rig, f"/case take {theirs.label}")
    assert theirs.label in await typed(rig, "/case mine")
    assert mine.label not in await typed(rig, "/case mine", by="ann")


async def test_somebody_we_do_not_know_gets_nothing_done(rig: Rig) -> None:
    case = await rig.say("It hangs")
    for command in ("/case take", "/case list", f"/case resolve {case.label}", "/case open more", "/gate list"):
        assert (await typed(rig, command, by="mallory")) == (
            "I do not know you, so I cannot do that for you. Ask an admin to bind your account."
        ), "as only an admin may"
    assert [one.id for one in await rig.store.read(cases.listing, System())] == [case.id]
    assert (await now(rig, case)).state is not CaseState.RESOLVED


@pytest.mark.parametrize("command", ["/case", "/case help", "/case fly", "/gate", "/gate approve 1", "/nonsense", "/"])
async def test_what_is_no_command_is_answered_with_those_that_are(rig: Rig, command: str) -> None:
    told = await typed(rig, command)
    assert "/gate list" in told or "/case open TEXT" in told


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/case open", "What is it about? Write: /case open TEXT"),
        ("/case show", "Which case? Write: /case show C-1042"),
        ("/case take over", "Which case? Write: /case take C-1042"),
        ("/case bind", "Which case? Write: /case bind C-1042"),
        ("/case show C-9999999999999999999999", "Which case? Write: /case show C-1042"),
        ("/gate show", "Which gate? Write its number, as /gate list shows it: /gate show 7"),
        ("/gate show x", "Which gate? Write its number, as /gate list shows it: /gate show 7"),
        ("/gate show 7", "No gate 7. See: /gate list"),
    ],
)
async def test_what_is_missing_is_asked_for_in_one_sentence(rig: Rig, command: str, said: str) -> None:
    assert await typed(rig, command, at=OTHER) == said


async def test_a_case_is_bound_to_a_second_thread_by_who_says_so_there(rig: Rig) -> None:
    rig.model.then(says("Hello."))
    case = await rig.say("It hangs")
    await rig.work()
    assert await typed(rig, f"/case bind {case.label}", at=OTHER) == f"{case.label} is bound to this thread too."
    assert await typed(rig, f"/case bind {case.label}", at=ROOM) == (
        "A case is bound to a thread, and this is none: write this in the thread (in Slack as a message that mentions "
        "me, elsewhere as it is)."
    )
    assert [one.address for one in await rig.store.read(bindings.of_case, case.id)] == [str(THREAD), str(OTHER)]
    assert await typed(rig, "/case unbind", at=OTHER) == f"{case.label} is not bound to this thread any more."
    assert [one.address for one in await rig.store.read(bindings.of_case, case.id)] == [str(THREAD)]


async def test_opened_in_a_thread_it_is_that_threads(rig: Rig) -> None:
    rig.model.then(says("On it."))
    told = await typed(rig, "/case open the printer is on fire", by="ann", at=OTHER)
    case = await rig.store.read(bindings.case_at, str(OTHER))
    assert case is not None
    assert told == f"{case.label} is open: the printer is on fire"
    await rig.work()
    assert rig.posted(OTHER) == ["On it."]
    assert await typed(rig, "/case open another", by="ann", at=OTHER) == (
        f"This thread is {case.label}'s. Write into it, or open a case in the room."
    )
    await elsewhere(rig)
    assert case.label not in await typed(rig, "/case open another", by="olga", at=OTHER)


async def test_opened_in_a_room_it_begins_a_thread_there_and_goes_on_in_it(rig: Rig) -> None:
    rig.model.then(says("On it."), says("Still on it."))
    told = await typed(rig, "/case open the printer is on fire", by="ann", at=ROOM)
    assert told == "C-1001 is open: the printer is on fire\nIts thread begins in this room in a moment."
    await rig.work()
    (root,) = rig.posted(ROOM)
    assert root == "C-1001: the printer is on fire (opened by ann)"
    (bound,) = await rig.store.read(bindings.of_case, (await rig.store.read(cases.listing, System()))[0].id)
    thread = Address.parse(bound.address)
    assert (thread.on_platform, thread.begins) == (thread, False)
    assert rig.posted(thread) == ["On it."]
    await rig.say("it is out now", at=thread, addressed=False)
    await rig.work()
    assert rig.posted(thread) == ["On it.", "Still on it."]


async def test_two_cases_opened_in_one_room_begin_two_threads(rig: Rig) -> None:
    rig.model.then(says("One."), says("Two."))
    for text in ("one", "two"):
        await typed(rig, f"/case open {text}", by="ann", at=ROOM)
    await rig.work()
    assert len(rig.posted(ROOM)) == 2
    bound = {
        case.title: [one.address for one in await rig.store.read(bindings.of_case, case.id)]
        for case in await rig.store.read(cases.listing, System())
    }
    assert [rig.posted(Address.parse(bound[title][0])) for title in ("one", "two")] == [["One."], ["Two."]]


async def test_a_kill_between_the_first_message_and_its_mark_begins_no_second_thread(rig: Rig) -> None:
    """R27, R28"""
    rig.model.then(says("On it."))
    await typed(rig, "/case open the printer is on fire", by="ann", at=ROOM)
    rig.die(before=threads.posted)
    with pytest.raises(Killed):
        await rig.deliver()
    await rig.restart()
    await rig.delivery.reconcile()
    await rig.work()
    assert rig.posted(ROOM) == ["C-1001: the printer is on fire (opened by ann)"]
    (case,) = await rig.store.read(cases.listing, System())
    (bound,) = await rig.store.read(bindings.of_case, case.id)
    assert rig.posted(Address.parse(bound.address)) == ["On it."]


async def test_where_the_room_is_lost_the_case_lives_on(rig: Rig) -> None:
    """R3"""
    await rig.channel.lose(ROOM)
    rig.model.then(says("On it."))
    await typed(rig, "/case open the printer is on fire", by="ann", at=ROOM)
    await rig.work()
    (case,) = await rig.store.read(cases.listing, System())
    assert await rig.store.read(bindings.of_case, case.id) == []
    assert case.state is CaseState.IN_PROGRESS
    assert {row.state for row in await rig.store.read(outbox.of_case, case.id)} <= {OutboxState.DEAD}


async def test_what_cannot_be_stored_is_not_done_and_what_is_only_read_is_answered(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R15"""
    case = await rig.say("It hangs")

    async def full(*args: object, **kwargs: object) -> object:
        raise StoreUnavailable("The disk is full.")

    monkeypatch.setattr(Store, "write", full)
    for command in ("/case take", "/case open more", "/case resolve"):
        assert (
            await typed(rig, command) == "That could not be recorded, so nothing is done. Please try again in a minute."
        )
    assert case.label in await typed(rig, "/case list")


async def test_a_long_list_is_cut_and_says_where_the_rest_is(rig: Rig) -> None:
    def many(tx: Tx) -> None:
        ann = principals.by_name(tx, "ann")
        for number in range(25):
            intake.open_by(tx, 1, ann, intake.Origin.CLI, f"case {number}")

    await rig.store.write(many)
    told = await typed(rig, "/case list")
    assert len(told.splitlines()) == 21
    assert told.splitlines()[-1] == "… and more. All of them: casebound case list --most 200"
