"""A model that does what the messages plan, and tools whose effects are lines in a file outside everything.

The model is a pure function of what it is sent: a process that asks again after a kill is told the same.
"""

import asyncio
import json
import os
import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from bot.tools.declare import Tool, declare, wire
from casestore.states import Tier

NAME = "planned"
Stage = list[tuple[str, str]]
"""The calls of one response: a tool, and the key that names this one call for good."""

_PLAN = re.compile(r"<plan (\[.*?\])>")


def plan(*stages: Stage) -> str:
    """The words that make the model call tools, one stage for each of its responses."""
    return f"<plan {json.dumps(stages)}>" if stages else ""


class PlannedModel(Model[None]):
    """Makes the calls that are planned in what it was told and not yet made; then it says so."""

    def __init__(self, asked: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self._asked = asked

    @property
    def model_name(self) -> str:
        return NAME

    @property
    def system(self) -> str:
        return NAME

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        speaks = not model_request_parameters.function_tools  # it is to write about the case, and not to work it
        if not speaks:
            self._asked()
        owed = [] if speaks else still_planned(messages)
        # the ids repeat from response to response, as providers' do (R14)
        calls = [
            ToolCallPart(wire(tool), arguments(tool, key), tool_call_id=f"call-{n}")
            for n, (tool, key) in enumerate(owed[0] if owed else [])
        ]
        return ModelResponse(
            parts=calls or [TextPart(f"All that was planned is done, after {len(messages)} messages.")],
            usage=RequestUsage(input_tokens=len(messages), output_tokens=1),
            model_name=NAME,
            finish_reason="tool_call" if calls else "stop",
        )


def arguments(tool: str, key: str) -> dict[str, object]:
    """What a tool is called with for one key."""
    return {"title": key} if tool == "case.set_title" else {"key": key}


def still_planned(messages: list[ModelMessage]) -> list[Stage]:
    """The stages that no response has worked yet; words alone end whatever was planned before them."""
    owed: list[Stage] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            owed = owed[1:] if any(isinstance(part, ToolCallPart) for part in message.parts) else []
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart) and isinstance(part.content, str):
                for found in _PLAN.findall(part.content):
                    owed += cast("list[Stage]", json.loads(found))
    return owed


class Counter:
    """The world that the tools change: one line for each effect, written at once and on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, tool: str, key: str) -> None:
        """One effect more. A single write to a file that is only appended to: whole, or not there."""
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, f"{tool} {key}\n".encode())
            os.fsync(fd)
        finally:
            os.close(fd)

    def count(self, key: str, tool: str | None = None) -> int:
        """How often an effect was made."""
        return sum(made == key and tool in (None, by) for by, made in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """Every effect, as tool and key, oldest first."""
        if not self._path.exists():
            return []
        split = (line.split(" ", 1) for line in self._path.read_text().splitlines())
        return [(tool, key) for tool, key in split]


_TOOLS: Mapping[str, tuple[Tier, bool]] = {
    "look": (Tier.READ_ONLY, False),
    "note": (Tier.ROUTINE, False),
    "wipe": (Tier.CONSEQUENTIAL, False),
    "sync": (Tier.CONSEQUENTIAL, True),
}
TIMEOUT_MS = 2_000


def tools(counter: Counter, moment: Callable[[str], object] = lambda _: None, *, slow: bool = False) -> list[Tool]:
    """A tool of each kind: read-only, routine, held at a gate, and held and idempotent.

    `moment` is told right before and right after each effect; with `slow`, some take a few milliseconds around it.
    """

    def made(name: str, tier: Tier, idempotent: bool) -> Tool:
        async def work(key: str) -> str:
            """Have the effect that the key names."""
            pause = zlib.crc32(key.encode()) % 4 * 0.004 if slow else 0.0
            if pause:
                await asyncio.sleep(pause)
            moment(f"before the effect of {name}")
            counter.add(name, key)
            moment(f"after the effect of {name}")
            if pause:
                await asyncio.sleep(pause)
            return f"{name} {key}: done"

        return declare(
            work, name=name, statement=f"{name.capitalize()} {{key}}", tier=tier, idempotent=idempotent,
            timeout_ms=TIMEOUT_MS,
        )  # fmt: skip

    return [made(name, tier, idempotent) for name, (tier, idempotent) in _TOOLS.items()]
