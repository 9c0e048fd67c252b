"""A first start makes what belongs to a file, each part whole or not at all, wherever it is cut off."""

import os
import stat
from pathlib import Path

import pytest

from bot import first_start
from bot.app import running
from bot.settings import Settings, load
from casestore.errors import ServiceRunning
from casestore.locks import ServiceLock
from casestore.migrate import migrate


class CutOff(BaseException):
    """The process is killed."""


def cut_off(*_: object, **__: object) -> None:
    raise CutOff


@pytest.fixture
def db(here: Path) -> Path:
    """Where the file will be."""
    return here / "casebound.db"


@pytest.fixture
def settings(db: Path) -> Settings:
    """No token is set."""
    return load(service={"db": db})


def files(folder: Path) -> list[str]:
    """Everything in the practice cache."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("left", ["", "\n", "  \n"])
def test_a_blank_token_file_is_a_missing_one(settings: Settings, db: Path, left: str) -> None:
    """R24: an empty token would let everybody in."""
    first_start.token_file(db).write_text(left)
    token = first_start.api_token(settings, db)
    assert len(token) > 40
    assert first_start.token_file(db).read_text().strip() == token
    assert first_start.api_token(settings, db) == token


@pytest.mark.parametrize("step", ["fdopen", "fsync", "replace"])
def test_a_start_cut_off_while_it_makes_the_token_leaves_none(
    settings: Settings, db: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as at_the_kill:
        at_the_kill.setattr(Path if step == "replace" else os, step, cut_off)
        with pytest.raises(CutOff):
            first_start.api_token(settings, db)
    assert not first_start.token_file(db).exists()
    token = first_start.api_token(settings, db)
    assert first_start.api_token(settings, db) == token != ""
    assert stat.S_IMODE(first_start.token_file(db).stat().st_mode) == 0o600
    assert [path.name for path in db.parent.iterdir()] == [first_start.token_file(db).name]


async def test_a_start_cut_off_while_it_fills_the_practice_cache_is_finished_by_the_next(
    settings: Settings, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = Path.write_bytes, iter(range(2))

    def dying(path: Path, data: bytes) -> int:
        if next(left, None) is None:
            raise CutOff
        return write(path, data)

    with monkeypatch.context() as at_the_kill:
        at_the_kill.setattr(Path, "write_bytes", dying)
        with pytest.raises(CutOff):
            async with running(settings, name="one that is killed"):
                pass
    assert not db.exists()
    async with running(settings, name="the next"):
        pass
    assert len(files(first_start.demo_cache(db))) == 4
    assert not list(db.parent.glob("*.new"))


async def test_a_practice_cache_that_was_taken_away_does_not_come_back(settings: Settings, db: Path) -> None:
    async with running(settings, name="the first"):
        pass
    first_start.demo_cache(db).rename(db.parent / "elsewhere")
    async with running(settings, name="the second"):
        pass
    assert not first_start.demo_cache(db).exists()


async def test_whoever_does_not_hold_the_service_lock_makes_nothing(settings: Settings, db: Path) -> None:
    held = ServiceLock.take(db, "another process")
    with pytest.raises(ServiceRunning):
        async with running(settings, name="a second one"):
            pass
    held.release()
    assert [path.name for path in db.parent.iterdir()] == ["casebound.db.service"]


@pytest.mark.parametrize("left", ["nothing", "an empty file", "a file without principals"])
async def test_a_start_after_one_that_was_cut_off_is_still_the_first(settings: Settings, db: Path, left: str) -> None:
    """A full disk or a kill leaves a file in which there is nothing to continue; nothing is "continued"."""
    if left == "an empty file":
        db.touch()
    elif left == "a file without principals":
        migrate(db)
    for first in (True, False):
        async with running(settings, name="a") as service:
            assert service.first_start == first


async def test_a_running_service_holds_on_to_its_lock(settings: Settings, db: Path) -> None:
    """Somebody removes the lock's file: with its next write the service holds the new one."""
    async with running(settings, name="the first") as service:
        db.with_name(db.name + ".service").unlink()
        await service.store.write(lambda tx: tx.integer("SELECT 1"))
        with pytest.raises(ServiceRunning, match="the first"):
            ServiceLock.take(db, "the second")
