"""`casebound doctor` without any platform: the file, the assistant, the alerts."""

import json
from pathlib import Path

from casestore.migrate import migrate
from tests.cli.command_line import Cli


async def test_before_the_first_start_it_says_how_to_make_a_file(cli: Cli) -> None:
    ended = await cli("doctor")
    assert "One thing has to be done: database." in ended.line
    told = " ".join(ended.out.split()).partition("is not there yet, ")[2]
    assert told.startswith("as before the first start. → Start the service once, which makes it: casebound up.")


async def test_where_all_is_well_it_says_so_and_writes_nothing(cli: Cli, db: Path) -> None:
    migrate(db)
    before = db.read_bytes()
    told = await cli.done("doctor", "--db", str(db))
    assert told.endswith("All is well.\n")
    assert "playbook, with 3 playbooks" in told
    assert db.read_bytes() == before


async def test_a_file_of_an_older_version_and_one_that_is_no_database_are_told_apart(cli: Cli, db: Path) -> None:
    migrate(db, 1)
    assert "casebound db migrate" in (await cli("doctor", "--db", str(db))).out
    db.write_bytes(b"something else" * 1_000)
    ended = await cli("doctor", "--db", str(db))
    assert ended.line.endswith("database.")
    assert "casebound db migrate" not in ended.out


async def test_the_document_has_every_finding_and_the_exit_code_says_whether_all_is_well(cli: Cli, db: Path) -> None:
    assert (await cli("doctor", "--db", str(db), "--json")).code == 1
    migrate(db)
    document = (await cli("doctor", "--db", str(db), "--json")).json
    assert document["ok"] is True
    assert [one["what"] for one in document["findings"]] == ["settings", "database", "assistant", "alerts", "channels"]
    assert all(one.keys() == {"what", "ok", "found", "to_do"} for one in document["findings"])


async def test_tokens_that_were_mixed_up_are_named_before_anything_is_tried(cli: Cli, db: Path) -> None:
    (db.parent / "casebound.toml").write_text('[slack]\nbot_token = "xapp-1"\napp_token = "xoxb-1"\n')
    line = (await cli("doctor")).line
    assert "slack.bot_token" in line
    assert "has to begin with xoxb-" in line
    assert "xapp-1" not in line


async def test_settings_that_are_refused_are_a_finding_of_the_document_too(cli: Cli, db: Path) -> None:
    (db.parent / "casebound.toml").write_text("[slack]\nbot_tokn = 1\n")
    ended = await cli("doctor", "--json")
    assert ended.code == 1
    document = json.loads(ended.out)
    (finding,) = document["findings"]
    assert (document["ok"], finding["what"], finding["ok"]) == (False, "settings", False)
    assert "bot_tokn" in finding["found"]
    assert "bot_tokn" in ended.line


async def test_where_the_settings_come_from_is_said(cli: Cli, db: Path) -> None:
    migrate(db)
    assert "there is no casebound.toml here" in (await cli.done("doctor", "--db", str(db)))
    (db.parent / "casebound.toml").write_text("[model]\n")
    assert "From casebound.toml" in (await cli.done("doctor", "--db", str(db)))
