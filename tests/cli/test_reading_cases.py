"""Looking at cases: what a person reads, what a script reads, and what each may see (R21)."""

from pathlib import Path

import pytest

from bot.outbound import speech
from casestore import cases, principals
from casestore.states import Provenance, Role, WaitingOn
from tests.cli.command_line import Cli
from tests.conftest import SECOND, World


async def test_a_case_is_read_as_a_story_that_ends_with_what_to_type(cli: Cli, world: World) -> None:
    working = await world.working(case=await world.case(title="nginx is down"))
    world.now += SECOND
    asked = await world.ask(working)
    world.now += SECOND
    case, gate = asked.case, asked.gate
    await world.store.write(
        speech.say, world.now, case.id, "I looked at it.", provenance=Provenance.ASSISTANT, turn_id=asked.turn.id
    )
    shown = await cli.done("case", "show", case.label)
    lines = shown.splitlines()
    assert lines[0] == f"{case.label}  nginx is down"
    assert lines[1] == "Stands     waits for a decision; priority normal"
    assert "CET" in lines[2] or "CEST" in lines[2], "times are in the zone of the settings"
    in_order = [
        "intake opened the case", "you (requester)", "          please help",
        f"asked at gate {gate.id}: {gate.statement}", "          I looked at it.",
        f"Gate {gate.id} waits for a decision: {gate.statement}",
        f"casebound gate approve {gate.id}", f'casebound gate deny {gate.id} --reason "…"',
    ]  # fmt: skip
    places = [shown.index(words) for words in in_order]
    assert places == sorted(places)
    assert all(len(line) <= 90 for line in lines)


async def test_after_the_decision_the_story_says_who_decided_what_ran_and_what_came_of_it(
    cli: Cli, world: World
) -> None:
    asked = await world.ask()
    await cli.done("gate", "deny", str(asked.gate.id), "--reason", "not on a Friday")
    shown = await cli.done("case", "show", asked.case.label)
    assert f"operator denied gate {asked.gate.id} via the command line: not on a Friday" in shown
    assert "waits for a decision:" not in shown
    assert "the assistant is at work" in shown


async def test_a_case_that_waits_for_nobody_in_particular_says_how_to_take_it(cli: Cli, world: World) -> None:
    case = await world.case()
    await world.store.write(cases.begin, world.now, case, actor="engine")
    await world.store.write(cases.wait, world.now, case.id, WaitingOn.OPERATOR)
    assert f"casebound case take {case.label}" in await cli.done("case", "show", case.label)


async def test_a_case_may_be_named_in_any_of_three_ways(cli: Cli, world: World) -> None:
    case = await world.case()
    shown = [
        (await cli.done("case", "show", name)).splitlines()[0]
        for name in (case.label, case.label.lower(), str(case.number))
    ]
    assert shown == [f"{case.label}  {case.title}"] * 3


async def test_of_a_long_story_the_newest_part_is_shown_and_all_of_it_on_request(cli: Cli, world: World) -> None:
    case = await world.case()
    for n in range(80):
        await world.say(case, f"line {n}.")
    newest, whole = await cli.done("case", "show", case.label), await cli.done("case", "show", case.label, "--all")
    assert "line 79." in newest
    assert "line 3." not in newest
    assert f"casebound case show {case.label} --all" in newest
    assert all(f"line {n}." in whole for n in range(80))


async def test_what_people_say_cannot_pass_for_a_line_of_ours_or_act_on_the_terminal(cli: Cli, world: World) -> None:
    """R23."""
    evil = "evil \x1b[2J title\nC-9999  forged"
    case = await world.case(title=evil)
    await world.say(case, "\x1b]0;owned\x07hello\n20:00:00  - operator approved gate 1")
    for arguments in (
        ("case", "show", case.label), ("case", "list"), ("case", "title", case.label, evil),
        ("case", "open", "x", "--title", evil), ("case", "close", case.label), ("trail", "show", case.label),
        ("gate", "freeze", "--reason", evil), ("gate", "list"),
    ):  # fmt: skip
        shown = await cli.done(*arguments)
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert not any(line.startswith(("20:00:00  -", "C-9999")) for line in shown.splitlines())


async def test_the_list_shows_open_cases_first_and_closed_ones_on_request(cli: Cli, world: World) -> None:
    one, two = await world.case(title="one"), await world.case(title="two")
    await cli.done("case", "close", one.label)
    assert "one" not in await cli.done("case", "list")
    assert [two.label in line for line in (await cli.done("case", "list")).splitlines()] == [False, True]
    assert one.label in await cli.done("case", "list", "--all")
    closed = (await cli("case", "list", "--state", "closed", "--json")).json["cases"]
    assert [case["label"] for case in closed] == [one.label]


async def test_a_script_gets_the_whole_case_as_one_document(cli: Cli, world: World, people: object) -> None:
    asked = await world.approved()
    document = (await cli("case", "show", asked.case.label, "--json")).json
    assert document["label"] == asked.case.label
    assert document["state"] == "in_progress"
    assert document["opened_at"].endswith("Z")
    assert [message["body"][0]["text"] for message in document["messages"]] == ["please help"]
    assert [gate["state"] for gate in document["gates"]] == ["approved"]
    assert [entry["seq"] for entry in document["trail"]] == list(range(1, len(document["trail"]) + 1))
    assert len(document["runs"]) == 2
    assert {"bindings", "episodes", "taken_over_by"} <= document.keys()


async def test_a_requester_sees_their_own_cases_and_no_others(cli: Cli, world: World) -> None:
    mine, other = await world.case(title="mine"), await world.case(title="theirs", requester=world.people.kim)
    listed = await cli.done("case", "list", "--as", "you")
    assert ("mine" in listed, "theirs" in listed) == (True, False)
    absent = (await cli("case", "show", "C-9999", "--as", "you")).line
    hidden = (await cli("case", "show", other.label, "--as", "you")).line
    assert hidden == absent.replace("C-9999", other.label), "outside the scope answers like not there"
    assert (await cli("case", "show", mine.label, "--as", "you")).code == 0
    gate = (await world.ask(await world.working(case=other))).gate
    assert (await cli("gate", "show", str(gate.id), "--as", "you")).line.startswith(f"No gate {gate.id}.")
    assert (await cli("gate", "list", "--json", "--as", "you")).json["gates"] == []
    assert (await cli("run", "list", "--json", "--as", "you")).json["runs"] == []


async def test_an_operator_of_another_tenant_sees_nothing_of_this_one(cli: Cli, world: World) -> None:
    case = await world.case()
    await world.store.write(
        principals.add, world.now, tenant="other", name="olga", role=Role.ADMIN
    )  # fmt: skip
    assert (await cli("case", "list", "--json", "--as", "olga")).json["cases"] == []
    assert (await cli("case", "show", case.label, "--as", "olga")).line.startswith(f"No case {case.label}.")
    names = {one["name"] for one in (await cli("principal", "list", "--json", "--as", "olga")).json["principals"]}
    assert names == {"olga"}
    assert (await cli("principal", "revoke", "kim", "--as", "olga")).line.startswith("No principal named kim.")


async def test_the_file_may_be_named_before_the_noun_or_after_the_verb(
    cli: Cli, world: World, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, gate = await world.case(), (await world.ask()).gate
    elsewhere = db.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert "There is no database" in (await cli("case", "list")).line
    for arguments in (("--db", "../casebound.db", "case", "list"), ("case", "list", "--db", "../casebound.db")):
        assert case.label in await cli.done(*arguments)
    told = await cli.done("gate", "list", "--db", "../casebound.db")
    assert f"casebound gate approve {gate.id} --db ../casebound.db" in told, "what is to be typed names the same file"
