"""What the model is told is put together from parts, and its version is the hash of what was really sent (R16)."""

from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest

from bot.degraded import look_only
from bot.errors import SettingsError
from bot.models import prompt
from bot.settings import Settings, ToolSettings
from casestore import bindings, prompts
from casestore.models import Case
from casestore.tx import Tx
from channels.address import Address
from tests.cli.command_line import Cli
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says

HOUSE = "Our shop closes at six. Büro: 2nd floor."


def instructions(messages: list[ModelMessage]) -> str:
    last = messages[-1]
    assert isinstance(last, ModelRequest)
    return last.instructions or ""


def with_notes(**channels: str) -> Settings:
    plain = Settings(tools={"look": ToolSettings(note="Look twice."), "wipe": ToolSettings(note="Wipe gently.")})
    return plain.model_copy(update={"prompt": plain.prompt.model_copy(update={"channels": channels})})


def stored(tx: Tx, version: str) -> tuple[str, str]:
    ((text, tools),) = tx.tuples("SELECT text, tools FROM prompts WHERE version = :version", version=version)
    return str(text), str(tools)


async def of_run(rig: Rig, case: Case, nth: int = 0) -> tuple[str, str, str]:
    """Version, text and tools that a run's record leads to."""
    version = (await rig.runs(case))[nth].prompt_version or ""
    return (version, *(await rig.store.read(stored, version)))


async def test_what_a_run_records_is_what_was_sent(rig: Rig) -> None:
    rig.settings = with_notes(memory="Nobody reads long answers here.", other="Not here.")
    await rig.restart()
    rig.model.then(says("Hello."))
    case = await rig.say("Hi")
    await rig.work()

    version, text, tools = await of_run(rig, case)
    assert instructions(rig.model.sent[0]) == text
    assert version == prompts.version(text, tools)
    assert text.endswith(
        "Work the case.\n\nAbout the tool look: Look twice.\n\nAbout the tool wipe: Wipe gently.\n\n"
        "About the channel memory: Nobody reads long answers here."
    )
    assert "Not here." not in text


async def test_a_note_on_a_channel_comes_with_the_first_thread_there(rig: Rig) -> None:
    """Also in the middle of a run: each model step names the prompt it was sent, and the run the newest."""
    rig.settings = with_notes(elsewhere="They are in a hurry.")
    await rig.restart()
    rig.model.then(calls(("look", {"at": "it"})), says("There."))
    case = await rig.say("Hi")
    looking = rig.effects.hold("look")
    working = rig.start(rig.work(deliver=False))
    await looking.reached.wait()
    there = Address(channel="elsewhere", space="S", room="r", thread="t")
    await rig.store.write(bindings.bind, rig.clock.now(), case, str(there), actor="kim")
    looking.release.set()
    await working

    assert ["in a hurry" in instructions(sent) for sent in rig.model.sent] == [False, True]
    steps = await rig.steps(case, tools_only=False)
    named = [str((step.request or {})["prompt"]) for step in steps if step.kind == "model"]
    assert named[0] != named[1]
    version, text, _ = await of_run(rig, case)
    assert "in a hurry" in text
    assert version == named[1]


async def test_a_note_on_a_tool_that_is_not_offered_is_not_sent(rig: Rig) -> None:
    rig.settings = with_notes()
    rig.settings = rig.settings.model_copy(
        update={"policy": rig.settings.policy.model_copy(update={"consequential": "refuse"})}
    )
    await rig.restart()
    rig.model.then(says("Hello."))
    await rig.say("Hi")
    await rig.work()

    assert "Look twice." in instructions(rig.model.sent[0])
    assert "Wipe gently." not in instructions(rig.model.sent[0])


async def test_what_is_said_from_memory_records_the_prompt_that_was_sent(rig: Rig) -> None:
    """While nothing can be recorded fewer tools are offered, and the version is of those."""
    text, tools = rig.prompt, prompt.schemas(rig.desk.toolbox.offered)
    offered = look_only.offered(rig.desk)
    assert offered.prompt.version != prompts.version(text, tools)
    assert [tool.name for tool in offered.tools] == ["broken", "look"]


async def test_the_house_prompt_is_sent_as_the_file_has_it(cli: Cli) -> None:
    Path("house.md").write_text(f"\n{HOUSE}\n\n", "utf-8")
    Path("casebound.toml").write_text(
        '[prompt]\nhouse = "house.md"\n[prompt.channels]\nslack = "Be short."\n'
        '[tools."host.disk_usage"]\nnote = "In GiB."\n', "utf-8",
    )  # fmt: skip
    shown = await cli("prompt", "show", "--json", "--on", "slack")

    text = shown.json["text"]
    assert text == "\n\n".join(
        [prompt.BUILT_IN, HOUSE, "About the tool host__disk_usage: In GiB.", "About the channel slack: Be short."]
    )
    assert shown.json["version"] == prompts.version(text, shown.json["tools"])
    assert HOUSE in await cli.done("prompt", "show")
    assert "Be short." not in await cli.done("prompt", "show")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "prompt.house: house.md cannot be read (no such file or directory); correct its name or its rights"),
        (b"\xff\xfe\x00", "prompt.house: house.md is not UTF-8 text; save it as such"),
        (
            b"x" * (prompt.HOUSE_AT_MOST + 1),
            "prompt.house: house.md has 40001 characters, and at most 40000 are sent with every request; shorten it",
        ),
    ],
    ids=["missing", "not text", "too long"],
)
def test_a_house_prompt_that_cannot_be_sent_is_one_sentence(
    content: bytes | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("house.md").write_bytes(content)
    with pytest.raises(SettingsError) as raised:
        prompt.house(Settings.model_validate({"prompt": {"house": "house.md"}}))
    assert str(raised.value) == why


async def test_a_note_on_a_channel_there_is_not_is_refused(cli: Cli) -> None:
    Path("casebound.toml").write_text('[prompt.channels]\nslak = "Be short."\n', "utf-8")
    assert "there is no channel 'slak'" in (await cli("prompt", "show")).line
