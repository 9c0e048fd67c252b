"""What a call ended with: one result per call, stored as it was returned, shown to the model bounded (R7, design 5)."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, cast

from bot.words import frame
from casestore.canonical import decode, encode
from channels.text import storable

NESTED_AT_MOST = 100
"""Arrays and objects in each other: the model layer reads 200 at most, and adds some of its own."""


class ResultKind(StrEnum):
    """How a call ended. All but the first two were never made."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    NOT_ASKED = "not_asked"
    REFUSED = "refused"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class CallResult:
    """The one result of one call; `content` is anything JSON can say.

    `told`: it is the engine's or a person's word on a call that was made, and not what its tool returned.
    """

    kind: ResultKind
    content: object
    told: bool = False

    def stored(self) -> str:
        """As the journal keeps it, whole."""
        return encode({"kind": self.kind, "content": self.content, **({"told": True} if self.told else {})})

    @staticmethod
    def load(text: str) -> "CallResult":
        """Read what `stored` wrote."""
        value = decode(text)
        return CallResult(ResultKind(str(value["kind"])), value["content"], told=value.get("told") is True)

    @property
    def outcome(self) -> Literal["success", "failed", "denied"]:
        """In the words of the model layer."""
        if self.kind is ResultKind.OK:
            return "success"
        if self.kind in (ResultKind.FAILED, ResultKind.UNKNOWN, ResultKind.INVALID):
            return "failed"
        return "denied"

    def shown(self, most: int) -> object:
        """What the model is shown: the content, or its head and tail where it has more than `most` characters.

        What a tool wrote is framed, so that it cannot pass for what became of a call, which is the engine's word (R23).
        """
        if self.content is None:
            return "(nothing)"
        written = self.kind in (ResultKind.OK, ResultKind.FAILED) and not self.told
        plain = self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)
        text = frame.quoted(plain) if written else frame.framed(plain)
        if len(text) <= most:
            return frame.value(self.content) if written else text
        head, tail = text[: most * 3 // 4], text[-(most // 4) :]
        left_out = len(text) - len(head) - len(tail)
        return f"{head}\n[… {left_out} characters left out; the whole result is on record …]\n| {tail}"


def jsonable(value: object) -> object:
    """A tool's return value as JSON can say it; what JSON cannot say becomes text, half a character notation.

    So does what is nested so deeply that a request which holds it could be neither sent nor read again (R13). It never
    raises: what a call did is not undone because nobody can write down what it returned.
    """
    try:
        text = storable(json.dumps(value, ensure_ascii=False, allow_nan=False))
        plain: object = json.loads(text)
        return text if too_deep(plain) else plain
    except RecursionError:
        return f"(a {type(value).__name__} nested too deeply to be kept)"
    except (TypeError, ValueError):
        return _described(value)


def too_deep(value: object) -> bool:
    """Whether a JSON value has more arrays and objects in each other than are sent as such."""
    layer = [value]
    for _ in range(NESTED_AT_MOST):
        layer = [inner for outer in layer for inner in _within(outer)]
    return any(isinstance(one, list | dict) for one in layer)


def _within(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def _described(value: object) -> str:
    try:
        return storable(str(value))
    except Exception:  # whatever a class of somebody's own does, or an integer of more digits than Python writes
        return f"(a {type(value).__name__} that cannot be written down)"


def ok(value: object) -> CallResult:
    """It was made and did what it says."""
    return CallResult(ResultKind.OK, jsonable(value))


def failed(why: str, *, told: bool = False) -> CallResult:
    """It was made and did not succeed; `told` where the tool itself has not said so."""
    return CallResult(ResultKind.FAILED, storable(why), told)


def not_asked(why: str) -> CallResult:
    """It waited behind another call and will not be asked (R7)."""
    return CallResult(ResultKind.NOT_ASKED, f"not asked: {why}")


def left_unknown(why: str) -> CallResult:
    """Nobody can say what became of it (R14)."""
    return CallResult(ResultKind.UNKNOWN, f"it is not known whether this was done: {why}")


def withdrawn(why: str) -> CallResult:
    """The question was taken back (R6: a denial)."""
    return CallResult(ResultKind.WITHDRAWN, f"not run: {why}")
