"""What somebody attached, on the command line: told of below its message, and put where the one who asks says."""

import asyncio
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from casestore import attachments, principals
from casestore.attachments import Attachment
from casestore.models import Case, File
from casestore.states import Role
from tests.cli.command_line import COMMAND, Cli, environment
from tests.conftest import World

CONTENT = b"\x00\xff\x1b[2J\r\n"
NAME = "../up\u202e.txt"


async def attached(world: World) -> tuple[Case, File]:
    """A case in which a file is kept and another is not."""
    case = await world.case()
    message = await world.say(case)
    found = [
        Attachment("slack", "F1", NAME, "text/plain", 5),
        Attachment("slack", "F2", "b.iso", "x/y", 10**9, "larger than 10 MiB"),
    ]
    await world.store.write(attachments.add, message, found)
    file, _ = await world.store.read(attachments.of_message, message.id)
    await world.store.write(attachments.keep, world.now, file, CONTENT, name="", media_type="")
    return case, file


async def test_the_story_tells_of_each_file_and_whether_there_is_a_copy(cli: Cli, world: World) -> None:
    case, file = await attached(world)
    shown = " ".join((await cli.done("case", "show", case.label)).split())
    assert f"please help (file {file.id}: ../up⟨U+202E⟩.txt, text/plain, 8 bytes; a copy is kept)" in shown
    assert "b.iso, x/y, 1,000,000,000 bytes; not kept: larger than 10 MiB)" in shown
    (message,) = (await cli("case", "show", case.label, "--json")).json["messages"]
    assert [(one["name"], one["state"]) for one in message["files"]] == [(NAME, "kept"), ("b.iso", "refused")]


async def test_a_copy_goes_where_it_is_told_to_and_over_nothing(cli: Cli, world: World, db: Path) -> None:
    case, file = await attached(world)
    said = await cli.done("case", "file", case.label, str(file.id), "--output", "here.bin")
    assert said == f"here.bin holds file {file.id}: 8 bytes, SHA-256 {sha256(CONTENT).hexdigest()}.\n"
    assert (db.parent / "here.bin").read_bytes() == CONTENT
    (db.parent / "here.bin").write_bytes(b"mine")
    again = await cli("case", "file", case.label, str(file.id), "--output", "here.bin")
    assert again.line == "here.bin is there already, and is left as it is. Name another place: --output PATH"
    assert (db.parent / "here.bin").read_bytes() == b"mine"
    nowhere = await cli("case", "file", case.label, str(file.id), "--output", "no/such/folder")
    assert nowhere.line.startswith("no/such/folder cannot be written (no such file or directory).")


async def test_without_a_place_the_bytes_and_nothing_else_are_on_stdout(world: World, db: Path) -> None:
    case, file = await attached(world)
    command = [*COMMAND, "--db", str(db), "case", "file", case.label, str(file.id)]
    piped = await asyncio.to_thread(
        subprocess.run, command, cwd=db.parent, env=environment(), capture_output=True, check=False
    )
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, CONTENT, b"")


async def test_a_terminal_is_shown_no_file(cli: Cli, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    case, file = await attached(world)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    refused = await cli("case", "file", case.label, str(file.id))
    assert refused.line.endswith("Say where to put it: --output PATH")
    assert refused.out == ""


async def test_where_there_is_no_copy_or_nothing_to_be_seen_it_says_so(cli: Cli, world: World) -> None:
    case, file = await attached(world)
    missing = await cli("case", "file", case.label, str(file.id + 1), "--output", "x")
    assert missing.line == f"There is no copy of file {file.id + 1}: larger than 10 MiB."
    assert (await cli("case", "file", case.label, "999", "--output", "x")).line.startswith("No file 999 in this case.")
    assert (await cli("case", "file", case.label, "a.txt")).code == 2
    await world.store.write(principals.add, world.now, tenant="other", name="stranger", role=Role.ADMIN)
    assert "No case" in (await cli("case", "file", case.label, str(file.id), "--as", "stranger")).line
