"""What cannot be read, as the disk fails or pages make no sense, is never "no such case", and nothing is done (R15)."""

import random
import re
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from socket import gethostname

import pytest

from tests.alerts.notifications import alert, body
from tests.faults.disk import shim
from tests.faults.disk.commands import Commands, Did

pytestmark = pytest.mark.skipif(shim.missing() is not None, reason=str(shim.missing()))

SEED = 20_261_202
PAGE = 4_096
LOOKING = [
    ("case", "list", "--all", "--json"), ("case", "show", "C-1001", "--json"), ("gate", "show", "1", "--json"),
    ("trail", "verify", "C-1002", "--json"), ("run", "list", "--json"), ("db", "check"),
]  # fmt: skip
ACTING = [("gate", "approve", "1"), ("case", "say", "C-1001", "and more")]
HOW: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda page: bytes(len(page)),
    "random": lambda page: random.Random(SEED).randbytes(len(page)),
    "its second half is random": lambda page: page[: PAGE // 2] + random.Random(SEED).randbytes(PAGE // 2),
}

Fresh = Callable[[], Path]


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Generator[Commands]:
    """The command under the shim, loaded once for all."""
    made = Commands(shim.build(tmp_path_factory.mktemp("shim")))
    yield made
    made.end()


@pytest.fixture(scope="module")
def lived_in(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a conversation, C-1001, and an alert's case that waits at gate 1, C-1002."""
    folder = tmp_path_factory.mktemp("lived_in")
    (folder / "alert.json").write_bytes(body(alert(gethostname(), labels={"mountpoint": str(folder)})))
    for arguments in (("chat",), ("alert", "send", "alert.json"), ("chat",)):
        assert commands(folder, *arguments, stdin="hello\n").code == 0
    assert commands(folder, "gate", "show", "1", "--json").code == 0
    return folder


@pytest.fixture
def fresh(lived_in: Path, tmp_path: Path) -> Fresh:
    """A copy of it, another each time."""
    numbers = iter(range(1_000))
    return lambda: shutil.copytree(lived_in, tmp_path / str(next(numbers)))


def is_clear(did: Did) -> bool:
    """One line that says what to do, and nothing on stdout that could be taken for an answer."""
    assert did.code == 1, did
    assert did.err.count("\n") == 1, did.err
    assert re.search(r"Try again|Check |restore a backup", did.err), did.err
    assert not re.search(r"No case|No gate|There is no|nobody foresaw|Traceback", did.err), did.err
    return True


@pytest.mark.parametrize("arguments", LOOKING, ids=" ".join)
def test_a_disk_that_cannot_be_read_any_more_is_said_and_nothing_is_shown(
    commands: Commands, fresh: Fresh, arguments: tuple[str, ...]
) -> None:
    unharmed = commands(fresh(), *arguments, unreadable_from=-1)
    assert (unharmed.code, unharmed.err) == (0, "")
    assert unharmed.reads > 10, "without this a shim that SQLite goes around would find nothing"
    for n in (0, *random.Random(SEED).sample(range(1, unharmed.reads), 1), unharmed.reads - 1):
        did = commands(fresh(), *arguments, unreadable_from=n)
        assert is_clear(did)
        assert arguments[:2] == ("db", "check") or did.out == ""


@pytest.mark.parametrize("arguments", ACTING, ids=" ".join)
def test_who_acts_while_nothing_can_be_read_has_either_done_it_or_is_told_and_nothing_is_done(
    commands: Commands, fresh: Fresh, arguments: tuple[str, ...]
) -> None:
    def stands(folder: Path) -> tuple[str, ...]:
        return tuple(commands(folder, *look).out for look in LOOKING[:3])

    reads = commands(fresh(), *arguments, unreadable_from=-1).reads
    before = stands(fresh())
    for n in (0, *random.Random(SEED).sample(range(1, reads), 1), reads - 1):
        folder = fresh()
        did = commands(folder, *arguments, unreadable_from=n)
        if did.code == 0:
            assert stands(folder) != before
        else:
            assert is_clear(did)
            assert did.out == ""
            assert stands(folder) == before


@pytest.mark.parametrize("how", HOW)
def test_a_page_that_was_overwritten_is_said_and_nothing_is_missing(
    commands: Commands, fresh: Fresh, lived_in: Path, how: str
) -> None:
    unharmed = {arguments: commands(lived_in, *arguments).out for arguments in LOOKING}
    whole = (lived_in / "casebound.db").read_bytes()
    found = 0
    for number in random.Random(SEED).sample(range(1, len(whole) // PAGE), 2):
        folder, at = fresh(), number * PAGE
        damaged = whole[:at] + HOW[how](whole[at : at + PAGE]) + whole[at + PAGE :]
        (folder / "casebound.db").write_bytes(damaged)
        for arguments in LOOKING[1:]:
            did = commands(folder, *arguments)
            assert did.out == unharmed[arguments] if did.code == 0 else is_clear(did), (number, arguments)
            found += did.code
    assert found > 0


def test_a_file_that_was_cut_off_is_said_by_every_command(commands: Commands, fresh: Fresh) -> None:
    size = (fresh() / "casebound.db").stat().st_size
    for left in (PAGE + PAGE // 2, size // 2, size - PAGE):
        folder = fresh()
        db = folder / "casebound.db"
        db.write_bytes(db.read_bytes()[:left])
        for arguments in (*LOOKING[:2], *ACTING, ("up", "--port", "0")):
            did = commands(folder, *arguments)
            assert is_clear(did)
            assert did.out == ""
