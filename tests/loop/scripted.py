"""A model that says what a test tells it to, records what it was sent, and waits where a test wants it to."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from bot.retelling import compaction, paraphrasing
from bot.words import frame

ASKED, REPORTED = "scripted", "scripted-2026-11"


class Held:
    """A place where something waits until the test lets it go on: no sleep ever decides who is first."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.release = asyncio.Event()

    async def wait(self) -> None:
        """Say that we are here, and wait."""
        self.reached.set()
        await self.release.wait()


class Waits:
    """A line of the script that is said once the test lets it."""

    def __init__(self, held: Held, then: "Line") -> None:
        self.held, self.then = held, then


Line = ModelResponse | BaseException | Waits | Callable[[list[ModelMessage]], ModelResponse]


class ScriptedModel(Model[None]):
    """Says the lines of its script, one a call; `sent` is what it was sent, `offered` the tools it was offered.

    Asked to make older turns shorter, it says the next line of `shorter`; `shortened` is what it was sent then. Asked
    to write about the case, it says the next line of `in_short`; `written_of` is what it was sent then.

    Like a provider it takes no request in which a call has no result, or a result no call (R7). `talks`: whether it
    answers what is said while a call waits for a decision.
    """

    def __init__(self, *script: Line, talks: bool = False) -> None:
        super().__init__()
        self.talks = talks
        self.script = list(script)
        self.sent: list[list[ModelMessage]] = []
        self.offered: list[list[str]] = []
        self.shorter: list[Line] = []
        self.shortened: list[list[ModelMessage]] = []
        self.in_short: list[Line] = []
        self.written_of: list[list[ModelMessage]] = []

    def then(self, *lines: Line) -> None:
        """Lines that follow those still to be said."""
        self.script.extend(lines)

    @property
    def model_name(self) -> str:
        return ASKED

    @property
    def system(self) -> str:
        return ASKED

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        assert model_settings is None
        if getattr(messages[0], "instructions", None) == compaction.INSTRUCTIONS:
            assert not model_request_parameters.function_tools
            self.shortened.append(messages)
            return await _said(self.shorter.pop(0) if self.shorter else says("All was well."), messages)
        if getattr(messages[0], "instructions", None) == paraphrasing.INSTRUCTIONS:
            assert not model_request_parameters.function_tools
            self.written_of.append(messages)
            return await _said(self.in_short.pop(0) if self.in_short else says("A case."), messages)
        assert unpaired(messages) == []
        assert messages, "a request has something in it"
        assert isinstance(messages[0], ModelRequest), "a request begins with what somebody said"
        assert isinstance(messages[-1], ModelRequest), "a request ends with what is to be answered"
        self.sent.append(messages)
        self.offered.append([tool.name for tool in model_request_parameters.function_tools])
        assert self.script, f"the script is at its end, and the model is asked once more: {said(messages)}"
        return await _said(self.script.pop(0), messages)


async def _said(line: Line, messages: list[ModelMessage]) -> ModelResponse:
    if isinstance(line, Waits):
        await line.held.wait()
        line = line.then
    if isinstance(line, BaseException):
        raise line
    if isinstance(line, ModelResponse):
        return line
    assert not isinstance(line, Waits)
    return line(messages)


_numbers = iter(range(1, 1_000_000))


def _answered(parts: Sequence[ModelResponsePart], finish: FinishReason | None) -> ModelResponse:
    return ModelResponse(
        parts=list(parts),
        usage=RequestUsage(input_tokens=100, output_tokens=10, cache_read_tokens=5, cost=Decimal("0.001")),
        model_name=REPORTED,
        provider_response_id=f"resp-{next(_numbers)}",
        finish_reason=finish,
    )


def says(text: str, finish: FinishReason = "stop") -> ModelResponse:
    """An answer of words alone."""
    return _answered([TextPart(text)] if text else [], finish)


def calls(*wanted: tuple[str, Mapping[str, object] | str], text: str = "", ids: Sequence[str] = ()) -> ModelResponse:
    """An answer that calls tools, by their dotted names, with their arguments (a text: as the model wrote them)."""
    parts: list[ModelResponsePart] = [TextPart(text)] if text else []
    for position, (tool, args) in enumerate(wanted):
        call_id = ids[position] if ids else f"call-{next(_numbers)}"
        raw = args if isinstance(args, str) else dict(args)
        parts.append(ToolCallPart(tool.replace(".", "__"), raw, tool_call_id=call_id))
    return _answered(parts, "tool_call")


def said(messages: Sequence[ModelMessage]) -> list[str]:
    """The words in what a model was sent: those of people and those of the engine."""
    return [
        str(part.content)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]


def returned(messages: Sequence[ModelMessage]) -> list[object]:
    """The results in what a model was sent, in their order, without the frame around what tools wrote."""
    return [
        frame.original(part.content)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


def unpaired(messages: Sequence[ModelMessage]) -> list[str]:
    """What is wrong between calls and results: each call has one result, after it and before the next response."""
    faults: list[str] = []
    owed: list[str] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            faults += [f"{call_id} has no result" for call_id in owed]
            owed = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
            continue
        for part in message.parts:
            if not isinstance(part, ToolReturnPart):
                continue
            if part.tool_call_id in owed:
                owed.remove(part.tool_call_id)
            else:
                faults.append(f"a result for {part.tool_call_id}, which nobody is waiting for")
    return faults + [f"{call_id} has no result" for call_id in owed]
