"""The spool's file: whatever the disk does to it, what was kept in it whole is found again (R15)."""

from pathlib import Path

import pytest

from bot.degraded.spool import Left, Spool
from casestore.models import CaseId
from tests.degraded.broken import no_file_beyond, spool_of


def entry(number: int) -> Left:
    return Left(case_id=CaseId(number), boot="boot-1")


def test_half_a_line_does_not_spoil_the_one_after_it(tmp_path: Path) -> None:
    db = tmp_path / "c.db"
    spool = Spool(db)
    spool.keep(entry(1))
    with no_file_beyond(spool_of(db).stat().st_size + 10):
        spool.keep(entry(2))
    spool.keep(entry(3))
    assert spool.facts == [entry(1), entry(2), entry(3)]
    assert Spool(db).facts == [entry(1), entry(3)], "the second is in memory only, as was logged"


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    db = tmp_path / "c.db"
    Spool(db).keep(entry(1))
    assert spool_of(db).stat().st_mode & 0o777 == 0o600


def test_it_is_gone_once_nothing_is_left_in_it(tmp_path: Path) -> None:
    db = tmp_path / "c.db"
    spool = Spool(db)
    spool.keep(entry(1))
    spool.drop_fact(entry(1))
    assert not spool_of(db).exists()


def test_a_line_that_a_killed_process_left_half_does_not_spoil_the_one_after_it(tmp_path: Path) -> None:
    db = tmp_path / "c.db"
    Spool(db).keep(entry(1))
    spool_of(db).write_bytes(spool_of(db).read_bytes() + b'{"kind":"le')
    Spool(db).keep(entry(2))
    assert Spool(db).facts == [entry(1), entry(2)]


def test_a_fact_that_is_told_again_and_again_is_written_once(tmp_path: Path) -> None:
    """While the disk is full, the engine tries every second to take up what it left."""
    db = tmp_path / "c.db"
    spool = Spool(db)
    spool.keep(entry(0))
    spool.keep(entry(1))
    size = spool_of(db).stat().st_size
    for _ in range(3):
        spool.keep(entry(1))
        spool.drop_fact(entry(1))
    assert spool_of(db).stat().st_size == size


def test_what_cannot_be_read_is_kept_beside_and_the_file_is_cleared(tmp_path: Path) -> None:
    """It may have been written by another release, and be what a person said."""
    db = tmp_path / "c.db"
    line = b'{"kind":"arrived","of":"a release to come"}'
    spool_of(db).write_bytes(line + b"\n")
    assert not len(Spool(db))
    assert line in spool_of(db).with_name("c.db.spool.refused").read_bytes()
    assert not spool_of(db).exists()


def test_a_file_that_cannot_be_removed_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    db = tmp_path / "c.db"
    spool = Spool(db)
    spool.keep(entry(1))
    spool_of(db).unlink()
    spool_of(db).mkdir()
    spool.drop_fact(entry(1))
    assert "spool.not_removed" in caplog.text
