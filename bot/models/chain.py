"""A chain of models: each is asked when those before it do not answer; it goes by the name of the first."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from bot import logs
from bot.errors import ModelRefused, ModelUnavailable
from bot.models.acceptable import acceptable
from bot.models.hearing import Hears
from bot.models.question import ask_model
from bot.redaction import without_logins

log = logging.getLogger("casebound.models")


class Chain(Model[None]):
    """Models by their names in the settings, at least one, in the order in which they are asked.

    One that refuses (a wrong key, an unknown name) is no reason to keep anybody waiting: the next is asked, and
    `trouble` says so until it answers again. A refusal to answer (`content_filter`) is an answer, and is not taken
    to the next model.
    """

    def __init__(
        self, models: Mapping[str, Model], timeout_ms: int, *, addresses: Mapping[str, str | None] | None = None,
        secrets: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """`timeout_ms`: how long all of them together may take; each has an equal part of it (R10).

        `addresses` are those of one's own servers, by the name of the model. `secrets` is what no provider is quoted
        with; where they are not given, none is quoted at all.
        """
        super().__init__()
        self._models, self._each_ms = dict(models), timeout_ms // len(models)
        self._addresses, self._secrets = dict(addresses or {}), secrets
        self._refused: dict[str, str] = {}
        self._silent: dict[str, str] = {}
        self._open = AsyncExitStack()

    @property
    def model_name(self) -> str:
        """What was asked for: the first name in the settings. The response names who answered."""
        return next(iter(self._models))

    @property
    def system(self) -> str:
        """Stands where a provider's name would."""
        return self.model_name.partition(":")[0]

    @property
    def trouble(self) -> str | None:
        """Which of the models refuse us and why, until they answer again; None where none does."""
        return " ".join(self._refused.values()) or None

    @property
    def silent(self) -> Mapping[str, str]:
        """Why models did not answer when they were last asked, each by its name, while another did."""
        return self._silent

    async def __aenter__(self) -> Self:
        """Open what the models talk through."""
        for model in self._models.values():
            await self._open.enter_async_context(model)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close it."""
        return await self._open.__aexit__(kind, error, trace)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The answer of the first that gives one. Raises `ModelUnavailable` if one may still, else `ModelRefused`."""
        return await self._first(messages, model_request_parameters, None)

    async def request_heard(
        self, messages: list[ModelMessage], model_request_parameters: ModelRequestParameters, hears: Hears
    ) -> ModelResponse:
        """The same; what was heard of one that did not answer is forgotten before the next is asked."""
        return await self._first(messages, model_request_parameters, hears)

    async def _first(
        self, messages: list[ModelMessage], asked: ModelRequestParameters, hears: Hears | None
    ) -> ModelResponse:  # fmt: skip
        sent = acceptable(messages)
        failed: list[ModelUnavailable | ModelRefused] = []
        unanswered: dict[str, str] = {}
        for name, model in self._models.items():
            try:
                answered = await ask_model(model, sent, asked, self._each_ms, hears, secrets=self._secrets)
            except ModelUnavailable as error:
                failed.append(error.of(self._who(name)))
                unanswered[name] = error.why
            except ModelRefused as error:
                failed.append(error.of(self._who(name)))
                self._refused[name] = str(failed[-1])
            else:
                self._refused.pop(name, None)
                self._note(name, unanswered)
                return answered
        raise _soonest(failed)

    def _who(self, name: str) -> str:
        address = self._addresses.get(name)
        return f"{name} at {without_logins(address).rstrip('/')}" if address else name

    def _note(self, answered: str, unanswered: Mapping[str, str]) -> None:
        """Say once that a model is silent and another answers in its place, and once that it answers again."""
        if self._silent.pop(answered, None) is not None:
            logs.event(log, "model.answers_again", model=answered)
        for name, why in unanswered.items():
            if name not in self._silent:
                logs.event(log, "model.silent", logging.WARNING, model=self._who(name), why=why, instead=answered)
            self._silent[name] = why


def _soonest(failed: Sequence[ModelUnavailable | ModelRefused]) -> ModelUnavailable | ModelRefused:
    """What to say of several that failed: the one that answers again first; one that says no time may do so at once."""
    passing = [error for error in failed if isinstance(error, ModelUnavailable)]
    return min(passing, key=lambda error: error.after_ms or 0, default=failed[0])
