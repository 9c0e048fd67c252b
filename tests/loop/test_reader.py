"""What a reader keeps parsed is bounded in characters, and what it let go it reads again."""

import pytest
from pydantic_ai.messages import ModelRequest

from bot.turns import window
from bot.turns.window import Reader, Window
from casestore.models import CaseId
from casestore.transcript import Line


def row(seq: int) -> Line:
    return Line(CaseId(1), seq, "request", window.dump(ModelRequest.user_text_prompt(f"message {seq}")))


def said(reader: Reader, rows: list[Line]) -> list[object]:
    found = reader.messages(Window(tuple(rows), "p", "d"), "")
    return [getattr(message.parts[0], "content", None) for message in found]


def test_the_oldest_are_let_go_once_there_are_too_many_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(seq) for seq in range(9)]
    monkeypatch.setattr(window, "_KEPT_AT_MOST", 3 * len(rows[0].message))
    reader = Reader()
    for one in rows:
        said(reader, [one])
    assert list(reader._parsed) == [(1, 6), (1, 7), (1, 8)]  # pyright: ignore[reportPrivateUsage]
    assert said(reader, rows[:2]) == ["message 0", "message 1"]


def test_a_message_that_alone_is_too_long_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "_KEPT_AT_MOST", 10)
    assert said(Reader(), [row(1), row(2)]) == ["message 1", "message 2"]
