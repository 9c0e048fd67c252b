"""Conducting a run: carry out each instruction outside any transaction, record it, take the next one.

Nothing lives only between two instructions: what a transaction returned can be had again from the store (R13).
"""

import asyncio
import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters

from bot import advance, results, window
from bot.advance import Response
from bot.desk import Desk
from bot.errors import ModelRefused, ModelUnavailable
from bot.instruct import CallModel, Ended, Instruction, Lost, RunCalls, ToRun
from bot.model import ask_model
from bot.results import CallResult
from bot.tools.declare import BadArguments, ToolFailed
from casestore.db import Store
from casestore.model_steps import Usage
from casestore.models import CaseId, StepId
from channels.text import storable

log = logging.getLogger("casebound.conduct")

_PUT_OFF_MS = 60_000


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A call that did not come back in time; nobody knows whether it did anything."""


class Conductor:
    """Works cases for one engine."""

    def __init__(
        self, store: Store, desk: Desk, model: Model, *, retry_after_s: Sequence[float] = (1.0, 4.0, 15.0)
    ) -> None:
        self._store, self._desk, self._model = store, desk, model
        self._retry_after_s = tuple(retry_after_s)
        self._reader = window.Reader()
        self._parameters = ModelRequestParameters(
            function_tools=[tool.definition() for tool in desk.toolbox.offered], allow_text_output=True
        )
        self.model_refused: str | None = None
        """Why the model refuses us, until it answers again; shown by `/readyz`."""

    async def work(self, case_id: CaseId) -> Ended | Lost | None:
        """Work a case until nothing is left to do in it, or it waits for somebody; how the last run ended."""
        instruction = await self._store.write(advance.begin, self._desk.now(), self._desk, case_id)
        while True:
            match instruction:
                case CallModel():
                    instruction = await self._call_model(instruction)
                case RunCalls():
                    instruction = await self._run_calls(instruction)
                case Ended() | Lost() | None:
                    return instruction

    async def _call_model(self, call: CallModel) -> Instruction:
        """Ask the model; what passes is asked again within the lease, then put off (design, section 5)."""
        desk, begun, failures = self._desk, call.begun, 0
        while True:
            messages = self._reader.messages(call.window, desk.prompt.text)
            try:
                answered = await ask_model(self._model, messages, self._parameters, desk.settings.model.timeout)
            except ModelRefused as error:
                self.model_refused = str(error)
                await self._no_response(call, str(error))
                return await self._store.write(
                    advance.give_up, desk.now(), desk, begun, "the assistant's model refuses to work", str(error)
                )
            except ModelUnavailable as error:
                if failures == len(self._retry_after_s):
                    return await self._put_off(call, str(error))
                await asyncio.sleep(self._retry_after_s[failures] * random.uniform(0.8, 1.2))
                failures += 1
                again = await self._store.write(
                    advance.no_response, desk.now(), desk, begun, call.step_id, str(error), again=True
                )
                if not isinstance(again, CallModel):
                    return again if again is not None else Lost(begun.run.id)
                call = again
            else:
                self.model_refused = None
                response = _response(answered)
                return await self._store.write(advance.respond, desk.now(), desk, begun, call.step_id, response)

    async def _put_off(self, call: CallModel, error: str) -> Instruction:
        stopped = await self._no_response(call, error)
        if isinstance(stopped, Lost):
            return stopped
        now = self._desk.now()
        return await self._store.write(
            advance.put_off, now, self._desk, call.begun, "the assistant's model does not answer just now", error,
            until=now + _PUT_OFF_MS * call.begun.turn.attempts,
        )  # fmt: skip

    async def _no_response(self, call: CallModel, error: str) -> Instruction | None:
        return await self._store.write(
            advance.no_response, self._desk.now(), self._desk, call.begun, call.step_id, error, again=False
        )

    async def _run_calls(self, run: RunCalls) -> Instruction:
        """Make the calls at once; each result is recorded as soon as it is there, a single one with what follows."""
        if len(run.calls) == 1:
            outcome = await _make(run.calls[0])
            return await self._go_on(run, [(run.calls[0].step_id, outcome)])
        made = await asyncio.gather(*(self._make_and_record(call) for call in run.calls))
        return await self._go_on(run, [one for one in made if isinstance(one[1], TimedOut)])

    async def _make_and_record(self, call: ToRun) -> tuple[StepId, CallResult | TimedOut]:
        outcome = await _make(call)
        if isinstance(outcome, CallResult):
            await self._store.write(advance.finished, self._desk.now(), call.step_id, outcome)
        return call.step_id, outcome

    async def _go_on(self, run: RunCalls, made: Sequence[tuple[StepId, CallResult | TimedOut]]) -> Instruction:
        results_in = [(step_id, outcome) for step_id, outcome in made if isinstance(outcome, CallResult)]
        unknown = [step_id for step_id, outcome in made if isinstance(outcome, TimedOut)]
        return await self._store.write(
            advance.all_finished, self._desk.now(), self._desk, run.begun, results_in, unknown
        )


async def _make(call: ToRun) -> CallResult | TimedOut:
    """Make one call. Whatever it raises becomes its result; only running out of time leaves its outcome open (R14)."""
    work = call.tool.call
    if work is None:
        raise RuntimeError(f"{call.tool.name} acts in the store; it is not called from outside")
    try:
        async with asyncio.timeout(call.tool.timeout_ms / 1000):
            return results.ok(await work(call.args))
    except TimeoutError:
        if call.tool.tier == "read_only":
            return results.failed(f"it did not come back within {call.tool.timeout_ms // 1000} seconds")
        return TimedOut()
    except (ToolFailed, BadArguments) as error:
        return results.failed(str(error))
    except Exception as error:
        log.exception("tool.raised", extra={"fields": {"tool": call.tool.name, "step": call.step_id}})
        return results.failed(f"it failed unexpectedly ({type(error).__name__})")


def _response(answered: ModelResponse) -> Response:
    calls = tuple(
        (storable(part.tool_call_id), storable(part.tool_name), cast("str | dict[str, object] | None", part.args))
        for part in answered.parts
        if isinstance(part, ToolCallPart)
    )
    return Response(
        message=window.dump(answered),
        text=window.text_of(answered),
        calls=calls,
        usage=Usage(
            finish_reason=answered.finish_reason or ("tool_call" if calls else "stop"),
            model_reported=answered.model_name,
            provider_response_id=answered.provider_response_id,
            input_tokens=answered.usage.input_tokens,
            output_tokens=answered.usage.output_tokens,
            cached_tokens=answered.usage.cache_read_tokens,
            cost_usd=_cost(answered),
        ),
    )


def _cost(answered: ModelResponse) -> float:
    """What the response cost in US dollars, as reported or by the list of prices; 0 where neither knows."""
    usage = answered.usage
    if usage.cost is not None:
        return float(usage.cost)
    if not answered.model_name or usage.input_tokens + usage.output_tokens == 0:
        return 0.0
    try:
        return float(answered.cost().total_price)
    except (LookupError, ValueError):  # no price for this model, or usage that the provider left out
        return 0.0
