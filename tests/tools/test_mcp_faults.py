"""What MCP servers do wrong, and what becomes of the call: never a case that cannot go on, never an effect twice."""

import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.settings import Settings
from bot.tools.mcp import server as mcp_server
from bot.tools.mcp.servers import Servers
from casestore.models import Case
from tests.loop.rig import Rig
from tests.loop.scripted import calls, returned, says, unpaired
from tests.tools.mcp_rig import ROOT, McpRig, program
from tests.wire.mcp.behaviour import FLOOD, Behaviour

ROUTINE = {"tools": {"own.die": {"tier": "routine"}, "own.hang": {"tier": "routine", "timeout": "300ms"}}}


def talkative(*more: str) -> dict[str, Any]:
    """The settings of a server that prints to its standard output."""
    args = ["-m", "tests.wire.mcp.talkative", *more]
    return {"command": sys.executable, "args": args, "env": {"PYTHONPATH": str(ROOT)}, "tier": "read_only"}


async def called(rig: Rig, *wanted: tuple[str, dict[str, object]]) -> list[object]:
    """What the model is shown of some calls that are made at once."""
    rig.model.then(calls(*wanted), says("Done."))
    await rig.say("do it")
    await rig.work()
    assert unpaired(rig.model.sent[-1]) == []
    return returned(rig.model.sent[-1])


async def unknown(rig: Rig, tool: str, args: dict[str, object]) -> Case:
    """A case in which a call with an effect ended nobody knows how: somebody is asked."""
    rig.model.then(calls((tool, args)))
    case = await rig.say("do it")
    await rig.work()
    asked = await rig.gate(case)
    assert (asked.kind, asked.tool) == ("outcome", tool)
    return case


async def test_a_server_that_dies_in_mid_call_leaves_the_outcome_to_a_person(mcp_rig: McpRig, tmp_path: Path) -> None:
    """R14: it had an effect, and is not called again."""
    rig = await mcp_rig({"own": program(tmp_path)}, **ROUTINE)
    case = await unknown(rig, "own.die", {"text": "x"})
    assert Behaviour(tmp_path).effects() == ["x"]
    assert (await rig.gate(case)).statement == 'Did this happen? Call die of the MCP server own: text "x"'


async def test_a_call_with_an_effect_that_never_returns_does_too(mcp_rig: McpRig, tmp_path: Path) -> None:
    rig = await mcp_rig({"own": program(tmp_path)}, **ROUTINE)
    await unknown(rig, "own.hang", {})


async def test_a_look_that_dies_or_never_returns_has_failed(mcp_rig: McpRig, tmp_path: Path) -> None:
    looks = {"own.die": {"tier": "read_only"}, "own.hang": {"tier": "read_only", "timeout": "300ms"}}
    rig = await mcp_rig({"own": program(tmp_path)}, tools=looks)
    assert (await called(rig, ("own.hang", {})))[-1] == "it did not come back within 0 seconds"
    assert (await called(rig, ("own.die", {"text": "x"})))[-1] == "the connection to its server was lost"
    assert (await called(rig, ("own.hang", {})))[-1] == "it did not come back within 0 seconds"


async def test_what_a_tool_says_of_its_failure_is_the_result(mcp_rig: McpRig, tmp_path: Path) -> None:
    rig = await mcp_rig({"own": program(tmp_path, tier="read_only")})
    rig.model.then(calls(("own.fail", {}), ("own.raise", {})), says("Done."))
    case = await rig.say("do it")
    await rig.work()
    failed, raised = await rig.steps(case)
    assert failed.result == '{"content":"the disk is full","kind":"failed"}'
    assert "its server answered with an error" in str(raised.result)


async def test_a_flood_is_cut_and_a_picture_described(mcp_rig: McpRig, tmp_path: Path) -> None:
    rig = await mcp_rig({"own": program(tmp_path, tier="read_only")})
    flooded, picture, measured = await called(
        rig, ("own.flood", {}), ("own.picture", {}), ("own.measure", {"text": "é" * 100_000})
    )
    assert f"[… {FLOOD - rig.settings.limits.result_characters + len('| ')} characters left out" in str(flooded)
    assert len(str(flooded)) < rig.settings.limits.result_characters + 200
    assert picture == "(image, image/png, 3 KiB)"
    assert measured == "100000"


async def test_an_argument_of_100_kb_is_asked_about_whole_and_arrives_whole(mcp_rig: McpRig, tmp_path: Path) -> None:
    rig = await mcp_rig({"own": program(tmp_path)})
    text = "y" * 100_000
    rig.model.then(calls(("own.measure", {"text": text})), says("Done."))
    case = await rig.say("measure it")
    await rig.work()
    assert text in (await rig.gate(case)).args
    await rig.decide(case)
    await rig.work()
    assert returned(rig.model.sent[-1]) == ["100000"]


async def test_two_hundred_tools_are_offered_and_names_that_do_not_fit_are_made_to(
    mcp_rig: McpRig, tmp_path: Path
) -> None:
    rig = await mcp_rig({"own": program(tmp_path, "200", tier="read_only")})
    tools = rig.desk.toolbox.tools
    odd = [name for name in tools if name.startswith("own.a_tool") or name.startswith("own.crire")]
    assert len(odd) == 3
    results = await called(rig, *((name, dict[str, object]()) for name in (*sorted(odd), "own.tool_199")))
    assert sorted(str(one).rsplit("_", 1)[-1] for one in results) == ["199", "one", "this is écrire/ça", "two"]
    offered = rig.model.offered[-1]
    assert sum(name.startswith("own__tool_") for name in offered) == 200
    assert len(offered) == len(set(offered))
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in offered)
    assert all(name.isascii() for name in offered)


async def test_arguments_that_do_not_fit_the_servers_schema_are_refused_before_it_is_asked(
    mcp_rig: McpRig, tmp_path: Path
) -> None:
    rig = await mcp_rig({"own": program(tmp_path)})
    (refused,) = await called(rig, ("own.record", {"text": 7}))
    assert refused == "own.record cannot be called like that: \"text\": 7 is not of type 'string'."
    assert Behaviour(tmp_path).effects() == []


async def test_a_server_that_prints_to_its_output_works_all_the_same(
    mcp_rig: McpRig, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is said once, and nothing of what it printed is in our log or output."""
    rig = await mcp_rig({"own": talkative()})
    assert await called(rig, ("own.work", {}), ("own.work", {})) == ["worked", "worked"]
    assert [one.message for one in caplog.records if one.levelno >= logging.WARNING] == ["mcp.garbage"]
    assert capfd.readouterr().out == ""


async def test_a_server_that_says_nothing_of_the_protocol_holds_a_start_up_only_for_a_while(
    mcp_rig: McpRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "HANDSHAKE_S", 0.3)
    rig = await mcp_rig({"own": talkative("mute"), "good": talkative()})
    assert mcp_rig.servers.troubles == {"own": "it does not answer in time"}
    assert await called(rig, ("good.work", {})) == ["worked"]


async def test_a_program_gets_the_secret_it_needs_and_no_variable_of_ours(
    mcp_rig: McpRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "ours")
    keyed = program(tmp_path / "b", tier="read_only")
    keyed["env"]["API_KEY"] = "theirs"
    rig = await mcp_rig({"a": program(tmp_path / "a", tier="read_only"), "b": keyed})
    assert await called(rig, ("a.secret", {}), ("b.secret", {})) == ["none", "theirs"]


async def test_a_fault_of_ours_is_not_a_server_that_is_down_to_whoever_looks_for_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("what nobody thought of")

    caplog.set_level(logging.DEBUG, "casebound.mcp")
    one = Servers(Settings.model_validate({"mcp": {"own": talkative()}}).mcp, broken)
    async with one.running():
        assert one.troubles == {"own": "it cannot be reached (KeyError)"}
    found = next(record for record in caplog.records if record.message == "mcp.error")
    assert found.exc_info is not None
    assert found.exc_info[0] is not None
