"""A request never holds a call without its result, whatever happened before it: any history, any window (R7, R19)."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.errors import Refused
from bot.settings.sections import Limits
from bot.turns import advance
from casestore.errors import MoveRefused
from casestore.models import Case, Gate
from casestore.states import GateKind, StepState, Verb, WaitingOn
from tests.loop.rig import HOUR, Killed, Rig
from tests.models.rig import PROVIDERS, Asked, answering, settings_for
from tests.wire.scripted import Answer, Cut, Fault, Line, words

CALLS = st.lists(
    st.sampled_from([
        ("look", '{"at": "/"}'), ("note", '{"text": "x"}'), ("svc__restart", '{"service": "nginx"}'),
        ("wipe", '{"place": "/tmp"}'), ("no_such", "{}"), ("no such tool", "{}"), ("look", '{"at": 3}'),
        ("broken", "{}"), ("case__ask_requester", '{"question": "Which?"}'), ("case__hand_off", '{"reason": "hard"}'),
        ("case__resolve", '{"note": "done"}'),
    ]),
    min_size=1, max_size=4,
)  # fmt: skip


@st.composite
def _calling(draw: st.DrawFn) -> Answer:
    wanted = draw(CALLS)
    ids = draw(st.sampled_from([(), ("same",) * len(wanted), tuple("x" * 60 + str(n) for n in range(len(wanted)))]))
    finish = draw(st.sampled_from(["tool_calls", "tool_calls", "tool_calls", "length", "content_filter"]))
    return Answer(draw(st.sampled_from([None, "So."])), wanted, finish, ids=ids)


LINES = st.one_of(
    _calling(), _calling(), _calling(),
    st.sampled_from([words("Done."), words("", "length"), Answer(), words("x", "content_filter"),
                     Fault(400), Fault(500), Cut()]),
)  # fmt: skip


@dataclass(frozen=True)
class Kill:
    """Somebody says something, and the process is gone right before or right after a transaction of the work on it."""

    at: Callable[..., object]
    after: bool
    lines: Sequence[Line]


POINTS = st.sampled_from([
    advance.begin, advance.respond, advance.finished, advance.all_finished, advance.no_response, advance.put_off,
])  # fmt: skip
MOVES = st.one_of(
    st.lists(LINES, min_size=1, max_size=4),
    st.builds(Kill, POINTS, st.booleans(), st.lists(LINES, min_size=1, max_size=4)),
    st.sampled_from(["approve", "approve", "deny", "revise"]),
    st.sampled_from(["restart", "day", "take", "release", "resolve", "close", "say"]),
)
OF_AN_OUTCOME = {Verb.APPROVE: Verb.HAPPENED, Verb.DENY: Verb.NOT_HAPPENED, Verb.REVISE: Verb.RERUN}
Move = Sequence[Line] | Kill | str


@pytest.mark.parametrize("provider", list(PROVIDERS))
@given(moves=st.lists(MOVES, min_size=1, max_size=8), window=st.integers(1, 4))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_the_provider_takes_every_request_and_the_next_message_is_answered(
    provider: str, moves: Sequence[Move], window: int
) -> None:
    asyncio.run(_happens(provider, moves, window))


async def _happens(provider: str, moves: Sequence[Move], window: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with PROVIDERS[provider]() as server:
            server.otherwise = words("Now I am here.")
            named = settings_for(server).model_copy(update={"limits": Limits(window_turns=window)})
            async with answering(Path(folder) / "casebound.db", named) as rig:
                case = await Asked(rig, server).say("Help!")
                for move in moves:
                    before, case = case, await _move(Asked(rig, server), case, move)
                    assert server.refused == []
                    assert await _owed(rig, before) + await _owed(rig, case) == []
                await _answered_after_all(Asked(rig, server), case)


async def _move(asked: Asked, case: Case, move: Move) -> Case:
    rig = asked.rig
    if isinstance(move, Kill):
        return await _killed(asked, case, move)
    if not isinstance(move, str):
        return await asked.say("More.", *move)
    try:
        match move:
            case "approve" | "deny" | "revise":
                if (gate := await rig.open_gate(case)) is not None:
                    await _decided(rig, gate, case, Verb(move))
            case "restart":
                await rig.restart()
            case "day":
                rig.clock.pass_by(25 * HOUR)
            case "say":
                await rig.say("And another thing.")
            case _:
                await getattr(rig, move)(case)
    except (MoveRefused, Refused):
        return case  # not a move that can be made now
    await rig.work()
    return case


async def _owed(rig: Rig, case: Case) -> list[str]:
    """The calls of turns that are over which have no result; one that is being made may come back yet."""
    over = {turn.id for turn in await rig.turns(case) if turn.settled_at is not None}
    open_calls = [step for step in await rig.steps(case) if step.turn_id in over and step.result is None]
    return [f"{step.tool}: {step.state}" for step in open_calls if step.state is not StepState.STARTED]


async def _killed(asked: Asked, case: Case, kill: Kill) -> Case:
    """What it would have said is not said any more: the next process meets a model that only says where it is."""
    asked.rig.die(**{"after" if kill.after else "before": kill.at})
    try:
        case = await asked.say("And then?", *kill.lines)
    except Killed:
        asked.server.script.clear()
    await asked.rig.restart()
    await asked.rig.work()
    return case


async def _decided(rig: Rig, gate: Gate, case: Case, verb: Verb) -> None:
    """An outcome has words of its own (design, section 6)."""
    await rig.decide(case, OF_AN_OUTCOME[verb] if gate.kind is GateKind.OUTCOME else verb, reason="So it is.")


async def _answered_after_all(asked: Asked, case: Case) -> None:
    rig = asked.rig
    asked.server.script.clear()
    if (await rig.case(case)).waiting_on is WaitingOn.HUMAN:
        await rig.release(case)
    await _free(rig, case)
    rig.clock.pass_by(HOUR)
    await rig.work()
    case = await asked.say("And now?")  # where something waits yet, this is answered beside it
    await _free(rig, case)
    asked.server.otherwise = words("I am.")
    await asked.say("Are you there?")
    assert asked.server.refused == []
    assert await _owed(rig, case) == []
    assert rig.posted()[-1] == "I am."


async def _free(rig: Rig, case: Case) -> None:
    """Deny what waits, until nothing does."""
    while (gate := await rig.open_gate(case)) is not None:
        await _decided(rig, gate, case, Verb.DENY)
        await rig.work()
        following = await rig.open_gate(case)
        assert following is None or following.id != gate.id
