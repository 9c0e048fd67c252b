"""What a playbook is: when it matches, and its steps in order. Frozen; an unknown key is an error."""

import hashlib
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from bot.playbook import condition, template

RESERVED = frozenset({"labels", "alert"})
MAX_STEPS = 50
TOOL = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"
NAME = r"^[a-z][a-z0-9_]*$"


def _as_list(value: object) -> object:
    """One text or one table is the same as a list of it."""
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _free(name: str) -> str:
    if name == "none":
        raise ValueError("'none' stands for no playbook; choose another name")
    return name


def _condition(text: str) -> str:
    condition.parse(text)
    return text


def _template(value: str) -> str:
    list(template.pieces(value))
    return value


def _templates(value: JsonValue) -> JsonValue:
    list(template.roots(value))
    return value


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None
    return text


def _lines(value: object) -> object:
    """`say` may be a text, or a list of texts and `{ when, text }` tables."""
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return [{"text": item} if isinstance(item, str) else item for item in items]


def _short(text: str) -> str:
    if text.strip().count("\n") > 2:
        raise ValueError("it may have three lines at most")
    return _template(text)


Conditions = Annotated[tuple[Annotated[str, AfterValidator(_condition)], ...], BeforeValidator(_as_list)]
Words = tuple[Annotated[str, Field(min_length=1)], ...]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Match(_Frozen):
    """When a playbook applies: all `labels` of an alert fit, or a message has the words."""

    labels: dict[str, Annotated[str, AfterValidator(_pattern)]] = {}
    """Regular expressions that fit the whole label, by label name."""
    any: Words = ()
    """Words or phrases of which one has to be there."""
    all: Words = ()
    """Words or phrases that all have to be there."""

    @model_validator(mode="after")
    def _matches_something(self) -> "Match":
        if not (self.labels or self.any or self.all):
            raise ValueError("it needs labels, any or all")
        return self


class Call(_Frozen):
    """One tool call."""

    call: str = Field(pattern=TOOL)
    """The tool, by its dotted name."""
    args: dict[str, Annotated[JsonValue, AfterValidator(_templates)]] = {}
    result: str | None = Field(default=None, alias="as", pattern=NAME)
    """The name under which later steps find the result."""


class Line(_Frozen):
    """Some words, and the conditions under which they are said."""

    text: Annotated[str, AfterValidator(_template)]
    when: Conditions = ()


class Step(_Frozen):
    """Calls that are made together, or the words that end the turn."""

    when: Conditions = ()
    calls: tuple[Call, ...] = ()
    because: Annotated[str, AfterValidator(_short)] | None = None
    """Why the calls are asked for: the assistant's words on the card, three lines at most."""
    say: Annotated[tuple[Line, ...], BeforeValidator(_lines)] = ()

    @model_validator(mode="before")
    @classmethod
    def _one_call(cls, value: object) -> object:
        """`call`, `args` and `as` directly in a step are the same as a list of one call."""
        if not isinstance(value, dict):
            return value
        step = cast("dict[str, object]", value)
        if "call" not in step:
            return step
        if "calls" in step:
            raise ValueError("it has both call and calls; keep one")
        single = {key: step[key] for key in ("call", "args", "as") if key in step}
        return {key: item for key, item in step.items() if key not in single} | {"calls": [single]}

    @model_validator(mode="after")
    def _calls_or_says(self) -> "Step":
        if bool(self.calls) == bool(self.say):
            raise ValueError("it needs either call, calls or say")
        if self.because is not None and not self.calls:
            raise ValueError("because belongs to a call")
        return self

    def roots(self) -> Iterator[str]:
        """The first words of everything the step looks at."""
        yield from template.roots(self.because or "")
        yield from template.roots([line.text for line in self.say])
        yield from template.roots([dict(call.args) for call in self.calls])
        for text in (*self.when, *(text for line in self.say for text in line.when)):
            yield condition.parse(text).path.partition(".")[0]


class Playbook(_Frozen):
    """One runbook."""

    name: Annotated[str, AfterValidator(_free)] = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)
    title: str = Field(min_length=1, max_length=200)
    """What it is for, in plain words; shown to people as what the assistant can do."""
    match: Annotated[tuple[Match, ...], BeforeValidator(_as_list), Field(min_length=1)]
    steps: tuple[Step, ...] = Field(alias="step", min_length=1, max_length=MAX_STEPS)
    meanwhile: Annotated[str, AfterValidator(_template)] | None = None
    """Added to the last words when messages came in while the turn was waiting."""

    @model_validator(mode="after")
    def _holds_together(self) -> "Playbook":
        known = set(RESERVED)
        for number, step in enumerate(self.steps, 1):
            for root in step.roots():
                if root not in known:
                    raise ValueError(f"step {number}: {root!r} is used, but no earlier step has as = {root!r}")
            for call in step.calls:
                if call.result in known:
                    raise ValueError(f"step {number}: the name {call.result!r} is taken; choose another")
                known |= {call.result} if call.result else set()
            ends = bool(step.say) and not step.when
            if ends and not any(not line.when for line in step.say):
                raise ValueError(f"step {number}: say needs at least one line without when")
            if ends is not (number == len(self.steps)):
                raise ValueError("the last step, and only the last, has to be a say without when")
        for root in template.roots(self.meanwhile or ""):
            if root not in RESERVED:
                raise ValueError(f"meanwhile may only look at labels and alert, not at {root!r}")
        return self

    @cached_property
    def digest(self) -> str:
        """16 hex digits over the whole content, so that a turn under way notices an edit."""
        return hashlib.sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()[:16]
