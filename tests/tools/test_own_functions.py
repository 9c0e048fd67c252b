"""Tools that an installation writes itself, in Python."""

import re
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.settings import Settings, load
from bot.toolkit import toolbox
from tests.cli.command_line import Cli
from tests.loop.conftest import MakeRig
from tests.loop.scripted import calls, says
from tests.tools.own_module import HEAD, Write, served

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def example() -> str:
    found = re.search(r"```python\n(.+?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


async def test_the_example_in_the_docs_looks_at_once_and_asks_before_it_pays(make_rig: MakeRig, write: Write) -> None:
    rig = await served(make_rig, write(example()))
    rig.model.then(
        calls(("shop.order", {"order": "A-1"})), calls(("shop.refund", {"order": "A-1", "cents": 5})), says("Done.")
    )
    case = await rig.say("pay A-1 back")
    await rig.work()
    assert (await rig.steps(case))[0].result == '{"content":"shipped","kind":"ok"}'
    assert (await rig.gate(case)).statement == 'Pay 5 cents back for the order "A-1"'
    await rig.decide(case)
    await rig.work()
    assert (await rig.texts(case))[-1] == "Done."


BAD = (
    HEAD
    + """
@tool("Raise", tier=Tier.READ_ONLY)
async def raises() -> str:
    \"\"\"Raise.\"\"\"
    raise KeyError("secret detail")

@tool("Hang", tier=Tier.READ_ONLY, timeout_ms=20)
async def hangs() -> str:
    \"\"\"Hang.\"\"\"
    await asyncio.Event().wait()
    return "never"

@tool("Measure {text}", tier=Tier.READ_ONLY)
async def measure(text: str) -> int:
    \"\"\"Measure.\"\"\"
    return len(text)

@tool("Flood", tier=Tier.READ_ONLY)
async def flood() -> str:
    \"\"\"Flood.\"\"\"
    return "x" * 5_000_000
"""
)


async def test_one_that_raises_hangs_or_floods_ends_as_one_bounded_result(
    make_rig: MakeRig, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    rig = await served(make_rig, write(BAD))
    rig.model.then(
        calls(("raises", {}), ("hangs", {}), ("measure", {"text": "y" * 100_000}), ("flood", {})), says("Done.")
    )
    case = await rig.say("try them")
    await rig.work()
    raised, hung, measured, flooded = [step.result or "" for step in await rig.steps(case)]
    assert raised == '{"content":"it failed unexpectedly (KeyError)","kind":"failed","told":true}'
    (told,) = [record for record in caplog.records if record.message == "tool.raised"]
    line = 1 + BAD[: BAD.index("raise KeyError")].count("\n")
    assert vars(told)["fields"] == {"tool": "raises", "line": f"my_tools.py:{line}"}
    assert "did not come back" in hung
    assert measured == '{"content":100000,"kind":"ok"}'
    assert len(flooded) > 5_000_000
    assert len(str(rig.model.sent[-1])) < 4 * rig.settings.limits.result_characters + 250_000
    assert (await rig.texts(case))[-1] == "Done."


PRINTS = (
    HEAD
    + """
@tool("Print", tier=Tier.READ_ONLY)
async def prints() -> str:
    \"\"\"Print.\"\"\"
    print("here")
    await asyncio.to_thread(print, "and there")
    print("x" * 100_000)
    return "printed"
"""
)


async def test_what_a_function_prints_is_in_the_log_and_not_in_our_output(
    make_rig: MakeRig, write: Write, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "casebound.outside")
    rig = await served(make_rig, write(PRINTS))
    rig.model.then(calls(("prints", {})), says("Done."))
    case = await rig.say("print")
    await rig.work()
    assert [step.result for step in await rig.steps(case)] == ['{"content":"printed","kind":"ok"}']
    print("ours")
    assert capsys.readouterr() == ("ours\n", "")
    (told,) = [record for record in caplog.records if record.message == "tool.printed"]
    text = str(vars(told)["fields"]["text"])
    assert text.startswith("here\nand there\nxxx")
    assert len(text) <= 2_000


async def test_one_with_an_effect_that_hangs_leaves_its_outcome_to_a_person(make_rig: MakeRig, write: Write) -> None:
    """R14."""
    hang = "await asyncio.Event().wait()"
    spend = f'@tool("S", timeout_ms=20, tier=Tier.ROUTINE)\nasync def spend() -> None:\n    "S"\n    {hang}'
    rig = await served(make_rig, write(f"{HEAD}{spend}"))
    rig.model.then(calls(("spend", {})))
    case = await rig.say("spend")
    await rig.work()
    assert (await rig.gate(case)).kind == "outcome"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_there", r"my_tools cannot be imported from .*No module named 'nothing_there' at line 1 of"),
        ("def f(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "declares no tool"),
        (
            HEAD + '@tool("T", name="host.disk_usage")\nasync def t() -> str:\n    "T"\n    return ""',
            "called host",
        ),
        (HEAD + '@tool("T {x}")\nasync def t() -> str:\n    "T"\n    return ""', "its statement may only name its arg"),
        (HEAD + '@tool("T")\ndef t() -> str:\n    "T"\n    return ""', "coroutine function; write async def"),
        (HEAD + '@tool("T")\nasync def t() -> str:\n    return ""', "give its function a docstring"),
        (HEAD + '@tool(" ")\nasync def t() -> str:\n    "T"\n    return ""', "its statement is empty"),
        (HEAD + '@tool("T")\nasync def t(x) -> str:\n    "T"\n    return ""', "parameter x has no type; write x: s"),
        (HEAD + '@tool("T")\nasync def t(*x: str) -> str:\n    "T"\n    return ""', r"\*args, .* are not offered"),
        (HEAD + '@tool("T", tier="readonly")\nasync def t() -> str:\n    "T"\n    return ""', "no tier 'readonly'"),
        (HEAD + '@tool("T", may_change="x")\nasync def t(x: str) -> str:\n    "T"\n    return ""', "has to be a list"),
        (HEAD + '@tool\nasync def t() -> str:\n    "T"\n    return ""', "and not with @tool alone"),
        (
            HEAD + 'class Thing: pass\n@tool("T")\nasync def t(x: Thing) -> str:\n    "T"\n    return ""',
            r"a type that cannot be said in JSON \(.*Thing.*\); take str",
        ),
        (
            HEAD + '@tool("T", timeout="5s")\nasync def t() -> str:\n    "T"\n    return ""',
            r"keyword argument 'timeout' at line \d of \S+my_tools.py; mend",
        ),
        ("import json\njson.loads('{')", r"JSONDecodeError: .* at line 2 of \S+my_tools.py; mend"),
    ],
)
def test_a_module_that_cannot_be_used_is_told_of_in_one_sentence(write: Write, text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        toolbox(write(text), {}, lambda: 0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["my_tools.py", "./my_tools", "my-tools", ""])
def test_a_module_is_named_and_not_its_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "casebound.toml").write_text(f'[python]\nmodule = "{name}"\n')
    with pytest.raises(SettingsError, match=r"python.module: has to be the name of a module, such as my_tools: no .py"):
        load(tmp_path / "casebound.toml")


def test_one_that_would_pass_for_a_tool_of_a_server_is_refused(write: Write) -> None:
    own = write(HEAD + '@tool("T", name="shop.order")\nasync def own() -> str:\n    "T"\n    return ""')
    both = Settings.model_validate({"mcp": {"shop": {"command": "x"}}}).model_copy(update={"python": own.python})
    with pytest.raises(SettingsError, match=r"shop.order .* would pass for one of the server \[mcp.shop\]"):
        toolbox(both, {}, lambda: 0)


async def test_a_tier_in_words_is_that_tier(cli: Cli, write: Write, tmp_path: Path) -> None:
    write(HEAD + '@tool("T", tier="read_only")\nasync def own() -> str:\n    "T"\n    return ""')
    (tmp_path / "casebound.toml").write_text('[python]\nmodule = "my_tools"\n')
    listed = {one["name"]: one for one in (await cli("tools", "list", "--json")).json["tools"]}
    assert (listed["own"]["tier"], listed["own"]["policy"]) == ("read_only", "free")


async def test_what_a_module_prints_is_not_part_of_the_document(cli: Cli, write: Write, tmp_path: Path) -> None:
    write('print("hello")\n' + HEAD + '@tool("T")\nasync def own() -> str:\n    "T"\n    return ""')
    (tmp_path / "casebound.toml").write_text('[python]\nmodule = "my_tools"\n')
    listed = {one["name"]: one for one in (await cli("tools", "list", "--json")).json["tools"]}
    assert (listed["own"]["tier"], listed["own"]["policy"]) == ("consequential", "gate")


async def test_the_settings_decide_over_what_the_module_says(cli: Cli, write: Write, tmp_path: Path) -> None:
    write(HEAD + '@tool("T")\nasync def own() -> str:\n    "T"\n    return ""')
    (tmp_path / "casebound.toml").write_text('[python]\nmodule = "my_tools"\n[tools.own]\ntier = "read_only"\n')
    listed = {one["name"]: one for one in (await cli("tools", "list", "--json")).json["tools"]}
    assert listed["own"]["policy"] == "free"
