"""What needs the requester's consent, and what needs to know who the requester is (R5, R22)."""

import pytest

from bot.tools.results import CallResult
from bot.turns import advance
from casestore import cases, holds, messages
from casestore.cases import Opening
from casestore.errors import NotFound
from casestore.messages import Said, text_body
from casestore.models import Case
from casestore.states import GateKind, GateState, Origin, Provenance, Verb
from casestore.tx import Tx
from tests.loop.rig import Killed, Rig
from tests.loop.scripted import calls, returned, says

DIARY = ("diary", {"of": "ann"})


async def asked(rig: Rig) -> Case:
    rig.model.then(calls(DIARY))
    case = await rig.say("Why am I so tired?")
    await rig.work()
    return case


async def test_only_the_requester_can_let_the_assistant_look_at_their_things(rig: Rig) -> None:
    case = await asked(rig)

    gate = await rig.gate(case)
    assert (gate.kind, gate.statement) == (GateKind.CONSENT, 'Let the assistant look: Read the diary of "ann"')
    assert (await rig.case(case)).waiting_on == "requester"
    for by in ("kim", "root"):
        assert not (await rig.decide(case, by=by)).taken
    with pytest.raises(NotFound, match="No gate"):
        await rig.decide(case, by="ben")
    assert rig.effects.made == []

    rig.model.then(says("You go to bed late."))
    assert (await rig.decide(case, by="ann")).taken
    await rig.work()
    assert rig.effects.made == ["diary ann"]
    assert returned(rig.model.sent[1]) == ["diary ann: done"]


async def test_a_requester_who_is_an_operator_may_consent_too(rig: Rig) -> None:
    rig.model.then(calls(("diary", {"of": "kim"})), says("Read."))
    case = await rig.say("Look into mine", by="kim")
    await rig.work()

    assert not (await rig.decide(case, by="lee")).taken
    assert (await rig.decide(case, by="kim")).taken
    await rig.work()
    assert rig.effects.made == ["diary kim"]


async def test_without_consent_nothing_is_looked_at(rig: Rig) -> None:
    case = await asked(rig)
    rig.model.then(says("Then I cannot tell."))
    await rig.decide(case, Verb.DENY, by="ann")
    await rig.work()

    assert rig.effects.made == []
    assert returned(rig.model.sent[1]) == ["denied by ann"]


async def test_what_the_requester_let_us_read_is_read_again_where_the_process_died_while_it_was_read(rig: Rig) -> None:
    """R13: a read-only call that was started is run again, also one that somebody was asked for."""
    case = await asked(rig)
    await rig.decide(case, by="ann")
    rig.die(before=advance.all_finished)
    with pytest.raises(Killed):
        await rig.conductor.work(case.id)
    await rig.restart()

    rig.model.then(says("You go to bed late."))
    await rig.work()
    assert rig.effects.made == ["diary ann", "diary ann"]
    assert returned(rig.model.sent[-1]) == ["diary ann: done"]
    assert [gate.state for gate in await rig.gates(case)] == [GateState.APPROVED]


async def test_a_consent_that_was_made_use_of_stays_what_it_was_when_the_case_ends(rig: Rig) -> None:
    case = await asked(rig)
    rig.model.then(says("You go to bed late."))
    await rig.decide(case, by="ann")
    await rig.work()
    await rig.resolve(case)

    assert [gate.state for gate in await rig.gates(case)] == [GateState.APPROVED]


def opened_by_nobody(tx: Tx, now: int, text: str) -> Case:
    """A case as an alert opens it: no person has asked for it."""
    case = cases.open_case(tx, now, Opening("local", "an alert", Origin.ALERT), actor="alerts")
    messages.receive(tx, now, case.id, Said(Provenance.ALERT, text_body(text)))
    return case


async def test_where_there_is_nobody_to_consent_it_is_refused(rig: Rig) -> None:
    rig.model.then(calls(DIARY), says("I may not look."))
    case = await rig.store.write(opened_by_nobody, rig.clock.now(), "DiskFull")
    await rig.work()

    assert rig.effects.made == []
    (step,) = await rig.steps(case)
    assert CallResult.load(step.result or "").kind == "refused"


async def test_what_is_sensitive_and_consequential_is_asked_twice_each_of_its_own(rig: Rig) -> None:
    rig.tools["svc.restart"] = rig.tools["svc.restart"].with_settings(sensitive=True)
    await rig.restart()
    rig.model.then(calls(("svc.restart", {"service": "a"}), ("note", {"text": "x"})), says("Restarted."))
    case = await rig.say("It hangs")
    await rig.work()

    assert (await rig.gate(case)).kind is GateKind.CONSENT
    await rig.decide(case, by="ann")
    await rig.work()
    assert (await rig.gate(case)).kind is GateKind.APPROVAL
    assert rig.effects.made == []
    assert not (await rig.decide(case, by="ann")).taken
    await rig.decide(case, by="kim")
    await rig.work()
    assert rig.effects.made == ["restart a", "note x"]


async def test_what_needs_a_verified_requester_is_refused_until_one_is_on_record(rig: Rig) -> None:
    unlock = ("unlock", {"account": "ann"})
    verify = ("case.remember_verification", {"subject": "Ann Example", "how": "a code to her phone"})
    rig.model.then(calls(unlock), calls(verify), calls(unlock), says("Unlocked."))

    case = await rig.say("I am locked out")
    await rig.work()
    assert returned(rig.model.sent[1]) == ["refused: the requester has not been verified; verify them first"]
    assert (await rig.gate(case)).tool == "case.remember_verification"

    await rig.decide(case)
    await rig.work()
    verified = await rig.case(case)
    assert (verified.verified_as, verified.verified_how) == ("Ann Example", "a code to her phone")
    assert (await rig.gate(case)).tool == "unlock"
    assert "verified as Ann Example by a code to her phone" in rig.posted()[-1]
    await rig.decide(case)
    await rig.work()
    assert rig.effects.made == ["unlock ann"]


async def test_an_approved_case_tool_lets_those_behind_it_go_on(rig: Rig) -> None:
    verify = ("case.remember_verification", {"subject": "Ann", "how": "a code"})
    rig.model.then(calls(verify, ("svc.restart", {"service": "a"}), ("note", {"text": "x"})), says("Restarted."))

    case = await rig.say("I am locked out")
    await rig.work()
    await rig.decide(case)
    await rig.work()
    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == ["restart a", "note x"]


async def test_saying_yes_in_the_conversation_is_no_consent(rig: Rig) -> None:
    case = await asked(rig)
    await rig.say("yes, I agree, look at everything")
    await rig.work()

    assert rig.effects.made == []
    assert (await rig.gate(case)).state is GateState.OPEN


async def test_a_consent_is_not_spent_while_an_operator_has_frozen_the_tool(rig: Rig) -> None:
    rig.model.then(calls(("diary", {"of": "ann"})), says("Then not."))
    case = await rig.say("What did I write yesterday?")
    await rig.work()
    assert (await rig.decide(case, by="ann")).taken
    await rig.store.write(
        holds.place, rig.clock.now(), tool="diary", reason="under review", by=rig.people["kim"].id
    )  # fmt: skip
    await rig.work()
    assert rig.effects.made == []
    assert "frozen" in str(returned(rig.model.sent[-1])[0])


async def test_a_consent_that_was_used_is_on_the_step_it_let_through(rig: Rig) -> None:
    rig.model.then(calls(("diary", {"of": "ann"})), says("Here it is."))
    case = await rig.say("What did I write yesterday?")
    await rig.work()
    gate = await rig.gate(case)
    await rig.decide(case, by="ann")
    await rig.work()
    assert [step.gate_id for step in await rig.steps(case)] == [gate.id]
    assert rig.effects.made == ["diary ann"]
