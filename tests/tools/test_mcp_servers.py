"""Real MCP servers as tools: what they offer, what the policy does with it, and who says so."""

import subprocess
from pathlib import Path

from casestore.states import Verb
from tests.loop.scripted import calls, returned, says
from tests.tools.mcp_rig import BIN, McpRig

TIME = {"time": {"command": str(BIN / "mcp-server-time"), "args": ["--local-timezone", "UTC"], "tier": "read_only"}}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a repository."""
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


async def test_what_only_looks_is_called_at_once(mcp_rig: McpRig) -> None:
    rig = await mcp_rig(TIME)
    rig.model.then(calls(("time.get_current_time", {"timezone": "Asia/Tokyo"})), says("It is late."))
    case = await rig.say("what time is it in Tokyo?")
    await rig.work()
    assert rig.model.offered[-1].count("time__get_current_time") == 1
    assert "Asia/Tokyo" in str(returned(rig.model.sent[-1])[0])
    assert (await rig.texts(case))[-1] == "It is late."


async def test_what_has_a_consequence_is_done_once_a_person_has_approved_it(mcp_rig: McpRig, tmp_path: Path) -> None:
    """A whole server is said to be read only, and what it says of a tool raises that tool's tier."""
    git(tmp_path, "init", "--initial-branch=main")
    (tmp_path / "a").write_text("a", "utf-8")
    git(tmp_path, "add", "a")
    settings = {"git": {"command": str(BIN / "mcp-server-git"), "tier": "read_only"}}
    rig = await mcp_rig(settings)
    git(tmp_path, "config", "user.name", "Kim")
    git(tmp_path, "config", "user.email", "kim@example.org")
    asked = {"repo_path": str(tmp_path), "message": "Add a"}
    rig.model.then(
        calls(("git.git_status", {"repo_path": str(tmp_path)}), ("git.git_commit", asked)), says("Committed.")
    )
    case = await rig.say("commit it")
    await rig.work()
    gate = await rig.gate(case)
    assert gate.statement == f'Call git_commit of the MCP server git: repo_path "{tmp_path}", message "Add a"'
    assert "a" in str((await rig.steps(case))[0].result)
    await rig.decide(case, Verb.APPROVE)
    await rig.work()
    assert git(tmp_path, "log", "--format=%s") == "Add a\n"
    assert (await rig.texts(case))[-1] == "Committed."


async def test_a_server_without_a_tier_is_asked_about_whatever_it_says_of_itself(mcp_rig: McpRig) -> None:
    """R24: `readOnlyHint` lowers nothing."""
    rig = await mcp_rig({"time": {**TIME["time"], "tier": None}})
    rig.model.then(calls(("time.get_current_time", {"timezone": "UTC"})))
    case = await rig.say("what time is it?")
    await rig.work()
    assert (await rig.gate(case)).tool == "time.get_current_time"
