"""What one turn consists of: the texts and their sizes, the two tools, and a model that answers at once."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from enum import Enum

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from bot.tools.declare import Tool, declare
from casestore.states import Tier

MESSAGE, ARGUMENTS, RESULT, REPLY = 400, 200, 2_000, 600
"""Characters of a user message, of a call's arguments, of its result, of the final text."""
GATED_EVERY = 5
"""Each fifth turn has a gated call beside its free one."""


class Moment(Enum):
    """What a turn comes to that somebody may want to be told of, while it happens."""

    SAID = "somebody says something"
    ASKED = "the model is asked for the first time"
    DECIDED = "somebody decides the gate"
    EFFECT = "the gated tool runs"


Told = Callable[[Moment], Awaitable[None]]

_ASKS_FOR_BOTH = "look, then restart"
_WORDS = "the disk of the third machine in the second rack fills up again and nobody has looked at it since monday "


def filler(characters: int, beginning: str = "") -> str:
    """Text of exactly so many characters that looks like language."""
    return (beginning + _WORDS * (characters // len(_WORDS) + 1))[:characters]


def message(turn: int, place: int) -> str:
    """What the requester says in turn `turn`, counted from 1; it tells the model which calls to make.

    `place` is the number of the case: so that not all of them come to a gate at the same moment.
    """
    return filler(MESSAGE, f"turn {turn}: {_ASKS_FOR_BOTH if is_gated(turn, place) else 'look'}; ")


def is_gated(turn: int, place: int) -> bool:
    """Whether that message leads to a gate."""
    return (turn + place) % GATED_EVERY == 0


async def look(what: str) -> str:
    """Look at something."""
    return filler(RESULT, f"found {len(what)}: ")


def tools(told: Told) -> list[Tool]:
    """A free tool and a gated one."""

    async def restart(what: str) -> str:
        """Restart something."""
        await told(Moment.EFFECT)
        return filler(RESULT, f"restarted {len(what)}: ")

    return [
        declare(look, name="bench.look", statement="Look at {what}", tier=Tier.READ_ONLY),
        declare(restart, name="bench.restart", statement="Restart {what}", tier=Tier.CONSEQUENTIAL),
    ]


class ScriptedModel(Model[None]):
    """Calls the tools that the message asks for, then says the final text. It takes no time."""

    def __init__(self, told: Told) -> None:
        super().__init__()
        self._told, self._asked = told, 0

    @property
    def model_name(self) -> str:
        return "scripted"

    @property
    def system(self) -> str:
        return "scripted"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._asked += 1
        last = messages[-1]
        if not isinstance(last, ModelRequest):
            raise TypeError("a window has to end with a request")
        speaks = _answered(last) or not model_request_parameters.function_tools  # or older turns are made shorter
        if not speaks:
            await self._told(Moment.ASKED)
        parts = [TextPart(filler(REPLY))] if speaks else self._calls(last)
        return ModelResponse(
            parts=parts,
            usage=RequestUsage(input_tokens=1_000, output_tokens=150),
            model_name="scripted",
            timestamp=datetime.now(UTC),
            provider_name="scripted",
            provider_response_id=f"response-{self._asked}",
            finish_reason="stop" if speaks else "tool_call",
        )

    def _calls(self, last: ModelRequest) -> list[ToolCallPart]:
        said = " ".join(str(part.content) for part in last.parts if part.part_kind == "user-prompt")
        names = ["bench__look", "bench__restart"] if _ASKS_FOR_BOTH in said else ["bench__look"]
        return [self._call(name, place) for place, name in enumerate(names)]

    def _call(self, name: str, place: int) -> ToolCallPart:
        identity = f"call-{self._asked}-{place}"
        around = len(json.dumps({"what": ""}, separators=(",", ":")))
        return ToolCallPart(name, {"what": filler(ARGUMENTS - around, f"{identity} ")}, tool_call_id=identity)


def _answered(last: ModelRequest) -> bool:
    return any(isinstance(part, ToolReturnPart) for part in last.parts)
