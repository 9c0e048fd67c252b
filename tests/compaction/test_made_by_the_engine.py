"""What the engine makes of older turns where no model writes: bounded, the newest whole, under its own name (R19)."""

from bot.settings import Settings
from bot.settings.sections import Limits
from casestore.models import Case
from tests.compaction.stored import compactions_of, model_steps_of
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig
from tests.loop.scripted import says

_MOST = 1_500
TOKENS = Limits(window_turns=4, window_tokens=_MOST * 2)


async def told(rig: Rig, turns: int) -> Case:
    """A case with so many questions of long words, each answered in as many."""
    case: Case | None = None
    for number in range(1, turns + 1):
        rig.model.then(says(f"answer {number} {'a' * 100} end-{number}"))
        case = await rig.say(f"question {number} {'q' * 100} end-{number}")
        await rig.work(deliver=False)
    assert case is not None
    return case


async def test_it_keeps_the_newest_of_what_was_said_whole_and_never_grows_beyond_its_room(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(limits=TOKENS))
    rig.named = "playbook"
    await rig.restart()
    kept = await compactions_of(rig, await told(rig, 25))

    assert len(kept) > 5
    assert max(len(one.text) for one in kept) <= _MOST
    assert all("[…]" not in one.text for one in kept), "a line that does not fit is left out, and none is cut"
    last = kept[-1].text
    assert len(last) > _MOST - 300, "what room there is is used"
    lines = [line.removeprefix("| ") for line in last.splitlines() if "- " in line]
    newest = int(lines[-1].rpartition("end-")[2])
    expected = [f"end-{number}" for number in range(newest, 0, -1) for _ in ("answer", "question")]
    assert [f"end-{line.rpartition('end-')[2]}" for line in reversed(lines)] == expected[: len(lines)]


async def test_whose_words_they_are_stands_above_them(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(limits=TOKENS))
    rig.model.shorter += [says("They talked."), TimeoutError()]
    first, second, *_ = await compactions_of(rig, await told(rig, 8))

    assert (first.made_by, second.made_by) == ("model", "engine")
    assert first.text.startswith("system: The older part of this case, as the model made it shorter;")
    assert second.text.startswith("system: The older part of this case, made shorter;")


async def test_the_call_for_it_has_the_time_that_a_model_has(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(limits=TOKENS))
    rig.model.shorter.append(says("They talked."))
    case = await told(rig, 6)
    (asked,) = [step for step in await model_steps_of(rig, case) if "compacts" in (step.request or {})]
    assert asked.deadline is not None
    assert asked.started_at is not None
    assert asked.deadline - asked.started_at == rig.settings.model.timeout
