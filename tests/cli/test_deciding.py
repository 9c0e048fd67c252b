"""Answering gates from the command line (R5, R6, R9)."""

import json
from pathlib import Path

import pytest

from casestore import gates, steps
from casestore.locks import ServiceLock
from casestore.models import Gate
from casestore.states import GateKind, StepState, Tier
from casestore.steps import Call
from tests.cli.command_line import Cli
from tests.conftest import DAY, HOUR, Asked, World

LONG = "x" * 150 + "MIDDLE" + "y" * 400
NGINX = Call(0, "call-1", "host.restart_service", "v1", Tier.CONSEQUENTIAL, '{"name":"nginx"}')


async def _asked(world: World, call: Call = NGINX, **more: object) -> Asked:
    return await world.ask(await world.working(call), **more)  # pyright: ignore[reportArgumentType] - passed through


async def _now(world: World, gate: Gate) -> Gate:
    return await world.gate(gate.id)


async def test_what_waits_is_listed_with_what_would_happen_and_how_to_decide(cli: Cli, world: World) -> None:
    asked = await _asked(world)
    listed = await cli.done("gate", "list")
    row = next(line for line in listed.splitlines() if asked.case.label in line)
    assert row.split()[:2] == [str(asked.gate.id), asked.case.label]
    assert asked.gate.statement in row
    assert f"casebound gate approve {asked.gate.id}" in listed, "of one gate the number is known"
    await _asked(world)
    assert "casebound gate approve GATE" in await cli.done("gate", "list")
    document = (await cli("gate", "list", "--json")).json
    assert document["gates"][0]["id"] == asked.gate.id
    assert document["gates"][0]["case"] == asked.case.label
    assert document["gates"][0]["roles"] == ["admin", "operator"]
    assert document["holds"] == []


async def test_the_same_call_asked_in_two_cases_is_told_apart_by_what_each_is_for(cli: Cli, world: World) -> None:
    for title in ("the disk of db-1", "the disk of db-2"):
        await world.ask(await world.working(NGINX, case=await world.case(title=title)))
    rows = (await cli.done("gate", "list")).splitlines()[1:5]
    assert rows[0].split()[2:] == rows[2].split()[2:], "the call is the same"
    assert ["for: the disk of db-1" in rows[1], "for: the disk of db-2" in rows[3]] == [True, True]


async def test_an_approval_says_what_was_approved_and_who_will_run_it(cli: Cli, world: World, db: Path) -> None:
    asked, other = await _asked(world), await _asked(world)
    told = await cli.done("gate", "approve", str(asked.gate.id), "--reason", "go")
    assert told.splitlines()[0] == f"Approved: {asked.gate.statement}"
    assert "No service runs on this file. casebound up goes on with it as soon as it is started." in told
    gate = await _now(world, asked.gate)
    assert (gate.state, gate.decided_by, gate.decided_via, gate.reason) == (
        "approved", world.people.operator.id, "cli", "go",
    )  # fmt: skip
    lock = ServiceLock.take(db, "casebound up (pid 7, port 8642)")
    assert "casebound up (pid 7, port 8642) goes on with it now." in await cli.done(
        "gate", "approve", str(other.gate.id)
    )  # fmt: skip
    lock.release()


async def test_the_second_answer_hears_who_was_first(cli: Cli, world: World) -> None:
    gate = (await _asked(world)).gate
    await cli.done("gate", "approve", str(gate.id), "--as", "kim")
    refused = await cli("gate", "deny", str(gate.id))
    assert refused.line.startswith(f"Gate {gate.id} is already decided: Approved by kim via the command line, ")
    assert refused.out == ""
    assert (await _now(world, gate)).state == "approved"


async def test_a_late_answer_is_refused_and_the_expiry_is_written(cli: Cli, world: World) -> None:
    world.now -= 2 * DAY
    gate = (await _asked(world)).gate
    assert "Too late" in (await cli("gate", "approve", str(gate.id))).line
    assert (await _now(world, gate)).state == "expired", "although the command failed"


async def test_whoever_asked_does_not_decide(cli: Cli, world: World) -> None:
    asked = await world.ask(await world.working(NGINX, by=world.people.kim, case=await world.case()))
    assert "four eyes" in (await cli("gate", "approve", str(asked.gate.id), "--as", "kim")).line
    assert "You may not decide" in (await cli("gate", "approve", str(asked.gate.id), "--as", "you")).line
    assert (await _now(world, asked.gate)).state == "open"


async def test_an_approval_of_something_else_than_was_shown_is_refused(cli: Cli, world: World) -> None:
    gate = (await _asked(world)).gate
    assert "out of date" in (await cli("gate", "approve", str(gate.id), "--digest", "0" * 8)).line
    assert (await cli("gate", "approve", str(gate.id), "--digest", "123")).code == 2
    assert (await _now(world, gate)).state == "open"
    await cli.done("gate", "approve", str(gate.id), "--digest", gate.digest_shown[:12])


async def test_an_argument_that_the_card_shows_in_part_is_read_whole_before_it_is_approved(
    cli: Cli, world: World
) -> None:
    call = Call(0, "c", "host.restart_service", "v1", Tier.CONSEQUENTIAL, json.dumps({"name": LONG}))
    gate = (await _asked(world, call)).gate
    refused = (await cli("gate", "approve", str(gate.id))).line
    assert f"casebound gate show {gate.id} --full" in refused
    assert (await _now(world, gate)).state == "open"
    part = await cli.done("gate", "show", str(gate.id))
    assert (LONG in part, "gate approve" in part) == (False, False)
    whole = await cli.done("gate", "show", str(gate.id), "--full")
    assert LONG in whole
    typed = next(line for line in whole.splitlines() if line.startswith("approve")).split("casebound ")[1]
    await cli.done(*typed.split())
    assert (await _now(world, gate)).state == "approved"


async def test_no_digest_is_needed_to_say_no(cli: Cli, world: World) -> None:
    call = Call(0, "c", "host.restart_service", "v1", Tier.CONSEQUENTIAL, json.dumps({"name": LONG}))
    gate = (await _asked(world, call)).gate
    await cli.done("gate", "deny", str(gate.id))
    assert (await _now(world, gate)).state == "denied"


async def test_the_card_is_shown_whole_and_becomes_its_outcome(cli: Cli, world: World) -> None:
    gate = (await _asked(world)).gate
    card = await cli.done("gate", "show", str(gate.id))
    for words in ("Approve?", gate.statement, "host.restart_service", "nginx", "Asked by", "Decides", "If nobody"):
        assert words in card
    assert f"casebound gate approve {gate.id}" in card
    assert "[ Approve ]" not in card, "a terminal has no buttons"
    await cli.done("gate", "revise", str(gate.id), "--reason", "reload it instead")
    after = await cli.done("gate", "show", str(gate.id))
    assert "Sent back for revision by operator via the command line" in after
    assert "reload it instead" in " ".join(after.split())
    assert "gate approve" not in after
    document = (await cli("gate", "show", str(gate.id), "--json")).json
    assert (document["state"], document["verb"], document["reason"]) == ("denied", "revise", "reload it instead")
    assert document["card"]["statement"] == gate.statement
    assert document["args"] == {"name": "nginx"}


@pytest.mark.parametrize("value", ["word " * 50 + "\nx", "word " * 50])
async def test_a_long_line_goes_on_where_it_cannot_pass_for_another_row_of_the_card(
    cli: Cli, world: World, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """R23."""
    call = Call(0, "c", "host.restart_service", "v1", Tier.CONSEQUENTIAL, json.dumps({"name": value}))
    monkeypatch.setenv("COLUMNS", "60")
    shown = await cli.done("gate", "show", str((await _asked(world, call)).gate.id))
    first, *further = [line.partition("word")[0] for line in shown.splitlines() if "word word" in line]
    assert first.strip() in ("name", "name  |")
    assert len(further) > 3
    assert all(before.endswith("| ") if "\n" in value else len(before) > 11 for before in further)


async def test_an_approver_may_change_what_the_tool_lets_them_change(cli: Cli, world: World, db: Path) -> None:
    settings = db.with_name("casebound.toml")
    gate = str((await _asked(world)).gate.id)
    assert (
        "does not let an approver change name" in (await cli("gate", "approve", gate, "--set", 'name="apache2"')).line
    )
    settings.write_text('[tools."host.restart_service"]\nmay_change = ["name"]\n')
    assert "host.restart_service" in (await cli("gate", "approve", gate, "--set", "name=7")).line
    unquoted = await cli("gate", "approve", gate, "--set", "name=apache2")
    assert unquoted.code == 2
    assert """--set 'name="apache2"'""" in unquoted.err
    told = await cli.done("gate", "approve", gate, "--set", 'name="apache2"')
    assert 'It runs with: name = "apache2"' in told
    document = (await cli("gate", "show", gate, "--json")).json
    assert (document["args"], document["changed_args"]) == ({"name": "nginx"}, {"name": "apache2"})


async def test_did_it_happen_is_answered_with_what_happened(cli: Cli, world: World) -> None:
    for verb, state in (("happened", "approved"), ("not-happened", "approved"), ("rerun", "approved")):
        working = await world.working(NGINX)
        asked = await world.ask(working, kind=GateKind.OUTCOME)
        assert "answer happened, not-happened or rerun" in (await cli("gate", "approve", str(asked.gate.id))).line
        shown = await cli.done("gate", "show", str(asked.gate.id))
        assert f"casebound gate {verb} {asked.gate.id}" in shown
        await cli.done("gate", verb, str(asked.gate.id))
        gate = await _now(world, asked.gate)
        assert (gate.state, gate.verb) == (state, verb.replace("-", "_"))
        assert (await world.store.read(steps.by_id, working.step.id)).state is StepState.WAITING


async def test_a_gate_gets_more_time_or_is_withdrawn(cli: Cli, world: World) -> None:
    gate = (await _asked(world)).gate
    await cli.done("gate", "extend", str(gate.id), "4h")
    assert (await _now(world, gate)).expires_at == gate.expires_at + 4 * HOUR
    assert (await cli("gate", "extend", str(gate.id), "soon")).code == 2
    await cli.done("gate", "withdraw", str(gate.id), "--reason", "not needed")
    assert ((await _now(world, gate)).state, (await _now(world, gate)).reason) == ("withdrawn", "not needed")
    again = await cli("gate", "withdraw", str(gate.id))
    assert f"Gate {gate.id} is already decided: Withdrawn by operator via the command line" in again.line


async def test_a_freeze_is_listed_with_its_reason_until_it_is_thawed(cli: Cli, world: World) -> None:
    await cli.done("gate", "freeze", "--reason", "change freeze")
    await cli.done("gate", "freeze", "--tool", "host.restart_service", "--reason", "nginx is special")
    listed = await cli.done("gate", "list")
    assert "Frozen: everything, by operator since" in listed
    assert "nginx is special" in listed
    holds = (await cli("gate", "list", "--json")).json["holds"]
    assert [hold["tool"] for hold in holds] == [None, "host.restart_service"]
    assert (await cli("gate", "freeze", "--reason", "x", "--as", "you")).line.startswith("you is a requester")
    await cli.done("gate", "thaw")
    await cli.done("gate", "thaw", "--tool", "host.restart_service")
    assert "Nothing is frozen" in (await cli("gate", "thaw")).line
    assert (await cli("gate", "list", "--json")).json["holds"] == []


async def test_decided_gates_stay_in_the_list_of_all(cli: Cli, world: World) -> None:
    gate = (await _asked(world)).gate
    await cli.done("gate", "deny", str(gate.id))
    assert await cli.done("gate", "list") == "Nothing waits for a decision.\n"
    assert "denied" in await cli.done("gate", "list", "--all")
    assert (await world.store.read(gates.by_id, gate.id)).state == "denied"
