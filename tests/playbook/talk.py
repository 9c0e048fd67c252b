"""The engine's part of a turn, as small as can be: messages to the model, its calls to real tools, results back."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from bot.playbook import PlaybookModel
from bot.tools.declare import BadArguments, Tool, ToolFailed, wire

OFFERED = (
    "host.disk_usage",
    "host.largest_dirs",
    "host.memory",
    "host.load",
    "host.processes",
    "host.service_state",
    "host.log_tail",
    "host.restart_service",
    "host.clear_cache",
    "case.hand_off",
    "case.resolve",
)


@dataclass(frozen=True)
class Result:
    """What a call gave."""

    content: object = "done"
    outcome: Literal["success", "failed", "denied"] = "success"


Work = Callable[[str, dict[str, object]], Result]
"""(dotted name, arguments) -> the result."""


def call(part: ToolCallPart) -> tuple[str, dict[str, object]]:
    """A call by its dotted name, with its arguments."""
    return part.tool_name.replace("__", "."), cast("dict[str, object]", part.args_as_dict())


def calls(response: ModelResponse) -> list[tuple[str, dict[str, object]]]:
    """The calls of a response, in order."""
    return [call(part) for part in response.parts if isinstance(part, ToolCallPart)]


def words(response: ModelResponse) -> str:
    """The words of a response."""
    return "\n".join(part.content for part in response.parts if isinstance(part, TextPart))


def alert(status: str = "firing", annotations: Mapping[str, str] | None = None, **labels: str) -> dict[str, object]:
    """One alert as the intake leaves it in the metadata."""
    return {"status": status, "labels": labels, "annotations": annotations or {}, "startsAt": "2027-01-15T08:00:00Z"}


def dump(messages: Sequence[ModelMessage]) -> bytes:
    """Messages as the store keeps them."""
    return ModelMessagesTypeAdapter.dump_json(list(messages))


@dataclass
class Talk:
    """A case's transcript, and a model that works it."""

    model: PlaybookModel
    offered: Sequence[str] = OFFERED
    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])

    def hear(self, *texts: str, alerts: Sequence[dict[str, object]] = (), turn: int | None = None) -> None:
        """New messages, which begin a turn."""
        parts = [UserPromptPart(text) for text in texts]
        self.messages.append(ModelRequest(parts=parts, metadata=_metadata(alerts, turn)))

    async def ask(self) -> ModelResponse:
        """The model's next response; the messages are those that the store would give back."""
        tools = [ToolDefinition(name=wire(name)) for name in self.offered]
        stored = ModelMessagesTypeAdapter.validate_json(dump(self.messages))
        response = await self.model.request(stored, None, ModelRequestParameters(function_tools=tools))
        self.messages.append(response)
        return response

    def give(self, *results: Result, said: Sequence[str] = (), turn: int | None = None) -> None:
        """The results of the newest response's calls, in order, and what was said while they were waited for."""
        newest = next(message for message in reversed(self.messages) if isinstance(message, ModelResponse))
        made = [part for part in newest.parts if isinstance(part, ToolCallPart)]
        returns = [
            ToolReturnPart(part.tool_name, result.content, tool_call_id=part.tool_call_id, outcome=result.outcome)
            for part, result in zip(made, results, strict=True)
        ]
        parts = [*returns, *(UserPromptPart(text) for text in said)]
        self.messages.append(ModelRequest(parts=parts, metadata=_metadata((), turn)))

    async def finish(self, work: Work, limit: int = 20) -> ModelResponse:
        """Ask and work until the last words; `limit` is that of a run."""
        for _ in range(limit):
            response = await self.ask()
            made = calls(response)
            if not made:
                return response
            self.give(*(work(name, args) for name, args in made))
        raise AssertionError("the turn does not end")


def _metadata(alerts: Sequence[dict[str, object]], turn: int | None) -> dict[str, object] | None:
    found: dict[str, object] = {}
    if alerts:
        found["alerts"] = list(alerts)
    if turn is not None:
        found["turn"] = turn
    return found or None


async def really(tools: Sequence[Tool], name: str, args: dict[str, object]) -> Result:
    """Run a call with the real tool, the way the engine does."""
    tool = next(one for one in tools if one.name == name)
    assert tool.call is not None
    try:
        return Result(await tool.call(tool.validate(json.dumps(args))))
    except (BadArguments, ToolFailed) as refused:
        return Result(str(refused), "failed")
