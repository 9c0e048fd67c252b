"""MCP servers at an address, over streamable HTTP."""

from pathlib import Path
from typing import Any

import pytest

from bot.tools import outside
from bot.tools.mcp import server as mcp_server
from casestore.models import Case
from tests.loop.rig import Rig
from tests.loop.scripted import calls, returned, says
from tests.tools.mcp_rig import McpRig
from tests.wire.mcp.behaviour import FLOOD, Behaviour
from tests.wire.mcp.over_http import OverHttp, over_http

READS: dict[str, Any] = {"tier": "read_only"}
RECORD = ("crm.record", {"text": "hello"})


async def result(rig: Rig, tool: str, args: dict[str, object]) -> str:
    """What the model is shown of a call."""
    rig.model.then(calls((tool, args)), says("Done."))
    await rig.say("do it")
    await rig.work()
    return str(returned(rig.model.sent[-1])[-1])


async def recorded(rig: Rig) -> Case:
    """A case in which something was to be written down, and was approved."""
    rig.model.then(calls(RECORD))
    case = await rig.say("write it down")
    await rig.work()
    await rig.decide(case)
    await rig.work()
    return case


async def test_a_server_at_an_address_is_let_in_by_a_header_and_does_what_was_approved(
    mcp_rig: McpRig, tmp_path: Path
) -> None:
    async with over_http(Behaviour(tmp_path), token="t0k3n") as crm:
        rig = await mcp_rig({"crm": {"url": crm.url, "headers": {"Authorization": "Bearer t0k3n"}}})
        rig.model.then(calls(RECORD), says("Done."))
        case = await rig.say("write it down")
        await rig.work()
        await rig.decide(case)
        await rig.work()
        assert crm.behaviour.effects() == ["hello"]
        await mcp_rig.end()


async def test_a_large_answer_arrives(mcp_rig: McpRig, tmp_path: Path) -> None:
    async with over_http(Behaviour(tmp_path)) as crm:
        rig = await mcp_rig({"crm": {"url": crm.url, **READS}})
        shown = await result(rig, "crm.flood", {})
        assert f"[… {FLOOD - rig.settings.limits.result_characters + len('| ')} characters left out" in shown
        await mcp_rig.end()


async def test_one_that_does_not_let_us_in_is_told_of_without_the_secret(
    mcp_rig: McpRig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with over_http(Behaviour(tmp_path), token="another") as crm:
        await mcp_rig({"crm": {"url": crm.url, "headers": {"Authorization": "Bearer s3cr3t"}}})
        assert mcp_rig.servers.troubles == {"crm": "it answers with HTTP 401"}
        assert "s3cr3t" not in caplog.text
        assert "Traceback" not in caplog.text
        await mcp_rig.end()


@pytest.mark.parametrize("fault", [500, 503, 408, "cut"])
async def test_an_answer_that_is_lost_leaves_the_outcome_to_a_person(
    mcp_rig: McpRig, tmp_path: Path, fault: int | str
) -> None:
    """R14: it happened, once."""
    async with over_http(Behaviour(tmp_path)) as crm:
        rig = await mcp_rig({"crm": {"url": crm.url}})
        crm.fault = fault
        case = await recorded(rig)
        assert (await rig.gate(case)).kind == "outcome"
        assert crm.behaviour.effects() == ["hello"]
        await mcp_rig.end()


async def test_a_call_that_is_refused_has_failed(mcp_rig: McpRig, tmp_path: Path) -> None:
    async with over_http(Behaviour(tmp_path)) as crm:
        rig = await mcp_rig({"crm": {"url": crm.url, **READS}})
        crm.fault = 403
        assert await result(rig, "crm.echo", {"text": "x"}) == "its server refuses the call (HTTP 403)"
        await mcp_rig.end()


async def test_a_server_that_was_deployed_anew_does_the_next_call_all_the_same(mcp_rig: McpRig, tmp_path: Path) -> None:
    """Its sessions are gone, and nobody notices: neither of a look nor of an effect."""
    async with over_http(Behaviour(tmp_path)) as crm:
        rig = await mcp_rig({"crm": {"url": crm.url, "tier": "routine"}})
        await redeploy(crm)
        assert await result(rig, "crm.record", {"text": "one"}) == "recorded"
        await redeploy(crm)
        assert await result(rig, "crm.record", {"text": "two"}) == "recorded"
        assert crm.behaviour.effects() == ["one", "two"]
        await mcp_rig.end()


async def test_a_look_at_a_server_that_was_deployed_anew_is_answered(mcp_rig: McpRig, tmp_path: Path) -> None:
    async with over_http(Behaviour(tmp_path)) as crm:
        rig = await mcp_rig({"crm": {"url": crm.url, **READS}})
        await redeploy(crm)
        assert await result(rig, "crm.echo", {"text": "one"}) == "one"
        await mcp_rig.end()


async def test_a_tool_that_was_changed_by_the_deploy_is_not_called(mcp_rig: McpRig, tmp_path: Path) -> None:
    """R9: the session is found gone at the call itself, which by then is no call of what was meant."""
    async with over_http(Behaviour(tmp_path)) as crm:
        rig = await mcp_rig({"crm": {"url": crm.url, **READS}})
        meant = rig.desk.toolbox.get("crm.record")
        assert meant is not None
        crm.behaviour.define_anew()
        await redeploy(crm)
        made = await outside.make(meant, {"text": "hello"})
        assert not isinstance(made, outside.TimedOut)
        assert made.content == "not run: the tool has been changed on the MCP server crm since it was asked about"
        assert crm.behaviour.effects() == []
        await mcp_rig.end()


async def test_a_call_to_a_server_that_is_gone_was_not_made(
    mcp_rig: McpRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "LOOK_S", 0.3)
    async with over_http(Behaviour(tmp_path)) as crm:
        rig = await mcp_rig({"crm": {"url": crm.url, "tier": "routine"}})
        await crm.stop()
        told = await result(rig, "crm.record", {"text": "one"})
        assert told == "not run: the MCP server crm cannot be used: it cannot be reached (ConnectError)"
        await mcp_rig.end()


async def redeploy(server: OverHttp) -> None:
    """Another process at the same address, which knows no session."""
    await server.stop()
    await server.start()
