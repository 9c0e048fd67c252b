"""The prose about a case says of an answer what it was."""

import pytest

from casestore.states import Verb
from tests.loop.cut_off import unknown
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says

RESTART = ("svc.restart", {"service": "a"})


@pytest.mark.parametrize(
    ("verb", "told"),
    [
        (Verb.APPROVE, "kim approved it (at night)."),
        (Verb.DENY, "kim denied it (at night)."),
        (Verb.REVISE, "kim sent it back for revision (at night)."),
    ],
)
async def test_of_what_was_asked(rig: Rig, verb: Verb, told: str) -> None:
    rig.model.then(calls(RESTART), says("So be it."))
    case = await rig.say("It hangs")
    await rig.work()
    await rig.decide(case, verb, reason="at night")
    await rig.work()

    assert f'A person was asked: Restart "a". {told}' in ((await rig.case(case)).paraphrase or "")


@pytest.mark.parametrize(
    ("verb", "told"),
    [(Verb.HAPPENED, "kim said that it happened."), (Verb.NOT_HAPPENED, "kim said that it did not happen.")],
)
async def test_of_whether_it_happened(rig: Rig, verb: Verb, told: str) -> None:
    case = await unknown(rig)
    rig.model.then(says("I see."))
    await rig.decide(case, verb)
    await rig.work()

    assert told in ((await rig.case(case)).paraphrase or "")
