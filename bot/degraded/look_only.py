"""Answering without acting: a model with read-only tools, and nothing recorded on the way."""

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model

from bot.errors import ModelUnavailable
from bot.models.question import ask_model, parameters, usage_of
from bot.policy import policy
from bot.tools import outside
from bot.tools.declare import BadArguments, Tool
from bot.tools.results import CallResult
from bot.turns.desk import Desk, Offer
from bot.words import frame
from casestore.model_steps import Usage

_NOT_NOW = "refused: nothing can be recorded just now, so nothing is done; say so, and that it can be asked for later"


class LookOnly:
    """One model with the tools of an installation that only look."""

    def __init__(self, desk: Desk, model: Model) -> None:
        self._desk, self._model = desk, model

    async def answer(self, messages: list[ModelMessage]) -> tuple[ModelResponse, Usage]:
        """Ask the model until it has words; its calls are made if they only look, and refused if they would act."""
        limits, used = self._desk.settings.limits, list[Usage]()
        tools = {tool.wire_name: tool for tool in offered(self._desk).tools}
        asked = parameters(tools.values())
        for _ in range(limits.model_calls):
            response = await ask_model(self._model, messages, asked, self._desk.settings.model.timeout)
            used.append(usage_of(response))
            calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
            if not calls:
                return response, _sum(used)
            returned = [await _return(tools.get(call.tool_name), call, limits.result_characters) for call in calls]
            messages = [*messages, response, ModelRequest(returned, metadata={"turn": None})]
        raise ModelUnavailable("too many model calls for one answer")


async def _return(tool: Tool | None, call: ToolCallPart, most: int) -> ToolReturnPart:
    result = None
    if tool is not None:
        try:
            args = tool.validate(call.args if isinstance(call.args, str) else dict(call.args or {}))
            result = await outside.make(tool, args)
        except BadArguments as error:
            return ToolReturnPart(call.tool_name, frame.framed(str(error)), call.tool_call_id, outcome="failed")
    if not isinstance(result, CallResult):
        return ToolReturnPart(call.tool_name, _NOT_NOW, call.tool_call_id, outcome="denied")
    return ToolReturnPart(call.tool_name, result.shown(most), call.tool_call_id, outcome=result.outcome)


def offered(desk: Desk) -> Offer:
    """What the model is given while nothing can be recorded.

    Where a case is spoken of may be unknown: no notes. For whom it is may be too: what no profile narrows.
    """
    settings, box = desk.settings, desk.toolbox
    narrowing = settings.profiles.every()
    return desk.offered([tool for tool in box.offered if policy.only_looks(tool, settings, narrowing)], set())


def _sum(used: list[Usage]) -> Usage:
    last = used[-1]
    return Usage(
        finish_reason=last.finish_reason, model_reported=last.model_reported,
        provider_response_id=last.provider_response_id,
        input_tokens=sum(usage.input_tokens for usage in used),
        output_tokens=sum(usage.output_tokens for usage in used),
        cached_tokens=sum(usage.cached_tokens for usage in used), cost_usd=sum(usage.cost_usd for usage in used),
    )  # fmt: skip
