"""The calls of a response as the journal keeps them, valid or not: nothing that a model asked for is dropped (R7)."""

from collections.abc import Mapping, Sequence

from bot.tools.declare import BadArguments, Tool
from bot.turns.desk import Desk
from casestore.canonical import encode
from casestore.states import Tier
from casestore.steps import Call

_RAW = "as written"


def of_response(
    desk: Desk, wire_names_and_args: Sequence[tuple[str, str, str | Mapping[str, object] | None]]
) -> list[Call]:
    """The calls of a response as the journal keeps them: (call id, wire name, arguments as the model wrote them)."""
    found: list[Call] = []
    for position, (call_id, wire_name, raw) in enumerate(wire_names_and_args):
        tool = desk.toolbox.by_wire(wire_name)
        args = _arguments(tool, raw)
        found.append(
            Call(
                position=position, call_id=call_id, args=args, tool=wire_name if tool is None else tool.name,
                tool_version="" if tool is None else tool.version,
                tier=Tier.CONSEQUENTIAL if tool is None else tool.tier,
            )
        )  # fmt: skip
    return found


def _arguments(tool: Tool | None, raw: str | Mapping[str, object] | None) -> str:
    """Valid arguments in their canonical form, with defaults; others as they came, to be refused with the reason."""
    if tool is not None:
        try:
            return encode(tool.validate(raw if isinstance(raw, str) else dict(raw or {})))
        except BadArguments:
            pass  # refused, with its reason, when the calls are worked
    if isinstance(raw, str) or raw is None:
        return encode({_RAW: raw or ""})
    try:
        args = encode(dict(raw))
    except (ValueError, TypeError, RecursionError):  # NaN and the like, which JSON does not know
        return encode({_RAW: str(dict(raw))})
    return encode({_RAW: args}) if _RAW in raw else args


def as_written(args: dict[str, object]) -> str | dict[str, object]:
    """Journalled arguments as they are to be validated: the model's own text where they were not valid."""
    raw = args.get(_RAW)
    return raw if isinstance(raw, str) else args
