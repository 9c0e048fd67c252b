"""Turns that were killed half way, once or again and again (R13)."""

from casestore.states import GateKind, Outcome, Verb
from tests.loop.cut_off import killed_in
from tests.loop.ended import how_they_ended
from tests.loop.rig import Rig
from tests.loop.scripted import Held, Waits, calls, said, says, unpaired

LOOK = ("look", {"at": "/"})
NOTE = ("note", {"text": "x"})
RESTART = ("svc.restart", {"service": "a"})


async def test_killed_while_an_answer_is_continued_the_question_is_not_put_twice(rig: Rig) -> None:
    held = Held()
    rig.model.then(says("It is", "length"), Waits(held, says("never heard")), says(" the disk."))

    case = await rig.say("What is wrong?")
    await killed_in(rig, case, held)
    await rig.open()
    await rig.work()

    assert rig.posted() == ["It is the disk."]
    assert said(rig.model.sent[2]) == said(rig.model.sent[1])


async def test_a_run_that_resolved_its_case_and_was_killed_before_it_could_say_so_leaves_it_resolved(
    rig: Rig,
) -> None:
    held = Held()
    rig.model.then(calls(("case.resolve", {"note": "done"})), Waits(held, says("never heard")), says("All is well."))

    case = await rig.say("It hangs")
    await killed_in(rig, case, held)
    await rig.open()
    await rig.work()

    assert (await rig.case(case)).state == "resolved"
    assert rig.posted() == ["All is well."]


async def test_a_turn_that_is_killed_again_and_again_is_handed_to_an_operator(rig: Rig) -> None:
    case = await rig.say("What is wrong?")
    for _ in range(5):
        held = Held()
        rig.model.then(Waits(held, says("Never heard.")))
        await killed_in(rig, case, held)
        await rig.open()
    await rig.work()

    assert await how_they_ended(rig, case) == [*[Outcome.CRASHED] * 5, Outcome.ERROR]
    assert (await rig.runs(case))[-1].escalated
    assert (await rig.case(case)).waiting_on == "operator"
    assert rig.posted() == [
        f"I am handing {case.label} to an operator: it was attempted 5 times without an answer."
    ]  # fmt: skip


async def test_a_turn_tried_too_often_with_a_call_in_doubt_asks_about_it_and_goes_on(rig: Rig) -> None:
    case = await rig.say("Note it")
    for _ in range(4):
        held = Held()
        rig.model.then(Waits(held, says("Never heard.")))
        await killed_in(rig, case, held)
        await rig.open()
    rig.model.then(calls(NOTE, RESTART))
    await killed_in(rig, case, rig.effects.hold("note"))
    await rig.open()
    rig.clock.pass_by(40_000)
    await rig.work()
    assert (await rig.runs(case))[-1].outcome is Outcome.PARKED
    assert (await rig.gate(case)).kind is GateKind.OUTCOME

    await rig.decide(case, Verb.HAPPENED)
    await rig.work()
    rig.model.then(says("It was noted."))
    await rig.decide(case, Verb.DENY)
    await rig.work()

    assert rig.posted()[-1] == "It was noted."
    assert unpaired(rig.model.sent[-1]) == []
    assert rig.effects.made == ["note x"]


async def test_a_run_that_comes_back_after_its_lease_says_so_on_its_record(rig: Rig) -> None:
    """R16: also where nobody else has taken the case, whose run would otherwise be found open and called crashed."""
    held = Held()
    rig.model.then(Waits(held, says("Too late.")), says("In time."))
    case = await rig.say("It hangs")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    rig.clock.pass_by(rig.settings.leases.ttl)
    held.release.set()
    await working
    await rig.work()

    assert [run.outcome for run in await rig.runs(case)] == [Outcome.LEASE_LOST, Outcome.ANSWERED]
    assert rig.posted() == ["In time."]
