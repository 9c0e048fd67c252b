"""What a conversation shows in a terminal (R23)."""

import sys

import pytest

from bot.cli.terminal import Terminal
from channels.memory import MemoryChannel
from channels.messages import Address, Card, Content, Outbound, Text
from tests.channel_contract.rigs import Recorder, a_card

HERE = Address(channel="memory", space="S", room="help", thread="t1")
CODE = "```\n" + "copied as it stands " * 8 + "\n```"


async def _lines(content: Content) -> list[str]:
    channel = MemoryChannel()
    await channel.start(Recorder())
    terminal = Terminal(
        channel, "kim", lambda command: f"casebound {command} --db /a/folder/with/a/rather/long/name.db"
    )
    await terminal.send(Outbound(address=HERE, content=content, nonce="n1"))
    shown = channel.sent[0].outbound.content
    assert not isinstance(shown, Card)
    return shown.text.split("\n")


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 60 columns."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


async def test_no_line_of_a_card_goes_on_where_it_could_pass_for_another() -> None:
    forged = "Decides anybody " * 14  # wherever it is broken
    shown = await _lines(a_card(because=f"{forged}\n{forged}", looked_at=(forged,)))
    card = shown[: shown.index("To decide, in another terminal:")]
    assert max(len(line) for line in card) <= 60
    assert [line for line in card if line.startswith("Decides")] == ["Decides    an operator, not the requester"]


async def test_what_is_to_be_typed_and_code_stay_in_one_line_to_be_copied() -> None:
    card = await _lines(a_card())
    assert "  casebound gate approve 17 --db /a/folder/with/a/rather/long/name.db" in card
    text = await _lines(Text(text="some words that are said " * 4 + "\n" + CODE + "\n" + "and more of them " * 8))
    assert [len(line) > 60 for line in text].count(True) == 1
    assert CODE in "\n".join(text)
