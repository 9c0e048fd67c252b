"""What we add to a model that takes its time: a turn of ours beside the same requests by its bare client."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from pydantic import SecretStr
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from bench.installation import Installation, installed
from bench.model_server import CALL_MS
from bench.speed import WARM
from bench.table import Finding, spread
from bot.models.assistant import assistant
from bot.models.provider import provided
from bot.settings import Settings
from bot.settings.model import Model as ModelSection
from casestore import runs
from casestore.models import Run
from casestore.scope import System
from casestore.states import Outcome
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import KEY

ROOT = Path(__file__).parents[1]
THREAD = "t0"
_GIVE_UP_S = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """So many turns, and beside each its requests once more without us."""

    turns: int


FULL = Plan(60)
QUICK = Plan(5)


class Noted(WrapperModel):
    """The assistant; keeps what it was asked last."""

    def __init__(self, wrapped: Model) -> None:
        super().__init__(wrapped)
        self.asked: list[tuple[list[ModelMessage], ModelRequestParameters]] = []

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self.asked.append((messages, model_request_parameters))
        return await super().request(messages, model_settings, model_request_parameters)


async def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings on turns with a model of a provider, through its own client."""
    ours: list[float] = []
    bare: list[float] = []
    async with AsyncExitStack() as stack:
        base_url = await stack.enter_async_context(_server())
        named = ModelSection(name=OpenAIServer.name, base_url=base_url, api_key=SecretStr(KEY))
        settings = Settings(model=named)
        noted = await stack.enter_async_context(Noted(assistant(settings)))
        client = await stack.enter_async_context(provided(named.name, KEY, base_url))
        installation = await stack.enter_async_context(installed(folder / "model.db", settings, noted))
        for _ in range(WARM):
            await installation.turn(THREAD)
        for _ in range(plan.turns):
            noted.asked.clear()
            began = time.perf_counter()
            await installation.turn(THREAD)
            between = time.perf_counter()
            for messages, parameters in noted.asked:
                await client.request(messages, None, parameters)
            ours.append((between - began) * 1_000)
            bare.append((time.perf_counter() - between) * 1_000)
        ran = await _last_runs(installation, plan.turns)
    own = [turn - requests for turn, requests in zip(ours, bare, strict=True)]
    requests, read, said = (
        mean(value) for value in zip(*((r.model_calls, r.input_tokens, r.output_tokens) for r in ran), strict=True)
    )
    return [
        Finding(f"ms of a turn, {CALL_MS} ms each model call", spread(ours, 1), spread(bare, 1),
                f"our own/one call {median(own) / CALL_MS:.2f}", n=f"{plan.turns}"),
        Finding("ms of it that are our own", spread(own, 1), n=f"{plan.turns}"),
        Finding("model requests/turn, tokens read and said", f"{requests:.1f}, {read:,.0f}, {said:,.0f}",
                n=f"{len(ran)}"),
    ]  # fmt: skip


@asynccontextmanager
async def _server() -> AsyncGenerator[str]:
    """Where the model is reached, a process of its own, so that it shares no event loop with what is measured."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.model_server", cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process of the model has no pipes")
    try:
        async with asyncio.timeout(_GIVE_UP_S):
            where = (await process.stdout.readline()).decode().strip()
        if not where:
            raise RuntimeError("the process of the model ended before it listened")
        yield where
    finally:
        process.stdin.close()
        await process.wait()


async def _last_runs(installation: Installation, turns: int) -> list[Run]:
    """The records of the last runs (R16), which have what was asked and used."""
    found = await installation.store.read(runs.listing, System(), most=turns)
    if unanswered := [run.outcome for run in found if run.outcome is not Outcome.ANSWERED]:
        raise RuntimeError(f"a run ended {unanswered[0]}, not answered")
    return found
