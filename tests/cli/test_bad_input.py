"""Whatever is wrong: one clear line that says what to do, exit code 1 or 2, never a traceback, nothing changed."""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import first_start
from casestore.errors import ConstraintBroken
from casestore.locks import ServiceLock
from casestore.migrate import migrate, newest
from tests.cli.command_line import COMMAND, Cli, Ended, call, environment
from tests.conftest import World

pytestmark = pytest.mark.timeout(180)

FREE = ("--port", "0")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("case", "show", "C-9999"), "No case C-9999. See: casebound case list"),
        (("case", "say", "C-9999", "hi"), "No case C-9999."),
        (("case", "take", "C-9999"), "No case C-9999."),
        (("case", "resolve", "C-9999"), "No case C-9999."),
        (("case", "bind", "C-9999", "slack:T/C/1"), "No case C-9999."),
        (("trail", "show", "C-9999"), "No case C-9999."),
        (("trail", "verify", "C-9999"), "No case C-9999."),
        (("run", "list", "--case", "C-9999"), "No case C-9999."),
        (("gate", "show", "99"), "No gate 99. See: casebound gate list"),
        (("gate", "approve", "99"), "No gate 99."),
        (("gate", "approve", "99", "--set", "a=1"), "No gate 99."),
        (("gate", "extend", "99", "1h"), "No gate 99."),
        (("gate", "withdraw", "99"), "No gate 99."),
        (("run", "show", "99"), "No run 99. See: casebound run list"),
        (("case", "list", "--as", "joe"), "No principal named joe. See: casebound principal list"),
        (("gate", "approve", "1", "--as", "joe"), "No principal named joe."),
        (("principal", "revoke", "joe"), "No principal named joe."),
        (("gate", "freeze", "--tool", "host.restart", "--reason", "x"), "did you mean host.restart_service?"),
        (("gate", "freeze", "--reason", " "), "Say why"),
        (("gate", "thaw", "--tool", "nothing"), "Nothing is frozen for nothing."),
        (("alert", "send", "absent.json"), "absent.json: No such file or directory."),
        (("alert", "send", "."), "Is a directory"),
        (("case", "list", "--config", "absent.toml"), "absent.toml: it cannot be read"),
        (("db", "migrate", "--to", "99"), "There is no version 99"),
    ],
)
async def test_what_is_not_there_is_named_with_where_to_look(
    cli: Cli, world: World, arguments: tuple[str, ...], says: str
) -> None:
    ended = await cli(*arguments)
    assert says in ended.line
    assert ended.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("frob",), ("case", "frob"), ("case", "show"), ("case", "show", "nine"), ("case", "show", "C-"),
        ("case", "show", "C-" + "9" * 30), ("gate", "approve", "one"), ("gate", "approve", "-1"),
        ("gate", "approve", "9" * 30), ("gate", "revise", "1"), ("gate", "freeze"), ("gate", "extend", "1"),
        ("gate", "extend", "1", "0h"), ("gate", "approve", "1", "--set", "x"), ("case", "list", "--state", "open"),
        ("case", "list", "--most", "0"), ("trail", "verify", "1", "--head", "x"), ("up", "--port", "70000"),
        ("principal", "add", "x", "--role", "king"), ("case", "list", "--frob"), ("run", "show", "x"),
    ],
)  # fmt: skip
async def test_wrong_usage_is_answered_with_how_it_is_used(cli: Cli, world: World, arguments: tuple[str, ...]) -> None:
    ended = await cli(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Usage: casebound" in ended.err
    assert "Traceback" not in ended.err


async def test_a_case_is_no_gate_and_who_mistakes_it_hears_where_the_number_is(cli: Cli, world: World) -> None:
    ended = await cli("gate", "approve", "C-1001")
    assert "C-1001 is not a gate; write its number, as `gate list` shows it." in ended.err


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("[gates]\ntll = '1h'\n", "gates.tll: there is no such key; did you mean gates.ttl?"),
        ("[leases]\nttl = '5'\n", "leases.ttl"),
        ("not toml", "it is not TOML"),
        ("[service]\ntimezone = 'Europe/Berln'\n", "did you mean Europe/Berlin?"),
    ],
)
async def test_a_setting_that_cannot_be_used_is_named_by_every_command(
    cli: Cli, world: World, db: Path, monkeypatch: pytest.MonkeyPatch, settings: str, says: str
) -> None:
    monkeypatch.delenv("CASEBOUND_SERVICE__TIMEZONE")
    db.with_name("casebound.toml").write_text(settings)
    for arguments in (("case", "list"), ("db", "version"), ("tools", "list"), ("up", *FREE)):
        assert says in (await cli(*arguments)).line


async def test_a_setting_about_a_tool_there_is_not_is_named_where_tools_matter(
    cli: Cli, world: World, db: Path
) -> None:
    db.with_name("casebound.toml").write_text('[tools."host.clear_cash"]\ntier = "routine"\n')
    assert "host.clear_cash" in (await cli("tools", "list")).line
    assert "host.clear_cash" in call(db.parent, "up", *FREE).line
    await cli.done("case", "list")


async def test_without_a_database_every_command_says_how_to_get_one(cli: Cli, tmp_path: Path) -> None:
    for arguments in (
        ("case", "list"), ("gate", "approve", "1"), ("trail", "verify", "1"), ("db", "check"), ("db", "version"),
        ("db", "migrate"), ("principal", "list"), ("run", "list", "--json"),
    ):  # fmt: skip
        assert "There is no database at casebound.db." in (await cli(*arguments)).line
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"


def _newer(db: Path) -> None:
    migrate(db)
    with sqlite3.connect(db) as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()


def _not_a_database(db: Path) -> None:
    db.write_bytes(b"nothing of the kind " * 100)


def _torn(db: Path) -> None:
    db.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)


def _folder(db: Path) -> None:
    db.mkdir()


def _foreign(db: Path) -> None:
    with sqlite3.connect(db) as raw:
        raw.execute("CREATE TABLE theirs (x)")
    raw.close()


_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a newer version": (_newer, f"has version 99; this casebound knows up to {newest()}"),
    "no database": (_not_a_database, "is not a database"),
    "a torn database": (_torn, "Cannot use"),
    "another program's": (_foreign, "is a database of another program"),
    "a folder": (_folder, "is a folder"),
}


@pytest.mark.parametrize("what", _FILES)
async def test_a_file_that_is_not_ours_is_refused_and_left_as_it_was(cli: Cli, db: Path, what: str) -> None:
    make, says = _FILES[what]
    make(db)
    before = db.read_bytes() if db.is_file() else b""
    for arguments in (("case", "list"), ("gate", "approve", "1"), ("db", "check"), ("db", "migrate")):
        ended = await cli(*arguments)
        assert says in ended.line
        assert ended.out == ""
    for arguments in (("up", *FREE), ("chat",)) if what == "no database" else (("up", *FREE),):
        assert says in call(db.parent, *arguments).line
    assert (db.read_bytes() if db.is_file() else b"") == before


AS_NOBODY = """
import os, sys
from importlib import import_module
from bot.__main__ import run
from tests.prepared import IMPORTED
for name in IMPORTED: import_module(name)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(run(sys.argv[1:]))
"""
"""The command, whose rights are dropped once it is loaded: where it lies may be nobody else's business."""


def test_a_folder_one_may_not_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o555)
    command = [sys.executable, "-c", AS_NOBODY] if os.getuid() == 0 else list(COMMAND)
    for arguments in (("up", *FREE), ("chat",), ("up", *FREE, "--db", "below/casebound.db")):
        ended = subprocess.run(
            [*command, *arguments], cwd=folder, env=environment(), input="hello\n", text=True, capture_output=True,
            timeout=50, check=False,
        )  # fmt: skip
        assert Ended(ended.returncode, ended.stdout, ended.stderr).line.startswith("Cannot write ")
        assert "Choose a folder you may write to, with --db." in ended.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("db", ["/proc/casebound.db", "file/casebound.db"])
def test_a_place_where_nothing_can_be_made_is_refused(tmp_path: Path, db: str) -> None:
    (tmp_path / "file").write_text("")
    assert "with --db" in call(tmp_path, "up", *FREE, "--db", db).line
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_what_lies_in_the_way_of_a_first_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "casebound.db.token").mkdir()
    ended = call(tmp_path, "up", *FREE)
    assert ended.line.startswith("Cannot write beside casebound.db (Is a directory).")
    assert call(tmp_path, "db", "check").code == 0, "nothing is left half done"


def test_a_port_in_use_is_named_with_another_to_take(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = call(tmp_path, "up", "--port", str(port))
    assert ended.line.startswith(f"Port {port} on 127.0.0.1 is in use.")
    assert ended.out == ""


def test_a_host_that_is_not_here_is_refused(tmp_path: Path) -> None:
    assert "192.0.2.1 is no address of this machine" in call(tmp_path, "up", "--host", "192.0.2.1", *FREE).line


def test_a_second_service_is_refused_naming_the_first(tmp_path: Path) -> None:
    db = tmp_path / "casebound.db"
    migrate(db)
    lock = ServiceLock.take(db, "casebound up (pid 4711, port 8642)")
    ended = call(tmp_path, "up", *FREE)
    assert ended.line.startswith("casebound.db is already served by casebound up (pid 4711, port 8642).")
    migrated = call(tmp_path, "db", "migrate")
    assert "already served by casebound up (pid 4711" in migrated.line
    lock.release()


def test_a_playbook_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "casebound.toml").write_text('[playbooks]\npaths = ["mine.toml"]\n')
    (tmp_path / "mine.toml").write_text("name = 7\n")
    assert "mine.toml" in call(tmp_path, "up", *FREE).line


async def test_what_nobody_foresaw_is_one_line_without_its_text_and_a_traceback_only_on_request(
    cli: Cli, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("token=secret-in-an-error")

    monkeypatch.setattr("casestore.cases.listing", broken)
    ended = await cli("case", "list")
    assert ended.line.startswith("This failed in a way nobody foresaw (RuntimeError at bot/cli/case.py:")
    assert "CASEBOUND_LOG=debug" in ended.err
    assert "secret-in-an-error" not in ended.err
    monkeypatch.setenv("CASEBOUND_LOG", "debug")
    assert "Traceback" in (await cli("case", "list")).err


async def test_a_row_the_store_refused_is_a_bug_and_not_told_in_its_words(
    cli: Cli, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ConstraintBroken("The store refused a row: secret-in-an-error")

    monkeypatch.setattr("casestore.cases.listing", broken)
    ended = await cli("case", "list")
    assert ended.line.startswith("This failed in a way nobody foresaw (ConstraintBroken at bot/cli/case.py:")
    assert "secret-in-an-error" not in ended.err


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "The notification is not JSON"),
        (b"[]", "has to be a JSON object"),
        (b'{"version": "4"}', "is missing"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"", "not JSON"),
    ],
)
async def test_an_alert_that_cannot_be_read_stores_nothing(
    cli: Cli, world: World, tmp_path: Path, body: bytes, says: str
) -> None:
    (tmp_path / "alert.json").write_bytes(body)
    assert says in (await cli("alert", "send", "alert.json")).line
    assert (await cli("case", "list", "--all", "--json")).json == {"cases": []}


async def test_the_practice_cache_is_not_needed_for_looking(cli: Cli, world: World, db: Path) -> None:
    shutil.rmtree(first_start.demo_cache(db), ignore_errors=True)
    tools = (await cli("tools", "list", "--json")).json["tools"]
    assert "host.clear_cache" not in [tool["name"] for tool in tools]
