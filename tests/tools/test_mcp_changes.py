"""What becomes of a question when the tool it is about changes, or its server is down (R8, R9)."""

import asyncio
import signal
from pathlib import Path

import psutil
import pytest

from bot.tools import outside
from bot.tools.declare import Tool
from bot.tools.mcp import server as mcp_server
from bot.tools.results import ResultKind
from bot.turns import unspent
from casestore.models import Case
from casestore.states import GateState
from casestore.tx import Tx
from tests.api.rig import until
from tests.loop.rig import Rig
from tests.loop.scripted import Held, Waits, calls, returned, says
from tests.tools.mcp_rig import McpRig, program
from tests.wire.mcp.behaviour import Behaviour

RECORD = ("own.record", {"text": "hello"})


async def asked(rig: Rig) -> Case:
    """A case that waits for a decision about writing something down."""
    rig.model.then(calls(RECORD))
    case = await rig.say("write it down")
    await rig.work()
    return case


def processes(folder: Path) -> list[psutil.Process]:
    """The server's."""
    return [one for one in psutil.Process().children(recursive=True) if str(folder) in one.cmdline()]


async def test_a_tool_that_changed_since_it_was_asked_about_is_asked_about_anew(
    mcp_rig: McpRig, tmp_path: Path
) -> None:
    """R9: the server says nothing of it by itself."""
    own = Behaviour(tmp_path)
    rig = await mcp_rig({"own": program(tmp_path)})
    case = await asked(rig)
    own.define_anew()
    await rig.decide(case)
    await rig.work()
    assert own.effects() == []
    old, new = await rig.gates(case)
    assert (old.state, new.state) == (GateState.VOID, GateState.OPEN)
    assert old.void_reason == "the tool's definition has changed since it was shown"
    assert old.tool_version != new.tool_version
    rig.model.then(says("Done."))
    await rig.decide(case)
    await rig.work()
    assert own.effects() == ["hello"]


async def test_a_tool_that_changes_at_the_last_moment_is_not_called(mcp_rig: McpRig, tmp_path: Path) -> None:
    """R9: between the approval that was spent and the call."""
    own = Behaviour(tmp_path)
    rig = await mcp_rig({"own": program(tmp_path)})
    shown = the(rig, "own.record")
    own.define_anew()
    made = await outside.make(shown, {"text": "hello"})
    assert not isinstance(made, outside.TimedOut)
    assert made.kind is ResultKind.FAILED
    assert made.content == "not run: the tool has been changed on the MCP server own since it was asked about"
    assert own.effects() == []


async def test_tools_that_change_while_a_run_lasts_are_offered_as_they_are_from_then_on(
    mcp_rig: McpRig, tmp_path: Path
) -> None:
    """R16: what is recorded is what was sent last."""
    rig = await mcp_rig({"own": program(tmp_path, tier="read_only")})
    before = the(rig, "own.record")

    async def known() -> Tool | None:
        return None if the(rig, "own.record").version == before.version else the(rig, "own.record")

    held = Held()
    rig.model.then(calls(("own.grow", {})), Waits(held, calls(("own.echo", {"text": "x"}))), says("Done."))
    case = await rig.say("grow")
    working = rig.start(rig.work())
    await held.reached.wait()
    after = await until(known)
    held.release.set()
    await working
    assert "copies" in str(after.schema)
    (run,) = await rig.runs(case)
    assert "copies" in await rig.store.read(tools_sent, run.prompt_version or "")


async def test_an_approval_waits_for_a_server_that_is_down(
    mcp_rig: McpRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8."""
    monkeypatch.setattr(mcp_server, "LOOK_S", 0.05)
    own = Behaviour(tmp_path)
    rig = await mcp_rig({"own": program(tmp_path)})
    case = await asked(rig)
    await mcp_rig.end()
    await rig.decide(case)
    await rig.work()
    assert [gate.state for gate in await rig.gates(case)] == [GateState.APPROVED]
    assert (await rig.turns(case))[0].not_before == rig.clock.now() + unspent.AGAIN_MS

    monkeypatch.undo()
    await mcp_rig.connect()
    rig.clock.pass_by(unspent.AGAIN_MS)
    rig.model.then(says("Done."))
    await rig.work()
    assert own.effects() == ["hello"]


async def test_an_approval_does_not_wait_for_ever(
    mcp_rig: McpRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "LOOK_S", 0.05)
    rig = await mcp_rig({"own": program(tmp_path)})
    case = await asked(rig)
    await mcp_rig.end()
    await rig.decide(case)
    rig.clock.pass_by(unspent.PATIENCE_MS)
    rig.model.then(says("It could not be done."))
    await rig.work()
    (result,) = returned(rig.model.sent[-1])
    assert str(result).startswith("not run: the MCP server own cannot be used")
    assert [step.state for step in await rig.steps(case)] == ["failed"]


async def test_after_a_restart_an_approval_waits_until_its_server_is_known(mcp_rig: McpRig, tmp_path: Path) -> None:
    own = Behaviour(tmp_path)
    rig = await mcp_rig({"own": program(tmp_path)})
    case = await asked(rig)
    await rig.decide(case)
    await rig.restart()
    await rig.work()
    assert [gate.state for gate in await rig.gates(case)] == [GateState.APPROVED]
    await mcp_rig.connect()
    rig.clock.pass_by(unspent.AGAIN_MS)
    rig.model.then(says("Done."))
    await rig.work()
    assert own.effects() == ["hello"]


async def test_a_server_that_is_busy_is_not_cut_off_from_what_it_is_doing(
    mcp_rig: McpRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not say in time what its tools are; but another call of it is under way."""
    rig = await mcp_rig({"own": program(tmp_path)})
    under_way = asyncio.create_task(outside.make(the(rig, "own.hold"), {}))
    own = Behaviour(tmp_path)

    async def begun() -> bool | None:
        return own.begun() or None

    await until(begun)
    monkeypatch.setattr(mcp_server, "LOOK_S", 0.0)
    refused = await outside.make(the(rig, "own.record"), {"text": "hello"})
    assert not isinstance(refused, outside.TimedOut)
    assert refused.content == "not run: the MCP server own cannot be used: it does not answer in time"
    (tmp_path / "go").touch()
    made = await under_way
    assert not isinstance(made, outside.TimedOut)
    assert made.kind is ResultKind.OK


async def test_a_server_that_was_killed_is_started_again_for_the_next_call(mcp_rig: McpRig, tmp_path: Path) -> None:
    rig = await mcp_rig({"own": program(tmp_path, tier="read_only")})
    (process,) = processes(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.wait()

    async def started_again() -> list[psutil.Process] | None:
        return processes(tmp_path) or None

    await until(started_again)
    rig.model.then(calls(("own.echo", {"text": "again"})), says("Done."))
    await rig.say("say it")
    await rig.work()
    assert returned(rig.model.sent[-1]) == ["again"]
    assert len(processes(tmp_path)) == 1


def tools_sent(tx: Tx, version: str) -> str:
    """The schemas of a prompt, as it was sent."""
    ((tools,),) = tx.tuples("SELECT tools FROM prompts WHERE version = :version", version=version)
    return str(tools)


def the(rig: Rig, name: str) -> Tool:
    """One of the tools."""
    found = rig.desk.toolbox.get(name)
    assert found is not None
    return found
