"""What a request may ask for: the bodies, and the numbers in addresses. No body names a tenant or a principal (R21)."""

import json
import re
from typing import Annotated

from fastapi import Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainValidator, WithJsonSchema, field_validator

from bot.words.durations import Duration
from casestore.errors import NotFound
from casestore.states import Verb
from channels.text import one_line

VIA = "api"
"""What the trail and a card say that something was done by, over this surface."""

Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]
After = Annotated[int, Query(ge=0, lt=2**63, description="Only what comes after this `seq`.")]


def _any_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("should be a string")
    return value


Text = Annotated[str, PlainValidator(_any_text), WithJsonSchema({"type": "string"})]
"""Any text that JSON can say, half a character too, as it came: whoever stores it makes it storable, once."""


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("has to say something")
    return text


class Ask(BaseModel):
    """A body: frozen, and nothing in it that is not looked at."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Opening(Ask):
    """A new case."""

    text: Text
    title: Annotated[Text, Field(min_length=1, max_length=200)] | None = None

    _says_something = field_validator("text")(_said)


class Saying(Ask):
    """Something said in a case."""

    text: Text

    _says_something = field_validator("text")(_said)


class Reason(Ask):
    """Why."""

    reason: Text = ""


class Answer(Ask):
    """An answer to a gate. `digest`: what was shown, at least its first 8 characters. `set`: arguments to change."""

    verb: Verb
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$")]
    reason: Text | None = None
    set: dict[str, JsonValue] = {}

    @field_validator("set")
    @classmethod
    def _is_json(cls, changes: dict[str, JsonValue]) -> dict[str, JsonValue]:
        try:
            json.dumps(changes, allow_nan=False)
        except ValueError:
            raise ValueError("has a number in it that JSON does not know") from None
        return changes


class Extension(Ask):
    """How much longer a gate waits, like `2h`."""

    by: Duration


def case_number(case: Annotated[str, Path(description="`C-1042` or `1042`")]) -> int:
    """The number in an address. What cannot be one is not found, like one that nobody has."""
    return _number(case, "case", r"(?:C-)?([0-9]{1,18})")


def gate_number(gate: Annotated[str, Path(description="The gate's id")]) -> int:
    """The id in an address."""
    return _number(gate, "gate", r"([0-9]{1,18})")


def run_number(run: Annotated[str, Path(description="The run's id")]) -> int:
    """The id in an address."""
    return _number(run, "run", r"([0-9]{1,18})")


def file_number(file: Annotated[str, Path(description="The file's id, as its message has it")]) -> int:
    """The id in an address."""
    if not re.fullmatch(r"[0-9]{1,18}", file):
        raise NotFound(f"No file {one_line(file)[:40]} in this case.")
    return int(file)


CaseNumber = Annotated[int, Depends(case_number)]
GateNumber = Annotated[int, Depends(gate_number)]
RunNumber = Annotated[int, Depends(run_number)]
FileNumber = Annotated[int, Depends(file_number)]


def _number(text: str, what: str, pattern: str) -> int:
    found = re.fullmatch(pattern, text)
    if found is None:
        raise NotFound(f"No {what} {one_line(text)[:40]}.", listed_by=f"{what} list")
    return int(found[1])
