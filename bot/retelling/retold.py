"""Messages of the transcript as lines of text, for a model that is to write about them, and for what the engine writes.

Who speaks begins a line, and each further line of what they say is framed: nobody speaks for another (R23). What people
and tools said is framed in the transcript already. The name of a call may be made up.
"""

from collections.abc import Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bot.words import frame
from casestore.transcript import Line

_LINE = 200
"""Characters of what is to be short: a call's arguments, or one thing that was said."""
_CUT = frame.framed("\n[…]\n")


def lines(rows: Sequence[Line], *, calls: bool = True) -> list[str]:
    """What the messages say, a line for each part; `calls`: with calls and their results."""
    text = f"[{','.join(row.message for row in rows)}]"
    return [line for message in ModelMessagesTypeAdapter.validate_json(text) for line in _parts(message, calls=calls)]


def _parts(message: ModelMessage, *, calls: bool) -> list[str]:
    found: list[str] = []
    for part in message.parts:
        match part:
            case UserPromptPart(content=str(content)):
                found.append(content)
            case TextPart(content=content) if content:
                found.append(frame.framed(f"assistant: {content}"))
            case ToolCallPart() if calls:
                found.append(f"assistant called {frame.name(part.tool_name)} {short(part.args_as_json_str())}")
            case ToolReturnPart() if calls:
                found.append(f"result of {frame.name(part.tool_name)} ({part.outcome}): {part.model_response_str()}")
            case _:
                continue
    return found


def short(text: str) -> str:
    """A long text as the beginning of one line."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"


def bounded(text: str, most: int) -> str:
    """Head and tail of what has more characters than `most`."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}{_CUT}{text[len(text) - (most - head - len(_CUT)) :]}"
