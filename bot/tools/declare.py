"""A tool: its name, what it takes, what it is (its tier), and the words an approver reads about a call.

`declare` makes one from a function; its settings may be changed afterwards by the operator. Two sorts exist:
*outside* tools do their work with `call`, a coroutine; *case* tools act on the store with `apply`, a plain
function that runs inside a transaction.
"""

import hashlib
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from string import Formatter
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from bot.tools.arguments import BadArguments, BadDeclaration, Check, from_signature, plain, properties, read
from casestore.states import Tier

if TYPE_CHECKING:
    from pydantic_ai.tools import ToolDefinition

__all__ = [
    "BadArguments",
    "BadDeclaration",
    "NotReached",
    "OutcomeOpen",
    "Tool",
    "ToolFailed",
    "declare",
    "tool",
    "wire",
]

# No part may begin or end with "_", or contain two: then no two names share a wire name.
NAME = re.compile(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*(\.[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*)*")


class ToolFailed(Exception):
    """A tool did not do what it was asked; the text is one sentence, fit for a person and for the model."""


class NotReached(ToolFailed):
    """What the tool is on cannot be reached just now, so that nothing was done."""


class OutcomeOpen(Exception):
    """A call broke off, and nobody knows whether it was done (R14); the text is one sentence about why."""


def wire(name: str) -> str:
    """The name as providers accept it: `host.disk_usage` travels as `host__disk_usage`."""
    return name.replace(".", "__")


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """One tool. Exactly one of `call` and `apply` is set; a tool nobody classified is consequential (R24)."""

    name: str
    """Dotted, such as `host.disk_usage`."""
    description: str
    """What it does, for the model."""
    schema: dict[str, object]
    """JSON schema of the arguments."""
    statement: str
    """What exactly one call does, in plain words, with `{argument}` for values; never written by a model."""
    check: Check
    """Holds JSON arguments against the function's own types."""
    tier: Tier = Tier.CONSEQUENTIAL
    reversible: bool = False
    """Whether what it did can be undone."""
    timeout_ms: int = 30_000
    """How long one call may take, in milliseconds."""
    sensitive: bool = False
    """Whether the requester's consent is needed."""
    verified: bool = False
    """Whether the requester has to be verified first (R22)."""
    effect_key: str | None = None
    """Template over the arguments that names the intent: two calls with one key mean the same effect."""
    idempotent: bool = False
    may_change: frozenset[str] = frozenset()
    """Arguments an approver may change."""
    ttl_ms: int | None = None
    """How long its gate stays open, in milliseconds; None takes the general setting."""
    call: Callable[[dict[str, object]], Awaitable[object]] | None = None
    """`await tool.call(args)`: the work of an outside tool; raises `ToolFailed`."""
    confirm: Callable[[], Awaitable[None]] | None = None
    """`await tool.confirm()`, before a call with an effect; raises `ToolFailed` if it is not what was shown (R9)."""
    apply: Callable[..., object] | None = None
    """`tool.apply(tx, scene, args)`: the work of a case tool, inside a transaction."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or len(wire(self.name)) > 64:
            raise BadDeclaration(f"Tool {self.name!r}: a name is dotted words of letters, digits, - and _.")
        if (self.call is None) == (self.apply is None):
            raise BadDeclaration(f"Tool {self.name}: exactly one of call and apply has to be given.")
        if not self.description.strip():
            raise BadDeclaration(f"Tool {self.name}: give its function a docstring, which tells a model what it does.")
        if not self.statement.strip():
            raise BadDeclaration(f"Tool {self.name}: its statement is empty; an approver reads there what a call does.")
        if self.timeout_ms <= 0 or (self.ttl_ms is not None and self.ttl_ms <= 0):
            raise BadDeclaration(f"Tool {self.name}: timeout and ttl have to be positive milliseconds.")
        known = properties(self.schema)
        for what, template in (("statement", self.statement), ("effect_key", self.effect_key or "")):
            _require_plain(self.name, what, template, known)
        if strange := sorted(self.may_change - known):
            raise BadDeclaration(f"Tool {self.name}: may_change names {strange[0]!r}, no argument of it.")

    @property
    def wire_name(self) -> str:
        """The name that goes to the provider, which refuses dots."""
        return wire(self.name)

    @cached_property
    def version(self) -> str:
        """16 hex digits over all that an approver was shown or that changes what a call does (R9)."""
        shown = (
            self.name, self.description, self.schema, self.tier.value, self.statement, self.reversible,
            self.effect_key, self.sensitive, self.verified,
        )  # fmt: skip
        text = json.dumps(shown, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]

    def validate(self, raw: str | dict[str, object]) -> dict[str, object]:
        """The call's arguments as JSON values with defaults filled in; raises `BadArguments`.

        Validating the result again gives the same result, so it may be stored and run later.
        """
        return plain(self.check(self.name, read(self.name, raw)))

    def restate(self, args: dict[str, object]) -> str:
        """The statement of one call: texts quoted, invisible characters left for the caller to show."""
        return _fill(self.name, self.statement, args)

    def effect(self, args: dict[str, object]) -> str | None:
        """The effect key of one call; texts in it are quoted, so that different values never collide."""
        return None if self.effect_key is None else _fill(self.name, self.effect_key, args)

    def definition(self) -> "ToolDefinition":
        """What the model is offered, under the wire name."""
        from pydantic_ai.tools import ToolDefinition

        return ToolDefinition(
            name=self.wire_name, description=self.description, parameters_json_schema=dict(self.schema)
        )

    def with_settings(
        self,
        *,
        tier: Tier | None = None,
        sensitive: bool | None = None,
        verified: bool | None = None,
        effect_key: str | None = None,
        idempotent: bool | None = None,
        may_change: Iterable[str] | None = None,
        ttl_ms: int | None = None,
    ) -> "Tool":
        """A copy with the operator's settings; None leaves a value as it was declared."""
        return replace(
            self,
            tier=self.tier if tier is None else Tier(tier),
            sensitive=self.sensitive if sensitive is None else sensitive,
            verified=self.verified if verified is None else verified,
            effect_key=self.effect_key if effect_key is None else effect_key,
            idempotent=self.idempotent if idempotent is None else idempotent,
            may_change=self.may_change if may_change is None else frozenset(may_change),
            ttl_ms=self.ttl_ms if ttl_ms is None else ttl_ms,
        )


def declare(
    function: Callable[..., object],
    *,
    name: str,
    statement: str,
    tier: Tier = Tier.CONSEQUENTIAL,
    description: str | None = None,
    reversible: bool = False,
    timeout_ms: int = 30_000,
    sensitive: bool = False,
    verified: bool = False,
    effect_key: str | None = None,
    idempotent: bool = False,
    may_change: Iterable[str] = (),
    ttl_ms: int | None = None,
    applies: bool = False,
) -> Tool:
    """A tool made from a function: its parameters become the schema, its docstring the description.

    An outside tool is a coroutine function. With `applies=True` it is a plain function whose first two
    parameters (`tx`, `scene`) are given by the engine and are no part of the schema. Raises `BadDeclaration`.
    """
    if inspect.iscoroutinefunction(function) is applies:
        kind = "a plain function" if applies else "a coroutine function; write async def"
        raise BadDeclaration(f"Tool {name}: it has to be {kind}.")
    if isinstance(may_change, str):
        raise BadDeclaration(f"Tool {name}: may_change has to be a list of arguments.")
    schema, documented, check = from_signature(function, name, skip=2 if applies else 0)

    async def call(args: dict[str, object]) -> object:
        return await cast("Callable[..., Awaitable[object]]", function)(**check(name, args))

    def apply(tx: object, scene: object, args: dict[str, object]) -> object:
        return function(tx, scene, **check(name, args))

    return Tool(
        name=name,
        description=(documented or "") if description is None else description,
        schema=schema,
        statement=statement,
        check=check,
        tier=_tier(name, tier),
        reversible=reversible,
        timeout_ms=timeout_ms,
        sensitive=sensitive,
        verified=verified,
        effect_key=effect_key,
        idempotent=idempotent,
        may_change=frozenset(may_change),
        ttl_ms=ttl_ms,
        call=None if applies else call,
        apply=apply if applies else None,
    )


class Options(TypedDict, total=False):
    """What may be said about a tool besides its statement; the fields of `Tool` say what each means."""

    tier: Tier
    description: str
    reversible: bool
    timeout_ms: int
    sensitive: bool
    verified: bool
    effect_key: str
    idempotent: bool
    may_change: Iterable[str]
    ttl_ms: int


def tool(
    statement: str, *, name: str | None = None, **options: Unpack[Options]
) -> Callable[[Callable[..., Awaitable[object]]], Tool]:
    """`declare` as a decorator of a coroutine function, whose own name is the tool's if none is given.

    Raises `BadDeclaration` when the module is read.
    """
    if not isinstance(statement, str):  # pyright: ignore[reportUnnecessaryIsInstance] - nobody checks their types
        raise BadDeclaration('A tool is declared with @tool("what one call does"), and not with @tool alone.')

    def declared(function: Callable[..., Awaitable[object]]) -> Tool:
        own = getattr(function, "__name__", "") if name is None else name
        return declare(function, name=own, statement=statement, **options)

    return declared


def _tier(name: str, said: str) -> Tier:
    """What its author says that it is: a tier, or the word for one."""
    try:
        return Tier(said)
    except ValueError:
        raise BadDeclaration(f"Tool {name}: there is no tier {said!r}; there are {', '.join(Tier)}.") from None


def _require_plain(name: str, what: str, template: str, known: frozenset[str]) -> None:
    """A template names arguments and nothing else: no attributes, no indexes, no formatting (R23)."""
    try:
        pieces = list(Formatter().parse(template))
    except ValueError:
        raise BadDeclaration(f"Tool {name}: the braces of its {what} do not match.") from None
    for _, hole, spec, conversion in pieces:
        if hole is not None and (hole not in known or spec or conversion):
            raise BadDeclaration(f"Tool {name}: its {what} may only name its arguments, not {{{hole}}}.")


def _fill(name: str, template: str, args: dict[str, object]) -> str:
    written: list[str] = []
    for text, hole, _, _ in Formatter().parse(template):
        written.append(text)
        if hole is not None:
            if hole not in args:
                raise BadArguments(f"{name} cannot be put into words without its argument {hole!r}.")
            value = args[hole]
            written.append("none" if value is None else json.dumps(value, ensure_ascii=False))
    return "".join(written)
