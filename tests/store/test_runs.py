"""Every run leaves exactly one record (R16)."""

from dataclasses import replace

import pytest

from casestore import cases, model_steps, prompts, runs, steps
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.model_steps import ModelCall
from casestore.scope import System
from casestore.states import Outcome
from casestore.tx import Tx
from tests.conftest import MINUTE, RESTART, USAGE, WORKER, World
from tests.store.rows import copy_row


async def test_a_run_says_who_worked_what_under_which_lease(world: World) -> None:
    begun = await world.begin()
    run = begun.run
    assert (run.case_id, run.turn_id, run.attempt, run.resumes) == (begun.case.id, begun.turn.id, 1, None)
    assert (run.agent, run.model, run.tenant) == (WORKER.agent, WORKER.model, "local")
    assert (run.fence, run.started_at, run.outcome) == (begun.lease.fence, world.now, None)


async def test_a_run_that_ended_is_complete(world: World, store: Store) -> None:
    working = await world.working()
    await store.write(cases.set_task_state, world.now, working.case.id, {"checked": ["disk"]}, actor="assistant")
    version = await store.write(prompts.keep, world.now, text="You are …", tools="[]", label="default")
    await store.write(runs.set_prompt, working.run.id, version)
    await store.write(
        steps.start_tool, world.now, working.lease, working.run.id, working.step, deadline=world.now + MINUTE
    )  # fmt: skip
    await store.write(
        runs.end, world.now + MINUTE, working.run.id, Outcome.ERROR, stop_reason="401", error="the key was refused"
    )  # fmt: skip
    run = await store.read(runs.by_id, working.run.id)
    assert (run.outcome, run.stop_reason, run.error) == (Outcome.ERROR, "401", "the key was refused")
    assert (run.ended_at, run.prompt_version, run.task_state) == (world.now + MINUTE, version, {"checked": ["disk"]})
    assert (run.model_calls, run.tool_calls, run.model_reported) == (1, 1, "playbook-1")
    assert (run.input_tokens, run.output_tokens, run.cached_tokens, run.cost_usd) == (100, 20, 10, 0.25)


async def test_what_several_model_calls_used_is_added_up(world: World, store: Store) -> None:
    working = await world.working()
    for reported in (None, "playbook-2", None):
        step = await store.write(
            model_steps.start, world.now, working.lease, working.run, ModelCall("{}", "d", world.now + MINUTE)
        )  # fmt: skip
        usage = replace(USAGE, model_reported=reported)
        await store.write(model_steps.finish, world.now, step, working.run.id, usage, 2)
    run = await store.read(runs.by_id, working.run.id)
    assert (run.model_calls, run.input_tokens, run.cost_usd, run.model_reported) == (4, 400, 1.0, "playbook-2")


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_what_went_to_an_operator_says_so(world: World, store: Store, outcome: Outcome) -> None:
    begun = await world.begin()
    await store.write(runs.end, world.now, begun.run.id, outcome, stop_reason="r")
    assert (await store.read(runs.by_id, begun.run.id)).escalated == (
        outcome in (Outcome.HANDED_OFF, Outcome.LIMIT)
    )  # fmt: skip


async def test_a_run_that_gave_its_case_to_an_operator_says_so_whatever_its_outcome(world: World, store: Store) -> None:
    begun = await world.begin()
    await store.write(runs.end, world.now, begun.run.id, Outcome.ERROR, stop_reason="401", escalated=True)
    assert (await store.read(runs.by_id, begun.run.id)).escalated


async def test_whether_an_earlier_run_of_the_turn_ended_like_this_is_known(world: World, store: Store) -> None:
    begun, other = await world.begin(), await world.begin()
    await store.write(runs.end, world.now, begun.run.id, Outcome.ERROR, stop_reason="429")
    for turn, outcome, reason, known in (
        (begun.turn, Outcome.ERROR, "429", True), (begun.turn, Outcome.ERROR, "500", False),
        (begun.turn, Outcome.LIMIT, "429", False), (other.turn, Outcome.ERROR, "429", False),
    ):  # fmt: skip
        assert await store.read(runs.ended_so, turn.id, outcome, reason) is known


async def test_two_runs_of_a_case_never_overlap(world: World, store: Store) -> None:
    """R10"""
    begun = await world.begin()
    with pytest.raises(ConstraintBroken, match=r"runs\.case_id"):
        await store.write(copy_row, "runs", begun.run.id)


@pytest.mark.parametrize("change", ["ended_at = 1", "outcome = 'answered'"])
async def test_no_raw_run_is_over_without_an_outcome_or_the_other_way_round(
    world: World, store: Store, change: str
) -> None:
    await world.begin()
    with pytest.raises(ConstraintBroken):
        await store.write(Tx.run, f"UPDATE runs SET {change}")


async def test_the_open_run_of_a_case_is_found_while_it_lasts(world: World, store: Store) -> None:
    begun = await world.begin()
    assert await store.read(runs.open_run, begun.case.id) == begun.run
    await store.write(runs.end, world.now, begun.run.id, Outcome.ANSWERED, stop_reason="done")
    assert await store.read(runs.open_run, begun.case.id) is None


async def test_runs_are_listed_the_newest_first(world: World, store: Store) -> None:
    made = [(await world.begin()).run for _ in range(3)]
    assert await store.read(runs.listing, System()) == made[::-1]
    assert await store.read(runs.listing, System(), most=1) == made[-1:]
    assert await store.read(runs.listing, System(), case_id=made[0].case_id) == made[:1]


async def test_a_prompt_is_kept_once_under_the_hash_of_its_text_and_tools(store: Store) -> None:
    """R17"""
    same = [await store.write(prompts.keep, n, text="t", tools="[]", label=f"l{n}") for n in range(2)]
    others = [
        await store.write(prompts.keep, 1, text=text, tools=tools, label="l")
        for text, tools in (("t", "[1]"), ("t[", "]"), ("t ", "[]"))
    ]
    assert len({*same, *others}) == 4
    assert same[0] == same[1]
    assert await store.read(Tx.value, "SELECT label FROM prompts WHERE version = :v", v=same[0]) == "l0"


async def test_calls_refused_for_what_the_model_wrote_are_counted_from_the_end(world: World, store: Store) -> None:
    working = await world.working(*(replace(RESTART, position=n) for n in range(5)))
    results = ["invalid", "invalid", "ok", "invalid", "invalid"]
    for step, kind in zip(working.steps, results, strict=True):
        await store.write(steps.refuse, world.now, None, step, f'{{"kind":"{kind}"}}', why="r")
    assert await store.read(steps.failures_in_a_row, working.turn.id) == 2


async def test_a_call_that_was_refused_keeps_its_one_result(world: World, store: Store) -> None:
    """R7"""
    working = await world.working()
    for n in (1, 2):
        await store.write(steps.refuse, world.now, working.run.id, working.step, f'{{"n":{n}}}', why="denied")
    assert (await store.read(steps.by_id, working.step.id)).result == '{"n":1}'
    assert (await world.trail_kinds(working.case.id)).count("tool.refused") == 1
