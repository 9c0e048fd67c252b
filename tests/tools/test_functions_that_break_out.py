"""Functions of an installation that do to the service what a function can do: none of it ends the service or a case."""

import pytest

from bot.tools.results import CallResult
from casestore.states import Outcome
from tests.loop.conftest import MakeRig
from tests.loop.rig import checked
from tests.loop.scripted import calls, returned, says
from tests.tools.own_module import HEAD, Write, served

ENDS = (
    HEAD
    + """
@tool("End", tier=Tier.{tier})
async def ends() -> object:
    "End."
    {does}
"""
)
CANCELS = "task = asyncio.ensure_future(asyncio.sleep(60)); task.cancel(); await task"


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("sys.exit(3)", "it failed unexpectedly (SystemExit)"),
        ("raise KeyboardInterrupt", "it failed unexpectedly (KeyboardInterrupt)"),
        (CANCELS, "it broke off by itself"),
    ],
    ids=["exits", "interrupts", "cancels"],
)
async def test_one_that_would_end_the_service_has_failed_and_the_case_goes_on(
    make_rig: MakeRig, write: Write, does: str, told: str
) -> None:
    rig = await served(make_rig, write(ENDS.format(tier="READ_ONLY", does=does)))
    rig.model.then(calls(("ends", {}), ("ends", {})), says("It failed."))
    case = await rig.say("end it")
    await rig.work()
    assert [CallResult.load(step.result or "").content for step in await rig.steps(case)] == [told, told]
    assert (await rig.texts(case))[-1] == "It failed."
    await checked(rig.store, case)


async def test_one_with_an_effect_that_cancels_itself_leaves_its_outcome_to_a_person(
    make_rig: MakeRig, write: Write
) -> None:
    """R14: what it waited for may have been done."""
    rig = await served(make_rig, write(ENDS.format(tier="ROUTINE", does=CANCELS)))
    rig.model.then(calls(("ends", {})))
    case = await rig.say("end it")
    await rig.work()
    assert (await rig.gate(case)).kind == "outcome"


@pytest.mark.parametrize("depth", [120, 200, 240, 400, 900, 10_000])
async def test_a_result_nested_too_deeply_for_a_request_is_shown_as_text_and_the_case_goes_on(
    make_rig: MakeRig, write: Write, depth: int
) -> None:
    """R13: what could not be read again would keep the case from ever going on."""
    nest = f"value = 'the end'\n    for _ in range({depth}):\n        value = {{'a': value}}\n    return value"
    rig = await served(make_rig, write(ENDS.format(tier="READ_ONLY", does=nest)))
    rig.model.then(calls(("ends", {})), says("It is deep."))
    case = await rig.say("nest it")
    await rig.work()
    assert (await rig.texts(case))[-1] == "It is deep."
    assert isinstance(returned(rig.model.sent[-1])[0], str)
    rig.model.then(says("Still here."))
    await rig.say("and now?")
    await rig.restart()
    await rig.work()
    assert (await rig.texts(case))[-1] == "Still here."
    await checked(rig.store, case)


@pytest.mark.parametrize(
    "returns",
    ["10 ** 5_000", "{'n': [10 ** 5_000]}", "type('Odd', (), {'__str__': lambda self: 1 / 0})()"],
    ids=["huge", "huge-inside", "odd"],
)
async def test_an_effect_whose_result_cannot_be_written_down_was_made_all_the_same(
    make_rig: MakeRig, write: Write, returns: str
) -> None:
    """R16: that it failed would be a lie, upon which it is made again."""
    rig = await served(make_rig, write(ENDS.format(tier="ROUTINE", does=f"return {returns}")))
    rig.model.then(calls(("ends", {})), says("Done."))
    case = await rig.say("do it")
    await rig.work()
    (step,) = await rig.steps(case)
    result = CallResult.load(step.result or "")
    assert (step.state, result.kind) == ("finished", "ok")
    assert "that cannot be written down" in str(result.content)
    assert (await rig.runs(case))[0].outcome is Outcome.ANSWERED
