"""Playbooks behind the interface of a model: messages in, calls or words out, at no cost.

The same messages give the same response, to the byte: there is no clock, no chance and no memory in it, so a
turn can be taken up after a restart, and a replay shows exactly what was said.
"""

import hashlib
import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from bot.playbook.answer import Answer, answer
from bot.playbook.book import Playbook
from bot.playbook.choose import choose
from bot.playbook.history import NOTE, RETELLING, UnderWay, read

PROVIDER = "playbook"
ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)
"""A response has no time of its own; the store knows when it came."""


class PlaybookModel(Model[None]):
    """The assistant without a provider. Asked for as `playbook`, it reports `playbook:<name>` in each response."""

    talks = False
    """It works what it matches; what people say while a call waits for a decision is not its to answer."""

    def __init__(self, playbooks: Sequence[Playbook], here: Collection[str] = ()) -> None:
        """`here` holds the names of this machine: an alert that names another is known to be about that one."""
        super().__init__()
        self.playbooks, self._here = tuple(playbooks), frozenset(here)

    @property
    def model_name(self) -> str:
        """Always `playbook`; the response names the playbook that was worked."""
        return PROVIDER

    @property
    def system(self) -> str:
        """Stands where a provider's name would."""
        return PROVIDER

    def covers(self, messages: Sequence[ModelMessage]) -> str | None:
        """The playbook that would answer these messages, or None: so playbooks can stand before another model."""
        if RETELLING in (messages[-1].metadata or {}):
            return None
        found = read(messages)
        if isinstance(found, UnderWay):
            return found.note.book
        chosen = choose(self.playbooks, found, self._here)
        return chosen[0].name if chosen else None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The next response of the turn that the messages describe."""
        offered = frozenset(tool.name for tool in model_request_parameters.function_tools)
        made = answer(self.playbooks, messages, offered, self._here)
        speaks = all(isinstance(part, TextPart) for part in made.parts)
        return ModelResponse(
            parts=list(made.parts),
            usage=RequestUsage(cost=Decimal(0)),
            model_name=f"{PROVIDER}:{made.note.book}",
            timestamp=ALWAYS,
            provider_name=PROVIDER,
            provider_details={NOTE: made.note.model_dump(mode="json", exclude_defaults=True)},
            provider_response_id=_identity(made),
            finish_reason="stop" if speaks else "tool_call",
        )


def _identity(made: Answer) -> str:
    parts = [part.content if isinstance(part, TextPart) else [part.tool_name, part.args] for part in made.parts]
    text = json.dumps([made.note.model_dump(mode="json"), parts], sort_keys=True, ensure_ascii=True)
    return f"pb-{hashlib.sha256(text.encode('ascii')).hexdigest()[:24]}"
