"""What a turn costs does not grow with the age of the case (R19), counted in instructions of SQLite's machine."""

from pathlib import Path

from bench.installation import Installation, installed
from bench.speed import WARM, at_once
from tests.store.inside import on_writer

FREE_TURNS = 4
"""After one with a gate come four without."""


async def effort(installation: Installation) -> int:
    """The instructions that the writer's connection runs for four turns."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    await on_writer(installation.store, lambda conn: conn.set_progress_handler(count, 1))
    await at_once(installation, 1, FREE_TURNS)
    await on_writer(installation.store, lambda conn: conn.set_progress_handler(None, 0))
    return counted


async def test_a_turn_of_an_old_case_is_no_more_work_than_one_of_a_young_case(tmp_path: Path) -> None:
    async with installed(tmp_path / "c.db") as installation:
        await at_once(installation, 1, WARM)
        young = await effort(installation)
        await at_once(installation, 1, 76)
        old = await effort(installation)
    print(young, old)
    assert old < 1.02 * young
