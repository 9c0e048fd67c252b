"""The record: trails that prove themselves, runs with everything in them, and a file that is whole (R16, R18)."""

import sqlite3
from pathlib import Path

import pytest

from casestore import holds
from casestore.migrate import newest
from tests.cli.command_line import Cli
from tests.conftest import World


def _edit(db: Path, *statements: str) -> None:
    """What somebody with the file and no scruples does."""
    with sqlite3.connect(db) as raw:
        raw.execute("PRAGMA wal_autocheckpoint = 0")
        for statement in ("DROP TRIGGER trail_is_append_only", "DROP TRIGGER trail_is_not_deleted", *statements):
            raw.execute(statement)
    raw.close()


async def test_a_trail_is_shown_and_proves_itself(cli: Cli, world: World) -> None:
    case = (await world.ask()).case
    shown = await cli.done("trail", "show", case.label)
    kinds = [line.split()[2] for line in shown.splitlines()[1:]]
    assert kinds == await world.trail_kinds(case.id)
    entries = (await cli("trail", "show", case.label, "--json")).json["entries"]
    assert [entry["kind"] for entry in entries] == kinds
    told = await cli.done("trail", "verify", case.label)
    assert told.splitlines()[0] == f"The trail of {case.label} holds: {len(kinds)} entries."
    assert (await cli("trail", "verify", case.label, "--json")).json["head"] == told.split("Head ")[1].strip()


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ("UPDATE trail SET meta = '{}' WHERE seq = 2", "entry 2 was changed"),
        ('UPDATE trail SET content = \'{"title":"other"}\' WHERE seq = 1', "the content of entry 1 was changed"),
        ("DELETE FROM trail WHERE seq = 2", "entry 2 is missing"),
    ],
)
async def test_an_edit_or_a_gap_is_found(cli: Cli, world: World, db: Path, edit: str, found: str) -> None:
    case = (await world.ask()).case
    _edit(db, edit)
    ended = await cli("trail", "verify", case.label)
    assert found in ended.line
    assert found in ended.out
    as_json = await cli("trail", "verify", case.label, "--json")
    assert (as_json.code, '"ok": false' in as_json.out, as_json.err.count("\n")) == (1, True, 1)
    assert f"{case.label}: " in (await cli("db", "check")).out
    assert (await cli("db", "check")).line.startswith("casebound.db is not whole: ")


async def test_an_end_that_was_cut_off_is_found_with_a_head_that_was_noted(cli: Cli, world: World, db: Path) -> None:
    case = (await world.ask()).case
    head = (await cli("trail", "verify", case.label, "--json")).json["head"]
    await cli.done("trail", "verify", case.label, "--head", head)
    _edit(db, "DELETE FROM trail WHERE seq = (SELECT max(seq) FROM trail)")
    await cli.done("trail", "verify", case.label)
    assert "cut off" in (await cli("trail", "verify", case.label, "--head", head)).line
    assert (await cli("trail", "verify", case.label, "--head", "17")).code == 2


async def test_a_run_is_shown_with_all_that_is_recorded_of_it(cli: Cli, world: World) -> None:
    asked = await world.approved()
    document = (await cli("run", "show", str(asked.run.id), "--json")).json
    assert document["case"] == asked.case.label
    named = {
        "agent", "model", "model_reported", "prompt_version", "tenant", "task_state", "input_tokens", "output_tokens",
        "cached_tokens", "cost_usd", "provider_response_ids", "started_at", "ended_at", "stop_reason", "outcome",
        "steps",
    }  # fmt: skip
    assert named <= document.keys()
    first = (await cli("run", "list", "--case", asked.case.label, "--json")).json["runs"][-1]
    assert (first["outcome"], first["case"]) == ("parked", asked.case.label)
    shown = await cli.done("run", "show", str(first["id"]))
    for words in ("parked", "playbook-1", "100 tokens in, 20 out, 10 cached", "response-1", 'service="nginx"'):
        assert words in shown
    listed = await cli.done("run", "list")
    assert len(listed.splitlines()) == 3
    assert "running" in listed


async def test_a_file_that_is_whole_says_so(cli: Cli, world: World, db: Path) -> None:
    await world.ask()
    assert await cli.done("db", "check") == f"casebound.db is whole: version {newest()}, 1 trail verified.\n"
    document = (await cli("db", "check", "--json")).json
    assert document["ok"] is True
    assert document["trails"]["C-1001"]["ok"] is True
    assert (await cli("db", "version", "--json")).json == {
        "path": "casebound.db",
        "version": newest(),
        "newest": newest(),
    }


async def test_a_row_that_points_to_nothing_is_found(cli: Cli, world: World, db: Path) -> None:
    await world.store.write(holds.place, world.now, tool=None, reason="x", by=world.people.kim.id)
    with sqlite3.connect(db) as raw:
        raw.execute("PRAGMA wal_autocheckpoint = 0")
        raw.execute("UPDATE holds SET placed_by = 4711")
    raw.close()
    ended = await cli("db", "check")
    assert ended.line.startswith("casebound.db is not whole: 1 problem.")
    assert "a row of holds refers to a row of principals that is not there" in ended.out


async def test_a_row_that_the_schema_forbids_is_found(cli: Cli, world: World, db: Path) -> None:
    await world.case()
    with sqlite3.connect(db) as raw:
        raw.execute("PRAGMA wal_autocheckpoint = 0")
        raw.execute("PRAGMA ignore_check_constraints = ON")
        raw.execute("UPDATE cases SET priority = 'whatever'")
    raw.close()
    ended = await cli("db", "check")
    assert "CHECK constraint failed in cases" in ended.out
    assert ended.line.startswith("casebound.db is not whole")
    assert (await cli("db", "check", "--json")).code == 1


async def test_the_newest_version_needs_no_migration_and_an_older_one_is_only_reached_on_purpose(
    cli: Cli, world: World, db: Path
) -> None:
    await world.store.close()
    assert "as before" in await cli.done("db", "migrate")
    assert "--down" in (await cli("db", "migrate", "--to", "0")).line
    assert f"it had {newest()}" in await cli.done("db", "migrate", "--to", "0", "--down")
    assert "casebound db migrate" in (await cli("case", "list")).line
    assert "Back it up" in await cli.done("db", "version")
    await cli.done("db", "migrate")
    assert "Nobody is known in this file yet" in (await cli("case", "list")).line
