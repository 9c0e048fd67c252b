"""What a call ended with: one result per call, stored as it was returned, shown to the model bounded (R7, design 5)."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from casestore.canonical import decode, encode
from channels.text import storable


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
    """The one result of one call; `content` is anything JSON can say."""

    kind: ResultKind
    content: object

    def stored(self) -> str:
        """As the journal keeps it, whole."""
        return encode({"kind": self.kind, "content": self.content})

    @staticmethod
    def load(text: str) -> "CallResult":
        """Read what `stored` wrote."""
        value = decode(text)
        return CallResult(ResultKind(str(value["kind"])), value["content"])

    @property
    def outcome(self) -> Literal["success", "failed", "denied"]:
        """In the words of the model layer."""
        if self.kind is ResultKind.OK:
            return "success"
        if self.kind in (ResultKind.FAILED, ResultKind.UNKNOWN, ResultKind.INVALID):
            return "failed"
        return "denied"

    def shown(self, most: int) -> object:
        """What the model is shown: the content, or its head and tail where it has more than `most` characters."""
        if self.content is None:
            return "(nothing)"
        text = self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)
        if len(text) <= most:
            return self.content
        head, tail = most * 3 // 4, most // 4
        left_out = len(text) - head - tail
        return f"{text[:head]}\n[… {left_out} characters left out; the whole result is on record …]\n{text[-tail:]}"


def jsonable(value: object) -> object:
    """A tool's return value as JSON can say it; what JSON cannot say becomes text, half a character notation."""
    try:
        return json.loads(storable(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except (TypeError, ValueError):
        return storable(str(value))
    except RecursionError:
        return f"(a {type(value).__name__} nested too deeply to be kept)"


def ok(value: object) -> CallResult:
    """It was made and did what it says."""
    return CallResult(ResultKind.OK, jsonable(value))


def failed(why: str) -> CallResult:
    """It was made and did not succeed."""
    return CallResult(ResultKind.FAILED, storable(why))


def not_asked(why: str) -> CallResult:
    """It waited behind another call and will not be asked (R7)."""
    return CallResult(ResultKind.NOT_ASKED, f"not asked: {why}")


def left_unknown(why: str) -> CallResult:
    """Nobody can say what became of it (R14)."""
    return CallResult(ResultKind.UNKNOWN, f"it is not known whether this was done: {why}")


def withdrawn(why: str) -> CallResult:
    """The question was taken back (R6: a denial)."""
    return CallResult(ResultKind.WITHDRAWN, f"not run: {why}")
