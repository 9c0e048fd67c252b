"""Question the model: within a time limit, failures sorted into those that pass and those that do not."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters

from bot.errors import ModelRefused, ModelUnavailable
from bot.models import complaint
from bot.models.hearing import Hears, heard
from bot.playbook.history import RETELLING
from bot.tools.declare import Tool
from bot.words.durations import duration_text
from casestore.model_steps import Usage
from channels.text import storable

_PASSES = frozenset({408, 409, 425, 429})
_MEANS = {
    400: "it does not take the request",
    401: "it does not accept the key",
    403: "the key may not be used for this",
    404: "it knows no such model, or the address is wrong",
}
"""What a provider says no with, for whoever has to mend it."""
_PAY = "Look at the plan and the billing of that account; nothing has to be restarted."

_NAME_AT_MOST = 200
"""Characters of a name or an id that a provider tells."""
_TOKENS_AT_MOST = 10**12
"""More than any model reads; a run's counts are stored as numbers of 64 bits."""


@runtime_checkable
class Troubled(Protocol):
    """A model that can answer although something about it has to be mended."""

    @property
    def trouble(self) -> str | None:
        """What an operator has to mend; None where nothing is to be."""
        ...

    @property
    def silent(self) -> Mapping[str, str]:
        """Why models did not answer when they were last asked, each by its name, while another did."""
        ...


async def ask_model(
    model: Model, messages: Sequence[ModelMessage], asked: ModelRequestParameters, timeout_ms: int,
    hears: Hears | None = None, *, secrets: Sequence[str] | None = None,
) -> ModelResponse:  # fmt: skip
    """One model call. Raises `ModelUnavailable` for what passes by itself, `ModelRefused` for what does not.

    A quota that is used up does not pass, though providers answer 429 to that too. `hears` is told the words as they
    come, and to forget them where there is no response in the end; the response is the same. What the provider says of
    a failure is repeated without these `secrets`, and not at all where nobody knows which there are.
    """
    if hears is None:
        return await _response(lambda: model.request([*messages], None, asked), model, timeout_ms, secrets)
    try:
        return await _response(lambda: heard(model, [*messages], asked, hears), model, timeout_ms, secrets)
    except BaseException:
        hears.clear()
        raise


async def _response(
    request: Callable[[], Awaitable[ModelResponse]], model: Model, timeout_ms: int, secrets: Sequence[str] | None
) -> ModelResponse:  # fmt: skip
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            answered = await request()
    except TimeoutError:
        raise ModelUnavailable(f"no answer within {duration_text(timeout_ms)}") from None
    except ModelQuotaExceededError as error:
        used_up = "the provider says that its quota or credit is used up"
        raise ModelRefused(used_up + _own_words(error, secrets), _PAY) from None
    except ModelHTTPError as error:
        if error.status_code in _PASSES or error.status_code >= 500:
            why = f"the provider answered {error.status_code}{_own_words(error, secrets)}"
            raise ModelUnavailable(why, _after_ms(error)) from None
        raise _refusal(error, secrets) from None
    except ModelRequestRejectedError as error:
        raise ModelRefused(f"the provider rejects the request ({type(error).__name__})") from None
    except ContentFilterError:
        return ModelResponse(parts=[], model_name=model.model_name, finish_reason="content_filter")
    except (UnexpectedModelBehavior, RecursionError) as error:  # the second: it is nested out of all bounds
        raise ModelUnavailable(f"its answer could not be read ({type(error).__name__})") from None
    except ModelAPIError as error:
        raise ModelUnavailable("it cannot be reached, or the connection broke off", _after_ms(error)) from None
    if not answered.parts and answered.finish_reason is None:  # Google's client makes one of anything it is given
        raise ModelUnavailable("its answer could not be read (it is empty)")
    return answered


def _refusal(error: ModelHTTPError, secrets: Sequence[str] | None) -> ModelRefused:
    # Google says of a wrong key that the request is a bad one, and gives the reason in its details
    wrong_key = error.status_code == 401 or (isinstance(error, ModelAuthenticationError) and error.status_code == 400)
    means = _MEANS[401] if wrong_key else _MEANS.get(error.status_code)
    answered = f"the provider answered {error.status_code}{f' ({means})' if means else ''}"
    return ModelRefused(answered if wrong_key else answered + _own_words(error, secrets))


def _own_words(error: ModelAPIError, secrets: Sequence[str] | None) -> str:
    words = None if secrets is None else complaint.said(error.body, secrets)
    return "" if words is None else f', and says: "{words.rstrip(".")}"'


def parameters(tools: Iterable[Tool] = ()) -> ModelRequestParameters:
    """What a request says beside its messages: words are an answer, and so are calls of these tools."""
    return ModelRequestParameters(function_tools=[tool.definition() for tool in tools], allow_text_output=True)


def _after_ms(error: ModelAPIError) -> int | None:
    return None if error.retry_after is None else max(0, math.ceil(error.retry_after * 1000))


async def ask_for_words(model: Model, instructions: str, about: str, timeout_ms: int) -> ModelResponse:
    """Have a model write about something that is no conversation with it; it is offered no tools. Raises the same."""
    request = ModelRequest([UserPromptPart(about)], instructions=instructions, metadata={RETELLING: True})
    return await ask_model(model, [request], parameters(), timeout_ms)


def usage_of(answered: ModelResponse) -> Usage:
    """What one response used, and how it ended."""
    calls = any(isinstance(part, ToolCallPart) for part in answered.parts)
    return Usage(
        finish_reason=answered.finish_reason or ("tool_call" if calls else "stop"),
        model_reported=_name(answered.model_name),
        provider_response_id=_name(answered.provider_response_id),
        input_tokens=_tokens(answered.usage.input_tokens),
        output_tokens=_tokens(answered.usage.output_tokens),
        cached_tokens=_tokens(answered.usage.cache_read_tokens),
        cost_usd=_cost(answered),
    )


def _name(told: str | None) -> str | None:
    """A name or an id that the provider tells, as far as one is any use."""
    return None if told is None else storable(told[:_NAME_AT_MOST])


def _tokens(told: int) -> int:
    """A count that the provider tells, kept where the counts of a run can still be summed up."""
    return max(0, min(told, _TOKENS_AT_MOST))


def _cost(answered: ModelResponse) -> float:
    """What the response cost in US dollars, as reported or by the list of prices; 0 where neither knows."""
    usage = answered.usage
    if usage.cost is not None:
        told = float(usage.cost)
        return told if math.isfinite(told) else 0.0
    if not answered.model_name or usage.input_tokens + usage.output_tokens == 0:
        return 0.0
    try:
        return float(answered.cost().total_price)
    except (LookupError, ValueError):  # no price for this model, or usage that the provider left out
        return 0.0
