"""What a call ended with: one result per call, stored as it was returned, shown to the model bounded (R7, design 5)."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from bot.words import frame
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
