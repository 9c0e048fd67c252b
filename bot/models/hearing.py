"""Hearing a model while it answers: its words in pieces for whoever listens, and the same response in the end (R12)."""

from typing import Protocol, runtime_checkable

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters

from bot.errors import ModelUnavailable


class Hears(Protocol):
    """Who listens. Neither of the two waits for anybody, or fails."""

    def add(self, piece: str) -> None:
        """More of the words."""
        ...

    def clear(self) -> None:
        """What was heard so far counts for nothing: there is no answer, or another one is asked for."""
        ...


@runtime_checkable
class PassesOn(Protocol):
    """A model that has others answer, and lets them be heard."""

    async def request_heard(
        self, messages: list[ModelMessage], model_request_parameters: ModelRequestParameters, hears: Hears
    ) -> ModelResponse:
        """What `request` does, heard."""
        ...


async def heard(
    model: Model, messages: list[ModelMessage], asked: ModelRequestParameters, hears: Hears
) -> ModelResponse:  # fmt: skip
    """The response that `request` gives. One that cannot be heard while it answers is asked as if nobody listened."""
    if isinstance(model, PassesOn):
        return await model.request_heard(messages, asked, hears)
    if type(model).request_stream is Model.request_stream:
        return await model.request(messages, None, asked)
    async with model.request_stream(messages, None, asked) as streamed:
        async for event in streamed:
            if piece := _words(event):
                hears.add(piece)
    response = streamed.get()
    if response.finish_reason is None:  # the connection ended as if all had been said; half an answer is none
        raise ModelUnavailable("its answer broke off")
    return response


def _words(event: ModelResponseStreamEvent) -> str:
    """The words in an event; thoughts and calls are none."""
    match event:
        case PartStartEvent(part=TextPart(content=words)):
            return words
        case PartDeltaEvent(delta=TextPartDelta(content_delta=words)):
            return words
        case _:
            return ""
