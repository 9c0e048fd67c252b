"""Playbooks in front of a model: they answer what they match, the model answers the rest."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from bot.models.chain import Chain
from bot.models.hearing import Hears
from bot.playbook.model import PROVIDER, PlaybookModel


class PlaybooksFirst(WrapperModel):
    """Goes by the name of the model behind; a response names who gave it.

    A turn stays with whoever began it: words that somebody says in its midst do not hand it from one to the other.
    """

    def __init__(self, playbooks: PlaybookModel, behind: Chain) -> None:
        super().__init__(behind)
        self._playbooks, self._behind = playbooks, behind

    @property
    def trouble(self) -> str | None:
        """What is wrong with the models behind."""
        return self._behind.trouble

    @property
    def silent(self) -> Mapping[str, str]:
        """Which of them did not answer when they were last asked, and why."""
        return self._behind.silent

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The answer of the playbook that fits, else that of the model."""
        chosen = self._playbooks if self._plays(messages) else self._behind
        return await chosen.request(messages, model_settings, model_request_parameters)

    async def request_heard(
        self, messages: list[ModelMessage], model_request_parameters: ModelRequestParameters, hears: Hears
    ) -> ModelResponse:
        """The same; playbooks have their words at once, and are not heard before."""
        if self._plays(messages):
            return await self._playbooks.request(messages, None, model_request_parameters)
        return await self._behind.request_heard(messages, model_request_parameters, hears)

    def _plays(self, messages: Sequence[ModelMessage]) -> bool:
        return not _begun_behind(messages) and self._playbooks.covers(messages) is not None


def _begun_behind(messages: Sequence[ModelMessage]) -> bool:
    """Whether the turn that the last request belongs to has a response by now that is of no playbook."""
    if not messages or (turn := _turn(messages[-1])) is None:
        return False
    return any(
        isinstance(after, ModelResponse) and after.provider_name != PROVIDER and _turn(before) == turn
        for before, after in pairwise(messages)
    )


def _turn(message: ModelMessage) -> object:
    return (message.metadata or {}).get("turn") if isinstance(message, ModelRequest) else None
