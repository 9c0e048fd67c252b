"""A message and its answer: what is said, what is stored, and the one record that is left of it (R16)."""

from bot.tools.results import CallResult
from casestore import leases
from casestore.states import Outcome, StepState, TurnState
from tests.loop.rig import Rig, checked
from tests.loop.scripted import ASKED, REPORTED, calls, returned, said, says


async def test_a_message_is_answered_where_it_was_said(rig: Rig) -> None:
    rig.model.then(says("It is the disk."))

    case = await rig.say("What is wrong?")
    await rig.work()

    assert rig.posted() == ["It is the disk."]
    assert said(rig.model.sent[0]) == ["ann (requester): What is wrong?"]
    assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
    assert (await rig.case(case)).state == "in_progress"
    await checked(rig.store, case)


async def test_a_run_leaves_exactly_one_record_with_everything_it_has_to_name(rig: Rig) -> None:
    noting = ("case.set_task_state", {"state": {"at": "the disk"}})
    asked_for = calls(noting, ("look", {"at": "/var"}))
    answer = says("Full.")
    rig.model.then(asked_for, answer)
    rig.effects.answer("look", {"used": "94 %"})

    case = await rig.say("What is wrong?")
    await rig.work()

    (run,) = await rig.runs(case)
    assert (run.agent, run.model, run.model_reported) == ("casebound", ASKED, REPORTED)
    assert run.prompt_version == rig.desk.prompt.version
    assert (run.tenant, run.task_state) == ("local", {"at": "the disk"})
    assert (run.outcome, run.stop_reason, run.error, run.escalated) == (Outcome.ANSWERED, "answered", None, False)
    assert (run.started_at, run.ended_at) == (rig.clock.now(), rig.clock.now())
    assert (run.model_calls, run.tool_calls, run.attempt, run.resumes) == (2, 2, 1, None)
    assert (run.input_tokens, run.output_tokens, run.cached_tokens) == (200, 20, 10)
    assert run.cost_usd == 0.002

    first, noted, looked, last = await rig.steps(case, tools_only=False)
    assert {step.run_id for step in (first, noted, looked, last)} == {run.id}
    assert [step.provider_response_id for step in (first, last)] == [
        asked_for.provider_response_id, answer.provider_response_id
    ]  # fmt: skip
    assert [step.finish_reason for step in (first, last)] == ["tool_call", "stop"]
    assert (looked.tool, looked.args, looked.state) == ("look", '{"at":"/var"}', StepState.FINISHED)
    assert CallResult.load(looked.result or "").content == {"used": "94 %"}


async def test_what_a_tool_found_comes_back_to_the_model_under_its_own_call(rig: Rig) -> None:
    rig.model.then(calls(("look", {"at": "/a"}), ("look", {"at": "/b"}), ids=["same", "other"]), says("Done."))
    rig.effects.answer("look", "nothing", {"files": 3})

    await rig.say("Look, please.")
    await rig.work()

    assert rig.effects.made == ["look /a", "look /b"]
    assert returned(rig.model.sent[1]) == ["nothing", {"files": 3}]


async def test_calls_that_carry_one_and_the_same_id_are_made_each_and_answered_each(rig: Rig) -> None:
    """R14: providers repeat ids; a call is known by its response and its place in it."""
    rig.model.then(
        calls(("look", {"at": "/a"}), ("look", {"at": "/b"}), ids=["same", "same"]),
        calls(("look", {"at": "/c"}), ids=["same"]),
        says("Done."),
    )

    await rig.say("Look, please.")
    await rig.work()

    assert rig.effects.made == ["look /a", "look /b", "look /c"]
    assert returned(rig.model.sent[2]) == ["look /a: done", "look /b: done", "look /c: done"]


async def test_after_the_answer_nobody_has_the_case(rig: Rig) -> None:
    rig.model.then(says("Hello."))

    case = await rig.say("Hello?")
    await rig.work()

    lease = await rig.store.read(leases.of_case, case.id)
    assert (lease.kind, lease.fence) == (None, 1)


async def test_the_assistant_may_ask_the_requester_and_then_waits_for_the_answer(rig: Rig) -> None:
    rig.model.then(calls(("case.ask_requester", {"question": "Which disk?"})))

    case = await rig.say("The disk is full.")
    await rig.work()

    assert rig.posted() == ["Which disk?"]
    assert (await rig.case(case)).waiting_on == "requester"

    rig.model.then(says("Thank you."))
    await rig.say("/var")
    await rig.work()

    assert rig.posted()[-1] == "Thank you."
    assert returned(rig.model.sent[1]) == ["asked; the answer comes with the next turn"]
    assert said(rig.model.sent[1])[-1] == "ann (requester): /var"


async def test_a_case_the_assistant_has_resolved_is_reopened_by_the_next_message(rig: Rig) -> None:
    """R2."""
    rig.model.then(calls(("case.resolve", {"note": "cleared"})), says("It is done."), says("Again, then."))

    case = await rig.say("The disk is full.")
    await rig.work()
    assert (await rig.case(case)).state == "resolved"

    again = await rig.say("It is full again.")
    await rig.work()

    assert again.id == case.id
    assert (await rig.case(case)).state == "in_progress"
    assert [kind for kind in await rig.trail(case) if kind.startswith("case.")] == [
        "case.opened", "case.in_progress", "case.resolved", "case.reopened"
    ]  # fmt: skip


async def test_the_assistant_may_hand_the_case_to_an_operator(rig: Rig) -> None:
    rig.model.then(
        calls(("look", {"at": "/"}), ("case.hand_off", {"reason": "it smells of smoke"}), ("note", {"text": "x"}))
    )

    case = await rig.say("Help!")
    await rig.work()

    (run,) = await rig.runs(case)
    assert (run.outcome, run.escalated) == (Outcome.HANDED_OFF, True)
    assert (await rig.case(case)).waiting_on == "operator"
    assert rig.posted() == [f"I am handing {case.label} to an operator: it smells of smoke."]
    looked, handed, noted = await rig.steps(case)
    assert [step.state for step in (looked, handed, noted)] == ["finished", "finished", "refused"]
    assert CallResult.load(noted.result or "").kind == "not_asked"
    assert rig.effects.count("note") == 0
