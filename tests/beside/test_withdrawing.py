"""Whoever asked can take back what waits, and operators can: by a button where they see the card, or by a command."""

import pytest

from bot.gates import card, gating
from bot.gates.gating import Reply
from casestore import gates, principals, trail
from casestore.errors import MoveRefused, NotFound
from casestore.models import Case
from casestore.scope import System
from casestore.states import GateState, Outcome, Verb
from casestore.tx import Tx
from channels.messages import Address, Card, Command
from tests.loop.cut_off import unknown
from tests.loop.ended import how_they_ended, kinds
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import calls, returned, says

A, B = ("svc.restart", {"service": "a"}), ("svc.restart", {"service": "b"})
ROOM = Address(channel="memory", space="S", room="approvals", thread="t9")


async def asked(rig: Rig) -> tuple[Case, str, Card]:
    """A case of ann's with two calls that have to be asked, and the card of the first."""
    rig.model.then(calls(A, B), says("Then I leave it."))
    case = await rig.say("The service hangs")
    await rig.work()
    ((key, shown),) = cards(rig).items()
    return case, key, shown


def cards(rig: Rig) -> dict[str, Card]:
    """The cards in the thread, by the platform's id."""
    return {key: shown for key, shown in rig.channel.standing(THREAD).items() if isinstance(shown, Card)}


async def typed(rig: Rig, by: str, text: str) -> str:
    """Somebody types a command in the thread."""
    return await rig.receiver.command(Command(address=THREAD, account=rig.account(by), text=text))


async def withdraw(rig: Rig, case: Case, by: str) -> Reply:
    """Somebody takes back what waits, from the command line."""
    gate = (await rig.gates(case))[-1]
    return await rig.store.write(
        gating.withdraw, rig.clock.now(), rig.people[by], gate.id, "", via="cli", zone=None
    )  # fmt: skip


@pytest.mark.parametrize("by", ["ann", "kim"], ids=["whoever asked", "an operator"])
async def test_with_the_button_the_call_is_not_made_and_the_turn_goes_on_as_after_a_denial(rig: Rig, by: str) -> None:
    case, key, shown = await asked(rig)
    assert shown.verbs == ("approve", "deny", "revise", "withdraw")

    assert await rig.channel.press(THREAD, key, "withdraw", rig.account(by)) == 'Withdrawn, and not run: Restart "a"'
    await rig.work()

    gate = (await rig.gates(case))[0]
    assert (gate.state, gate.decided_by, gate.decided_via) == (GateState.WITHDRAWN, rig.people[by].id, "memory")
    (line,) = cards(rig)[key].outcome
    assert line.startswith(f"Withdrawn by {by} via memory, ")
    assert rig.effects.made == []
    assert await kinds(rig, case) == ["withdrawn", "not_asked"]
    assert returned(rig.model.sent[-1])[0] == f"withdrawn by {by}, not run"
    assert rig.posted()[-1] == "Then I leave it."
    assert await how_they_ended(rig, case) == [Outcome.PARKED, Outcome.ANSWERED]
    (entry,) = [e for e in await rig.store.read(trail.read, System(), case.id) if e.kind == "gate.withdrawn"]
    assert entry.actor == principals.actor(rig.people[by])
    assert f"withdrawn by {by}" in ((await rig.case(case)).paraphrase or "")


async def test_by_a_command_in_the_thread_with_why(rig: Rig) -> None:
    case, key, _ = await asked(rig)

    assert await typed(rig, "ann", f"/case withdraw {case.label} I did it myself") == (
        'Withdrawn, and not run: Restart "a"'
    )
    await rig.work()

    assert cards(rig)[key].outcome[0].endswith(": I did it myself")
    assert returned(rig.model.sent[-1])[0] == "withdrawn by ann, not run: I did it myself"
    assert "there is nothing to withdraw" in await typed(rig, "ann", "/case withdraw")


async def test_somebody_else_may_not_whatever_they_press_or_type(rig: Rig) -> None:
    """Nor somebody who was revoked."""
    case, key, _ = await asked(rig)
    gate = await rig.gate(case)

    pressed = await rig.channel.press(THREAD, key, "withdraw", rig.account("ben"))
    assert pressed == f"There is no gate {gate.id} here that you may withdraw."
    assert "No case" in await typed(rig, "ben", "/case withdraw")
    with pytest.raises(NotFound):
        await withdraw(rig, case, "ben")
    await rig.store.write(principals.revoke, rig.clock.now(), rig.people["ann"].id, revoked_by=rig.people["kim"].id)
    reply = await withdraw(rig, case, "ann")

    assert (reply.taken, reply.text) == (False, f"You may not withdraw gate {gate.id}; an operator may.")
    assert await rig.gate(case) == gate


async def test_too_late_is_told_what_was_decided_and_an_expiry_is_written(rig: Rig) -> None:
    """R6: judged by the clock, whatever has swept."""
    case, key, _ = await asked(rig)
    gate = await rig.gate(case)
    await rig.decide(case, Verb.DENY)
    late = await rig.channel.press(THREAD, key, "withdraw", rig.account("ann"))
    assert late.startswith(f"Gate {gate.id} is already decided: Denied by kim via the command line")
    await rig.work()

    second = await rig.gate(case)
    rig.clock.ms = second.expires_at
    reply = await withdraw(rig, case, "ann")
    assert (reply.taken, reply.gate.state) == (False, GateState.EXPIRED)
    assert reply.text.startswith(f"Too late for gate {second.id}. Expired: nobody decided by")
    assert (await rig.gates(case))[-1].state is GateState.EXPIRED


async def test_a_card_outside_the_threads_of_its_case_has_no_button_for_it(rig: Rig) -> None:
    case, _, _ = await asked(rig)
    gate, now = await rig.gate(case), rig.clock.now()

    async def verbs(at: Address) -> tuple[str, ...]:
        return (await rig.store.read(card.of_gate, now, gate, None, at=str(at))).verbs

    assert await verbs(ROOM) == ("approve", "deny", "revise")
    assert await verbs(THREAD) == ("approve", "deny", "revise", "withdraw")
    await rig.store.write(nobodys, case)
    assert await verbs(THREAD) == ("approve", "deny", "revise")


def nobodys(tx: Tx, case: Case) -> None:
    """Nobody has asked for a case, as where an alert opened it."""
    tx.run("UPDATE cases SET requester = NULL WHERE id = :id", id=case.id)


async def test_what_became_of_a_call_is_for_operators_alone_to_leave_open(rig: Rig) -> None:
    case = await unknown(rig)
    gate = await rig.gate(case)

    reply = await withdraw(rig, case, "ann")
    assert (reply.taken, reply.text) == (False, f"You may not withdraw gate {gate.id}; an operator may.")
    with pytest.raises(MoveRefused):
        await rig.store.write(
            gates.withdraw, rig.clock.now(), gate, by="ann", reason="", who=rig.people["ann"], via="cli"
        )  # fmt: skip
    assert (await withdraw(rig, case, "kim")).taken


async def test_revise_denies_with_an_instruction_that_a_model_gets_and_goes_by(rig: Rig) -> None:
    rig.model.then(calls(A, B), calls(("note", {"text": "reload"}), B), says("Reloaded."))
    case = await rig.say("The service hangs")
    await rig.work()

    await rig.decide(case, Verb.REVISE, reason="reload it instead")
    await rig.work()
    assert returned(rig.model.sent[-1]) == [
        "denied by kim, who asks for something else: reload it instead",
        "not asked: the call before it was sent back for revision",
    ]
    assert rig.effects.made == ["note reload"]
    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == ["note reload", "restart b"]
    assert rig.posted()[-1] == "Reloaded."
    assert [gate.state for gate in await rig.gates(case)] == [GateState.DENIED, GateState.APPROVED]
