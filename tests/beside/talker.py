"""A model that goes by what it is shown: it asks for its calls, and beside them looks once before it answers."""

from collections.abc import Mapping, Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from tests.loop.scripted import Held, ScriptedModel, calls, says

Call = tuple[str, Mapping[str, object]]
LOOK: Call = ("look", {"at": "/var"})
ANSWER = "It hangs, and I have looked again."
DONE = "That is all."


class Talker(ScriptedModel):
    """`asks` are the responses with calls that it works the case with, one after another; then it says `DONE`.

    `held`: where its next answer beside a parked turn waits. `looks`: how often it looks before that answer.
    """

    def __init__(self) -> None:
        super().__init__(talks=True)
        self.asks: Sequence[Sequence[Call]] = ()
        self.looks = 1
        self.held: Held | None = None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        if not model_request_parameters.function_tools:  # it is asked for a shorter text
            return await super().request(messages, model_settings, model_request_parameters)
        beside = "svc__restart" not in {tool.name for tool in model_request_parameters.function_tools}
        self.script.append(self._beside(messages) if beside else self._at_work(messages))
        answer = await super().request(messages, model_settings, model_request_parameters)
        held, self.held = (self.held, None) if beside else (None, self.held)
        if held is not None:
            await held.wait()
        return answer

    def _beside(self, messages: Sequence[ModelMessage]) -> ModelResponse:
        looked = 0
        for message in reversed(messages):
            if isinstance(message, ModelRequest) and not _has_result(message, "look"):
                break
            looked += isinstance(message, ModelRequest)
        return says(ANSWER) if looked >= self.looks else calls(LOOK)

    def _at_work(self, messages: Sequence[ModelMessage]) -> ModelResponse:
        made = sum(
            isinstance(message, ModelResponse)
            and any(isinstance(part, ToolCallPart) and part.tool_name != "look" for part in message.parts)
            for message in messages
        )
        return calls(*self.asks[made]) if made < len(self.asks) else says(DONE)


def _has_result(message: ModelRequest, tool: str) -> bool:
    return any(isinstance(part, ToolReturnPart) and part.tool_name == tool for part in message.parts)
