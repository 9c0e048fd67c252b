"""What is done for a role, a person or nobody can only be less than what the policy allows (design, section 7)."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.alerts import intake as alerts
from bot.app import running
from bot.errors import SettingsError
from bot.policy import policy
from bot.settings import Policy, Settings, load
from bot.settings.profiles import Profile, Profiles
from bot.toolkit import put, toolbox
from bot.tools.declare import Tool
from bot.tools.results import CallResult
from casestore.states import GateState, StepState, Tier, Verb
from tests.alerts.notifications import chairs, group
from tests.cli.command_line import Cli
from tests.conftest import World
from tests.degraded.broken import read_only
from tests.degraded.talk import settled, speak
from tests.loop.cut_off import unknown
from tests.loop.effects import declared
from tests.loop.ended import kinds
from tests.loop.rig import Rig
from tests.loop.scripted import calls, returned, says

STRICTER = ("free", "gate", "refuse")
VERDICTS = st.sampled_from(STRICTER)
NAMES = st.sampled_from(["look", "svc.*", "svc.restart", "case.*", "case.resolve", "note", "nothing.*"])
PROFILES = st.builds(
    Profile, tools=st.none() | st.lists(NAMES, max_size=3), without=st.lists(NAMES, max_size=3),
    read_only=st.none() | VERDICTS, routine=st.none() | VERDICTS, consequential=st.none() | VERDICTS,
)  # fmt: skip
POLICIES = st.builds(Policy, read_only=VERDICTS, routine=VERDICTS, consequential=VERDICTS, observe=st.booleans())


def named(some: list[Profile]) -> dict[str, Profile]:
    return {f"profiles.{nth}": profile for nth, profile in enumerate(some)}


@given(POLICIES, st.lists(PROFILES, max_size=3), PROFILES, st.sampled_from(declared()))
def test_no_profile_gives_what_the_policy_or_another_profile_does_not(
    said: Policy, others: list[Profile], further: Profile, tool: Tool
) -> None:
    settings = Settings(policy=said)
    alone = policy.explain(tool, settings)
    with_others = policy.explain(tool, settings, named(others))
    with_further = policy.explain(tool, settings, named([*others, further]))
    assert STRICTER.index(alone) <= STRICTER.index(with_others) <= STRICTER.index(with_further)
    assert with_further == policy.explain(tool, settings, named([further, *others[::-1]]))
    assert policy.offered(tool, settings, named([further])) <= policy.offered(tool, settings)


async def narrowed(rig: Rig, **profiles: dict[str, Profile]) -> None:
    """A new process on the same file, with these profiles."""
    rig.settings = rig.settings.model_copy(update={"profiles": Profiles(**profiles)})
    await rig.restart()


async def test_whom_a_profile_leaves_a_tool_out_for_is_not_offered_it_and_cannot_have_it(rig: Rig) -> None:
    await narrowed(rig, roles={"requester": Profile(without=("svc.*", "note"))})
    rig.model.then(
        calls(("note", {"text": "x"}), ("svc.restart", {"service": "nginx"}), ("look", {"at": "/"})),
        says("Not for you."), says("For you."),
    )  # fmt: skip
    case = await rig.say("Restart it.")
    await rig.work()

    assert not {"note", "svc__restart"} & {*rig.model.offered[0]}
    assert await kinds(rig, case) == ["refused", "refused", "ok"]
    assert returned(rig.model.sent[1])[1] == "refused: [profiles.roles.requester] does not allow svc.restart"
    assert rig.effects.made == ["look /"]
    version = (await rig.runs(case))[0].prompt_version
    await rig.say("Restart it.", by="kim")
    await rig.work()
    assert {"note", "svc__restart"} <= {*rig.model.offered[-1]}
    assert (await rig.runs(case))[-1].prompt_version != version


async def test_a_profile_is_of_whom_a_turn_acts_for_and_not_of_who_else_writes_in_it(rig: Rig) -> None:
    await narrowed(rig, principals={"ann": Profile(tools=("look",))})
    rig.model.then(says("Both."), says("Kim."))
    await rig.say("Restart it.")
    await rig.say("Yes, do.", by="kim")
    await rig.work()
    await rig.say("And now?", by="kim")
    await rig.work()

    assert rig.model.offered[0] == ["look"]
    assert "svc__restart" in rig.model.offered[1]


async def test_a_role_and_a_name_leave_what_both_leave(rig: Rig) -> None:
    await narrowed(
        rig, roles={"requester": Profile(tools=("look", "note"))}, principals={"ann": Profile(tools=("note", "wipe"))}
    )
    rig.model.then(says("Hello."))
    await rig.say("Hi")
    await rig.work()
    assert rig.model.offered == [["note"]]


async def test_what_nobody_asked_for_has_a_profile_too(rig: Rig) -> None:
    await narrowed(rig, roles={"nobody": Profile(tools=())})
    rig.model.then(says("I can do nothing."))
    await rig.store.write(alerts.receive, rig.clock.now(), group(chairs()), rig.settings, None)
    await rig.work()
    assert rig.model.offered == [[]]


async def test_a_profile_asks_where_the_policy_does_not(rig: Rig) -> None:
    await narrowed(rig, roles={"requester": Profile(routine="gate", consequential="free")})
    rig.model.then(calls(("note", {"text": "x"}), ("svc.restart", {"service": "nginx"})), says("Done."))
    case = await rig.say("Note it.")
    await rig.work()
    assert rig.effects.made == []
    await rig.decide(case)
    await rig.work()
    assert rig.effects.made == ["note x"]
    assert (await rig.gate(case)).tool == "svc.restart"


async def test_an_approval_is_not_spent_where_a_profile_has_taken_the_tool_away_since(rig: Rig) -> None:
    rig.model.then(calls(("svc.restart", {"service": "nginx"})), says("Then not."))
    case = await rig.say("Restart it.")
    await rig.work()
    await rig.decide(case)
    await narrowed(rig, principals={"ann": Profile(consequential="refuse")})
    await rig.work()

    assert rig.effects.made == []
    (gate,) = await rig.gates(case)
    why = 'approved, but refused: [profiles.principals."ann"] does not allow svc.restart'
    assert (gate.state, gate.void_reason) == (GateState.VOID, why)
    assert returned(rig.model.sent[-1]) == [why]


async def test_nor_is_a_call_run_again_whose_outcome_nobody_knows(rig: Rig) -> None:
    case = await unknown(rig)
    await rig.decide(case, Verb.RERUN)
    await narrowed(rig, roles={"requester": Profile(without=("note",))})
    await rig.work()

    assert rig.effects.made == ["note x"]
    (step,) = await rig.steps(case)
    assert step.state is StepState.UNKNOWN
    told = str(CallResult.load(step.result or "").content)
    assert told.endswith("it was to be run again, but [profiles.roles.requester] does not allow note")


async def test_a_consent_is_not_made_use_of_where_a_profile_has_taken_the_tool_away_since(rig: Rig) -> None:
    rig.model.then(calls(("diary", {"of": "ann"})), says("Then not."))
    case = await rig.say("What did I write?")
    await rig.work()
    await rig.decide(case, by="ann")
    await narrowed(rig, roles={"requester": Profile(without=("diary",))})
    await rig.work()

    assert rig.effects.made == []
    assert await kinds(rig, case) == ["refused"]


async def test_while_nothing_can_be_stored_only_what_no_profile_narrows_is_offered(rig: Rig) -> None:
    await narrowed(rig, principals={"ben": Profile(without=("look",))})
    await settled(rig)
    rig.model.then(says("Here I am."))
    async with read_only(rig.store):
        await speak(rig, "Look!")
    assert rig.model.offered[-1] == ["broken"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[profiles.roles.boss]\ntools = []", "there is no role 'boss'; there are requester, operator, admin, nobody"),
        ('[profiles.roles.requester]\ntools = ["host."]', "has to be the name of a tool, or host.* for"),
        ('[profiles.roles.requester]\nwithout = ["*.load"]', "has to be the name of a tool, or host.* for"),
        ("[profiles.roles.requester]\ntool = []", "did you mean profiles.roles.requester.tools?"),
        ('[profiles.roles.requester]\nroutine = "always"', "'free', 'gate' or 'refuse'"),
    ],
)  # fmt: skip
def test_a_profile_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "casebound.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as raised:
        load(file)
    assert why in str(raised.value)


@pytest.mark.parametrize("key", ["tools", "without"])
def test_a_profile_about_a_tool_there_is_not_is_refused(key: str) -> None:
    settings = Settings.model_validate({"profiles": {"principals": {"ann": {key: ["host.*", "host.clear_cash"]}}}})
    with pytest.raises(SettingsError) as raised:
        toolbox(settings, {}, lambda: 0)
    assert str(raised.value) == (
        '[profiles.principals."ann"] names host.clear_cash, and there is no such tool; see: casebound tools list'
    )


def test_a_profile_may_name_tools_of_a_server_that_is_not_reached_yet() -> None:
    said = {
        "mcp": {"time": {"command": "x"}},
        "profiles": {"roles": {"requester": {"without": ["time.*", "time.now"]}}},
    }
    toolbox(Settings.model_validate(said), {}, lambda: 0)


async def test_tools_list_shows_what_is_left_for_somebody(cli: Cli, db: Path, world: World) -> None:
    db.with_name("casebound.toml").write_text(
        '[profiles.roles.requester]\nwithout = ["host.log_tail"]\n'
        '[profiles.principals.dora]\nread_only = "gate"\nconsequential = "free"\n'
    )  # fmt: skip
    await cli.done("principal", "add", "dora")

    found = {one["name"]: one for one in (await cli("tools", "list", "--for", "dora", "--json")).json["tools"]}
    assert found["host.log_tail"]["policy"] == "refuse"
    assert "[profiles.roles.requester] leaves it out" in found["host.log_tail"]["why"]
    assert (found["host.disk_usage"]["tier"], found["host.disk_usage"]["policy"]) == (Tier.READ_ONLY, "gate")
    assert found["host.restart_service"]["policy"] == "gate"
    assert "can only narrow" in found["host.restart_service"]["why"]
    everybody = {one["name"]: one for one in (await cli("tools", "list", "--json")).json["tools"]}
    assert everybody["host.disk_usage"]["policy"] == "free"
    assert "No principal named nobody-here" in (await cli("tools", "list", "--for", "nobody-here")).line


async def test_a_profile_about_nobody_is_told_of_when_the_service_starts(
    db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said: dict[str, object] = {"principals": {"dora": {"tools": []}, "operator": {"without": ["host.*"]}}}
    settings = Settings.model_validate({"service": {"db": db}, "profiles": said})
    async with running(settings, name="a test"):
        pass
    (told,) = [record for record in caplog.records if record.message == "profiles.nobody"]
    assert "no principal is called dora; see: casebound principal list" in vars(told)["fields"]["why"]


def test_a_profile_about_a_tool_that_a_server_has_not_is_told_of_once_it_is_reached(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = Settings.model_validate(
        {
            "mcp": {"time": {"command": "x"}, "crm": {"command": "y"}},
            "profiles": {"roles": {"requester": {"without": ["time.*", "time.nte", "crm.find", "host.*"]}}},
        }
    )
    box = toolbox(settings, {}, lambda: 0)
    put(box, settings, "time", [replace(tool, name=f"time.{tool.name}") for tool in declared() if tool.call])
    (told,) = [record for record in caplog.records if record.message == "mcp.no_such_tool"]
    assert "names time.nte, and there is no such tool; did you mean time.note?" in vars(told)["fields"]["why"]
