"""`casebound doctor` without any platform: the file, the assistant, the alerts."""

import json
from pathlib import Path

import pytest

from casestore.migrate import migrate
from tests.cli.command_line import Cli
from tests.conftest import World


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


@pytest.mark.parametrize(
    ("text", "what", "said"),
    [
        ('[python]\nmodule = "no_tools"', "tools", "[python] module no_tools cannot be imported"),
        ('[tools."host.lod"]\ntier = "routine"', "tools", "about a tool that does not exist; did you mean host.load?"),
        ('[profiles.roles.requester]\nwithout = ["host.lod"]', "tools", "no such tool; did you mean host.load?"),
        ('[playbooks]\npaths = ["nowhere.toml"]', "playbooks", "nowhere.toml"),
        ('[prompt]\nhouse = "nowhere.txt"', "prompt", "nowhere.txt cannot be read (no such file or directory)"),
        ('[prompt]\nhouse = "empty.txt"', "prompt", "empty.txt is empty."),
    ],
)
async def test_what_keeps_a_service_from_starting_is_said_and_the_rest_is_looked_at_all_the_same(
    cli: Cli, db: Path, text: str, what: str, said: str
) -> None:
    migrate(db)
    (db.parent / "casebound.toml").write_text(text)
    (db.parent / "empty.txt").write_text(" \n")
    ended = await cli("doctor", "--db", str(db))
    told = " ".join(ended.out.split())
    assert said in told.partition(f"TO DO {what}. ")[2].partition("→")[0]
    assert "ok channels." in told
    assert ended.line == f"One thing has to be done: {what}."


async def test_a_house_prompt_that_is_read_is_told_of_with_its_length(cli: Cli, db: Path) -> None:
    migrate(db)
    (db.parent / "casebound.toml").write_text('[prompt]\nhouse = "house.txt"')
    (db.parent / "house.txt").write_text("We sell chairs.\n")
    assert "ok      prompt. house.txt has 15 characters." in await cli.done("doctor", "--db", str(db))


async def test_a_profile_about_nobody_names_the_person_that_was_meant_perhaps(
    cli: Cli, db: Path, world: World
) -> None:  # fmt: skip
    await cli.done("principal", "add", "Dora", "--db", str(db))
    (db.parent / "casebound.toml").write_text("[profiles.principals.dora]\ntools = []\n[profiles.principals.Dora]\n")
    ended = await cli("doctor", "--db", str(db))
    assert "holds for nobody: no principal is called dora; did you mean Dora? → Correct" in " ".join(ended.out.split())
    assert ended.line == "One thing has to be done: profiles."
