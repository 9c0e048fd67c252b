"""A thousand answers to one gate at the same moment: one wins, and every other hears whose it was (R5)."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from casestore import principals, trail
from casestore.db import Store
from casestore.deciding import Decided
from casestore.models import Principal
from casestore.scope import System
from casestore.states import GateState, Role, Verb
from tests.conftest import World
from tests.store.processes import race

PROCESSES, LOOPS, EACH = 4, 2, 125

DECIDE = """
import threading
from casestore import deciding, principals
from casestore.deciding import Decided, Decision
from casestore.scope import System
from casestore.states import Verb

begin = threading.Barrier(ARGS["loops"] + 1)
answers = []

async def answer(store, number):
    who = await store.read(principals.get, ARGS["deciders"][number % len(ARGS["deciders"])])
    decision = Decision(Verb.APPROVE if number % 2 else Verb.DENY, ARGS["digest"], "web")
    said = await store.write(deciding.decide, ARGS["now"] + number, System(), ARGS["gate"], who, decision)
    because = "decided" if isinstance(said, Decided) else str(said.because)
    answers.append([because, number, said.gate.decided_by, said.gate.decided_at, str(said.gate.state)])

async def loop(first):
    store = await open_store(DB, nonce, serves=ARGS["serves"])
    begin.wait()
    await asyncio.gather(*(answer(store, first + n) for n in range(ARGS["each"])))
    await store.close()

def main():
    firsts = [ARGS["first"] + n * ARGS["each"] for n in range(ARGS["loops"])]
    threads = [threading.Thread(target=lambda first=first: asyncio.run(loop(first))) for first in firsts]
    for thread in threads:
        thread.start()
    wait_for_the_others()
    begin.wait()
    for thread in threads:
        thread.join()
    print(json.dumps(answers))

main()
"""


@pytest.fixture
async def deciders(world: World, store: Store) -> list[Principal]:
    """Eight who may decide."""
    return [
        await store.write(principals.add, world.now, tenant="local", name=f"op{n}", role=Role.OPERATOR)
        for n in range(8)
    ]


async def test_of_a_thousand_answers_from_several_processes_exactly_one_wins(
    world: World, store: Store, db: Path, deciders: list[Principal]
) -> None:
    asked = await world.ask()
    shared = {
        "gate": asked.gate.id, "digest": asked.gate.digest_shown, "deciders": [who.id for who in deciders],
        "now": world.now, "loops": LOOPS, "each": EACH,
    }  # fmt: skip
    racers = [{**shared, "first": n * LOOPS * EACH, "serves": n % 2 == 0} for n in range(PROCESSES)]
    said = cast("list[list[list[object]]]", await asyncio.to_thread(race, DECIDE, db, racers))
    answers = [tuple(answer) for process in said for answer in process]
    gate = await world.gate(asked.gate.id)
    won = [answer for answer in answers if answer[0] == "decided"]
    assert len(answers) == PROCESSES * LOOPS * EACH == 1000
    assert len(won) == 1
    number = cast("int", won[0][1])
    assert gate.state is (GateState.APPROVED if number % 2 else GateState.DENIED)
    assert (gate.decided_by, gate.decided_at) == (deciders[number % len(deciders)].id, world.now + number)
    heard = {(because, by, at, state) for because, _, by, at, state in answers if because != "decided"}
    assert heard == {("already_decided", gate.decided_by, gate.decided_at, gate.state)}
    kinds = await world.trail_kinds(asked.case.id)
    assert len([kind for kind in kinds if kind in ("gate.approved", "gate.denied")]) == 1
    assert (await store.read(trail.verify, System(), asked.case.id)).problems == ()


@pytest.mark.parametrize("verbs", [(Verb.APPROVE, Verb.DENY), (Verb.DENY, Verb.APPROVE), (Verb.APPROVE, Verb.APPROVE)])
async def test_of_two_clicks_in_one_commit_the_first_wins(
    world: World, deciders: list[Principal], verbs: tuple[Verb, Verb]
) -> None:
    asked = await world.ask()
    first, second = await asyncio.gather(
        *(world.decide(asked.gate, who, verb) for who, verb in zip(deciders, verbs, strict=False))
    )
    assert isinstance(first, Decided)
    assert not isinstance(second, Decided)
    assert second.gate == first.gate
    assert first.gate.decided_by == deciders[0].id
