"""Where no file can grow any further (EFBIG), nobody is told "done" whose row is not there, then or later (R15).

Some of the lengths, chosen by a seed. `make disk` takes every one.
"""

import random
from collections.abc import Generator

import pytest

from tests import empty_store
from tests.faults.disk.acts import SCENARIOS
from tests.faults.disk.sweep import Sweep, schema_of_new

SEED = 20_261_201
MOST = {"single": 10, "group": 20, "checkpoint": 8, "close": 6, "opening": 8}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Generator[Sweep]:
    """Who acts under a limit, once for all."""
    folder = tmp_path_factory.mktemp("limits")
    made = Sweep(folder, None, empty_store.migrated(), schema_of_new(folder, empty_store.migrated()))
    yield made
    made.end()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_file_that_cannot_grow_breaks_no_promise(sweep: Sweep, scenario: str) -> None:
    plans = random.Random(SEED).sample(sweep.limits(scenario), MOST[scenario])
    swept = sweep.sweep(plans)
    assert sum(swept.acted.values()) == swept.looked == len(plans)
    assert swept.broken == []
    if scenario in ("single", "group"):
        assert swept.told["StoreUnavailable"] >= len(plans), "each of them hit somebody"


def test_what_found_no_room_in_a_common_commit_is_told_one_by_one(sweep: Sweep) -> None:
    """There is room for one of the five that share a commit: it is there, and no part of the others is."""
    plan = next(plan for plan in sweep.limits("group") if plan.n >= 60_000 and not plan.ends)
    ((_, outcome),) = sweep.act([plan])
    told = dict(outcome.told)
    assert [told[f"g{n}"] for n in range(5)] == ["done", "StoreUnavailable", "raised", *["StoreUnavailable"] * 2]
    assert outcome.seen == ["before", "g0"]
