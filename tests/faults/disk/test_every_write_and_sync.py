"""Whichever write or sync fails, nobody is told "done" whose row is not there, and the store goes on (R15).

Some of the writes, chosen by a seed, and every sync. `make disk` takes every write too.
"""

import random
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.faults.disk import shim
from tests.faults.disk.acts import SCENARIOS
from tests.faults.disk.power import image, nothing, read
from tests.faults.disk.sweep import SYNCS, WRITES, Sweep, schema_of_new

pytestmark = pytest.mark.skipif(shim.missing() is not None, reason=str(shim.missing()))

SEED = 20_260_730
MOST_WRITES = 8


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory, new_file: bytes) -> Generator[Sweep]:
    """The shim and who acts under it, once for all."""
    folder = tmp_path_factory.mktemp("sweep")
    made = Sweep(folder, shim.build(folder), new_file, schema_of_new(folder, new_file))
    yield made
    made.end()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_failing_write_breaks_no_promise(sweep: Sweep, scenario: str) -> None:
    plans = random.Random(SEED).sample(sweep.plans(scenario, WRITES), MOST_WRITES)
    swept = sweep.sweep(plans)
    assert sum(swept.hit.values()) == MOST_WRITES
    assert swept.broken == []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_failing_sync_breaks_no_promise(sweep: Sweep, scenario: str) -> None:
    plans = sweep.plans(scenario, SYNCS)
    swept = sweep.sweep(plans)
    assert sum(swept.hit.values()) == len(plans) > 1
    assert swept.broken == []


def test_a_failed_commit_leaves_the_outcome_unknown_only_to_a_process_that_ends(sweep: Sweep) -> None:
    """The words of `StoreUnavailable`, both halves: here the sync of `a` fails, and the store is closed and opened."""
    close, single = (
        next(plan for plan in sweep.plans(scenario, SYNCS) if plan.n == 0 and plan.good == (scenario == "close"))
        for scenario in ("close", "single")
    )
    ((_, ended),) = sweep.act([close])
    assert ("a", "StoreUnavailable") in ended.told
    assert ended.seen == ["a", "before"], "it was whole in the WAL all the same"
    ((_, going_on),) = sweep.act([single])
    assert ("a", "StoreUnavailable") in going_on.told
    assert going_on.seen == ["b", "before"]


def test_the_shim_sees_what_sqlite_writes(sweep: Sweep, tmp_path: Path) -> None:
    """Without this a shim that SQLite goes around would find every promise kept."""
    for plan, outcome in sweep.act([sweep.unharmed("close")]):
        assert outcome.counted > 20
        acts = read(Path(plan.log))
        assert {act.op for act in acts} == {"w", "t", "s", "u", "m"}
        last = max(n for n, act in enumerate(acts) if act.op == "s" and act.file == 1) + 1
        left = image({0: sweep.new_file}, acts[:last], nothing)
        placed = Path(plan.db)
        assert left[0] == placed.read_bytes(), "what was synced is what is there"
        assert left[1] == placed.with_name(placed.name + "-wal").read_bytes()


def test_a_first_start_cut_off_in_the_middle_of_its_first_page_is_finished_by_the_next(sweep: Sweep) -> None:
    """It leaves a journal to be rolled back, which whoever only looks at the version may not do."""
    plans = [plan for plan in sweep.plans("opening", WRITES) if plan.n < 4 and plan.half and plan.good]
    swept = sweep.sweep(plans)
    assert swept.told["StoreUnusable"] == len(plans) == 4
    assert swept.broken == []
