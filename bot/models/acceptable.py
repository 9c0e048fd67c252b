"""What is stored, as every provider accepts it: a model may call a tool by any name, and is shown that call again.

A history that a provider refuses would be refused each time, and the case could never go on. The same messages give the
same result, to the byte, so a request can be rebuilt (R17).
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)

# The names and ids that OpenAI, Anthropic and Google all take; OpenAI takes ids of at most 40 characters.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NO_NAME = "no_such_tool"


def acceptable(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages with every call under a name and an id that can be sent, no id twice; a call and its result alike.

    Words that are nothing but blanks are left out of responses, as providers refuse them. What can be sent stays the
    very object it was.
    """
    taken: set[str] = set()
    renamed: dict[str, list[tuple[str, str]]] = {}
    found: list[ModelMessage] = []
    for position, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            renamed = {}
            found.append(_response(message, position, taken, renamed))
        else:
            found.append(_request(message, renamed))
    return found


def _response(
    message: ModelResponse, position: int, taken: set[str], renamed: dict[str, list[tuple[str, str]]]
) -> ModelResponse:  # fmt: skip
    parts: list[ModelResponsePart] = []
    for place, part in enumerate(message.parts):
        match part:
            case TextPart() if not part.content.strip():
                continue
            case ToolCallPart():
                call_id = part.tool_call_id
                if not _ID.fullmatch(call_id) or call_id in taken:
                    call_id = _new_id(call_id, position, place)
                taken.add(call_id)
                name = _named(part.tool_name)
                renamed.setdefault(part.tool_call_id, []).append((name, call_id))
                same = (name, call_id) == (part.tool_name, part.tool_call_id)
                parts.append(part if same else replace(part, tool_name=name, tool_call_id=call_id))
            case _:
                parts.append(part)
    return message if _same(parts, message.parts) else replace(message, parts=parts)


def _request(message: ModelRequest, renamed: dict[str, list[tuple[str, str]]]) -> ModelRequest:
    parts: list[ModelRequestPart] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            called = renamed.get(part.tool_call_id)
            name, call_id = called.pop(0) if called else (_named(part.tool_name), part.tool_call_id)
            if (name, call_id) != (part.tool_name, part.tool_call_id):
                part = replace(part, tool_name=name, tool_call_id=call_id)
        parts.append(part)
    return message if _same(parts, message.parts) else replace(message, parts=parts)


def _same(new: Sequence[object], old: Sequence[object]) -> bool:
    return len(new) == len(old) and all(one is other for one, other in zip(new, old, strict=True))


def _named(name: str) -> str:
    return name if _NAME.fullmatch(name) else _NO_NAME


def _new_id(call_id: str, position: int, place: int) -> str:
    return f"c_{hashlib.sha256(f'{position} {place} {call_id}'.encode()).hexdigest()[:24]}"
