"""A case costs what it needs, not what it has (R19): rows read, what is sent, and work of SQLite, young and old."""

from dataclasses import dataclass

import pytest

from bot.retelling import compaction
from bot.settings import Settings
from bot.settings.sections import Limits
from bot.turns import window
from casestore import transcript
from casestore.models import Case, Step
from casestore.tx import Tx
from tests.compaction.stored import compactions_of, lived, model_steps_of
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig
from tests.loop.scripted import unpaired
from tests.store.inside import on_writer

FIRST = 1_001
"""So that the numbers of all questions are of one length."""


@dataclass(frozen=True)
class Cost:
    """Of one more turn in a new process: rows of each window, messages and characters sent, work of the store."""

    rows: tuple[int, ...]
    sent: tuple[int, ...]
    characters: int
    work: int
    shortened: int
    """How often older turns were made shorter."""


def rows_of(tx: Tx, step: Step) -> int:
    return len(window.rebuild(tx, step).lines)


async def resumed(rig: Rig, turn: int) -> tuple[Case, Cost]:
    """One more turn, by a process that has just started."""
    await rig.restart()
    rig.model.sent.clear()
    rig.model.shortened.clear()
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    await on_writer(rig.store, lambda conn: conn.set_progress_handler(count, 1))
    case = await lived(rig, 1, first=turn)
    await on_writer(rig.store, lambda conn: conn.set_progress_handler(None, 0))
    asked = (await model_steps_of(rig, case))[-2:]
    return case, Cost(
        rows=tuple([await rig.store.read(rows_of, step) for step in asked]),
        sent=tuple(len(messages) for messages in rig.model.sent),
        characters=sum(len(window.dump(message)) for message in rig.model.sent[-1]),
        work=counted,
        shortened=len(rig.model.shortened),
    )


@pytest.mark.timeout(180)
@pytest.mark.parametrize("turns", [100, pytest.param(1_000, marks=pytest.mark.slow)])
async def test_an_old_case_is_resumed_with_what_one_of_fifty_turns_needs(make_rig: MakeRig, turns: int) -> None:
    rig = await make_rig()
    await lived(rig, 49, first=FIRST)
    case, young = await resumed(rig, FIRST + 49)
    _, young_again = await resumed(rig, FIRST + 50)
    await lived(rig, turns - 52, first=FIRST + 51)
    _, old = await resumed(rig, FIRST + turns - 1)
    _, old_again = await resumed(rig, FIRST + turns)

    assert len(await rig.turns(case)) == turns + 1
    assert (young.shortened, young_again.shortened) == (0, 1)  # the second turn of each pair is one that makes shorter
    for one, other in ((young, old), (young_again, old_again)):
        assert (other.rows, other.sent, other.shortened) == (one.rows, one.sent, one.shortened)
        assert other.characters < 1.01 * one.characters  # the numbers of its turns and calls have more digits
        assert max(other.rows) <= 1 + 4 * rig.settings.limits.window_turns
        assert other.work < 1.05 * one.work
    assert len(await rig.store.read(transcript.between, case.id, 1, None)) == 4 * (turns + 1)  # all of it stays


async def test_in_every_turn_the_window_stays_below_what_the_limits_allow(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(limits=Limits(window_tokens=2_000)))
    rig.effects.answer("look", *["x" * 900] * 30)
    case = await lived(rig, 30)

    assert len(await compactions_of(rig, case)) > 2
    for step in await model_steps_of(rig, case):
        if not compaction.is_one(step):
            assert compaction.size(await rig.store.read(window.rebuild, step), rig.desk.prompt) <= 2_000
    assert all(unpaired(sent) == [] for sent in rig.model.sent)
