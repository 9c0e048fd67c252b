"""Question the model: within a time limit, failures sorted into those that pass and those that do not."""

import asyncio
from collections.abc import Sequence

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelHTTPError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters

from bot.errors import ModelRefused, ModelUnavailable

_PASSES = frozenset({408, 409, 425, 429})


async def ask_model(
    model: Model, messages: Sequence[ModelMessage], parameters: ModelRequestParameters, timeout_ms: int
) -> ModelResponse:
    """One model call. Raises `ModelUnavailable` for what passes by itself, `ModelRefused` for what does not."""
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            return await model.request(list(messages), None, parameters)
    except TimeoutError:
        raise ModelUnavailable(f"no answer within {timeout_ms // 1000} seconds") from None
    except ModelHTTPError as error:
        if error.status_code in _PASSES or error.status_code >= 500:
            raise ModelUnavailable(f"the provider answered {error.status_code}") from None
        raise ModelRefused(f"the provider answered {error.status_code}") from None
    except ModelRequestRejectedError as error:
        raise ModelRefused(f"the provider rejects the request ({type(error).__name__})") from None
    except ContentFilterError:
        return ModelResponse(parts=[], model_name=model.model_name, finish_reason="content_filter")
    except UnexpectedModelBehavior as error:
        raise ModelUnavailable(f"its answer could not be read ({type(error).__name__})") from None
    except ModelAPIError as error:
        raise ModelUnavailable(f"the provider could not be reached ({type(error).__name__})") from None
