"""The spool's file: whatever the disk does to it, what was kept in it whole is found again (R15)."""

from pathlib import Path

from bot.spool import Left, Spool
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
