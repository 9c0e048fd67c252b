"""A message, a takeover and the end of a run in one instant, in every order: nothing is lost or said over a person.

Parking and dropping the lease are one transaction, as settling and dropping it are; both are raced with (R11, R12).
"""

import asyncio
from collections.abc import Callable
from itertools import permutations

import pytest

from bot.turns import advance
from casestore import leases
from casestore.states import LeaseKind
from casestore.turns import Begun
from tests.faults.races.soundness import faults
from tests.loop.conftest import MakeRig
from tests.loop.rig import Rig
from tests.loop.scripted import Line, calls, said, says

ENDS: dict[str, Line] = {"settles": says("First."), "parks": calls(("svc.restart", {"service": "a"}))}


def in_this_order(rig: Rig, order: tuple[str, ...]) -> None:
    """Have the three asked for in one commit, with the next run of `respond`."""
    write = rig.store.write

    async def together(fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        if fn is not advance.respond:
            return await write(fn, *args, **kwargs)
        setattr(rig.store, "write", write)  # noqa: B010 - see Rig.die
        lease_of = args[2]
        assert isinstance(lease_of, Begun)
        does = {
            "message": lambda: rig.say("two"),
            "takeover": lambda: rig.take(lease_of.case),
            "run": lambda: write(fn, *args, **kwargs),
        }
        done = {what: rig.start(does[what]()) for what in order}
        await asyncio.gather(*done.values())
        return done["run"].result()

    setattr(rig.store, "write", together)  # noqa: B010 - see Rig.die


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("order", list(permutations(["message", "takeover", "run"])), ids="-".join)
async def test_message_takeover_and_the_end_of_a_run_in_every_order(
    make_rig: MakeRig, order: tuple[str, ...], end: str
) -> None:
    rig = await make_rig(ENDS[end], says("At last."), says("At last."))
    case = await rig.say("one")
    in_this_order(rig, order)
    await rig.conductor.work(case.id)
    assert await rig.store.read(faults) == []
    await rig.work()

    assert (await rig.store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN
    assert await rig.open_gate(case) is None
    # held back while a person has the case; a next turn that had begun by then has asked the model and is not heard
    assert not {"First.", "At last."} & set(rig.posted())
    assert len(rig.model.sent) == (2 if (*order, end) == ("message", "run", "takeover", "settles") else 1)
    await rig.release(case)
    await rig.work()

    assert [text for text in said(rig.model.sent[-1]) if text.endswith(("one", "two"))] == [
        "ann (requester): one",
        "ann (requester): two",
    ]
    assert rig.effects.made == []
    assert rig.posted()[-1] == "At last."
    assert await rig.store.read(faults, at_rest=True) == []
