"""Two engines on one file: one works a case, the other gets nothing until the lease has run out (R10)."""

from dataclasses import replace

from bot.tools.results import CallResult
from bot.turns.conduct import Conductor
from bot.turns.instruct import Ended, Lost
from casestore import leases
from casestore.states import GateKind, GateState, Outcome, StepState
from tests.loop.rig import MINUTE, Rig, checked
from tests.loop.scripted import Held, ScriptedModel, Waits, calls, says, unpaired


def another(rig: Rig, model: ScriptedModel) -> Conductor:
    """A second engine's conductor: another process, another boot, the same file."""
    worker = replace(rig.desk.worker, holder="engine elsewhere", boot="boot-elsewhere")
    return Conductor(rig.store, replace(rig.desk, worker=worker), model, rig.spool)


def past_the_lease(rig: Rig) -> None:
    """The first engine hangs, or its machine is cut off."""
    rig.clock.pass_by(rig.settings.leases.ttl + MINUTE)


async def test_the_second_gets_nothing_while_the_first_has_the_case(rig: Rig) -> None:
    thinking = Held()
    rig.model.then(Waits(thinking, says("Here.")))
    second = ScriptedModel()
    case = await rig.say("Help!")
    first = rig.start(rig.conductor.work(case.id))
    await thinking.reached.wait()

    assert await another(rig, second).work(case.id) is None
    thinking.release.set()
    assert isinstance(await first, Ended)

    assert second.sent == []
    assert len(await rig.runs(case)) == 1


async def test_after_the_lease_has_run_out_the_second_answers_and_the_first_says_nothing(rig: Rig) -> None:
    thinking = Held()
    rig.model.then(Waits(thinking, says("From the first.")))
    case = await rig.say("Help!")
    first = rig.start(rig.conductor.work(case.id))
    await thinking.reached.wait()
    past_the_lease(rig)

    ended = await another(rig, ScriptedModel(says("From the second."))).work(case.id)
    thinking.release.set()

    assert isinstance(ended, Ended)
    assert isinstance(await first, Lost)
    await rig.deliver()
    assert rig.posted() == ["From the second."]
    crashed, answered = await rig.runs(case)
    assert (crashed.outcome, answered.outcome, answered.resumes) == (Outcome.CRASHED, Outcome.ANSWERED, crashed.id)
    assert (crashed.input_tokens, crashed.output_tokens) == (100, 10)  # used is used, whoever has the case by now
    await checked(rig.store, case)


async def test_the_first_whose_lease_ran_out_does_nothing_more_also_where_nobody_else_came(rig: Rig) -> None:
    """Its reply is late by its own lease; the next run asks again."""
    thinking = Held()
    rig.model.then(Waits(thinking, says("Late.")))
    case = await rig.say("Help!")
    first = rig.start(rig.conductor.work(case.id))
    await thinking.reached.wait()
    past_the_lease(rig)

    thinking.release.set()
    assert isinstance(await first, Lost)

    assert await rig.texts(case) == []
    rig.model.then(says("In time."))
    await rig.work()
    assert rig.posted() == ["In time."]


async def test_a_call_of_the_first_with_an_effect_is_asked_about_and_not_made_again_and_its_late_result_counts(
    rig: Rig,
) -> None:
    """R14: what happened is a fact, and nobody has to say any more whether it did."""
    under_way = rig.effects.hold("note")
    rig.model.then(calls(("note", {"text": "once"})))
    case = await rig.say("Note it.")
    first = rig.start(rig.conductor.work(case.id))
    await under_way.reached.wait()
    past_the_lease(rig)
    model = ScriptedModel()
    second = another(rig, model)

    await second.work(case.id)
    gate = await rig.gate(case)
    assert gate.kind is GateKind.OUTCOME
    under_way.release.set()
    assert isinstance(await first, Lost)

    (step,) = await rig.steps(case)
    assert (step.state, CallResult.load(step.result or "").content) == (StepState.FINISHED, "note once: done")
    assert (await rig.gates(case))[0].state is GateState.WITHDRAWN
    model.then(says("Noted."))
    await second.work(case.id)
    assert rig.effects.made == ["note once"]
    assert unpaired(model.sent[-1]) == []
    assert (await rig.texts(case))[-1] == "Noted."


async def test_the_first_does_not_park_or_ask_in_a_case_that_the_second_has(rig: Rig) -> None:
    thinking = Held()
    rig.model.then(Waits(thinking, calls(("svc.restart", {"service": "nginx"}))))
    case = await rig.say("Restart it.")
    first = rig.start(rig.conductor.work(case.id))
    await thinking.reached.wait()
    past_the_lease(rig)
    second_thinks = Held()
    second = rig.start(another(rig, ScriptedModel(Waits(second_thinks, says("No.")))).work(case.id))
    await second_thinks.reached.wait()

    thinking.release.set()
    assert isinstance(await first, Lost)

    assert await rig.gates(case) == []
    assert await rig.steps(case) == []
    lease = await rig.store.read(leases.of_case, case.id)
    assert lease.boot == "boot-elsewhere"
    second_thinks.release.set()
    assert isinstance(await second, Ended)
