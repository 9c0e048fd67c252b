"""Conducting a run: carry out each instruction outside any transaction, record it, take the next one.

Nothing lives only between two instructions: what a transaction returned can be had again from the store (R13).
"""

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from pydantic_ai.messages import ModelResponse, ModelResponsePart, ToolCallPart
from pydantic_ai.models import Model

from bot import logs
from bot.degraded.spool import Came, Spool, Used
from bot.errors import ModelRefused, ModelUnavailable
from bot.models.hearing import Hears
from bot.models.question import Troubled, ask_for_words, ask_model, parameters, usage_of
from bot.outbound.status_line import StatusLine
from bot.retelling import compaction
from bot.tools import outside
from bot.tools.outside import TimedOut
from bot.tools.results import CallResult, too_deep
from bot.turns import advance, unspent, window
from bot.turns.advance import Response
from bot.turns.desk import Desk
from bot.turns.instruct import CallModel, Compact, Ended, Instruction, Lost, RunCalls, ToRun
from bot.turns.preview import Previews
from casestore.db import Store
from casestore.errors import StoreUnavailable
from casestore.models import CaseId, StepId
from channels.text import storable

log = logging.getLogger("casebound.conduct")

_PUT_OFF_MS = 60_000
_WAITS_AT_MOST_S = 20.0
"""What a run waits between two attempts: less than a lease outlives a step by (R10)."""
_PUT_OFF_AT_MOST_MS = 3_600_000


class Conductor:
    """Works cases for one engine."""

    def __init__(
        self,
        store: Store,
        desk: Desk,
        model: Model,
        spool: Spool,
        *,
        retry_after_s: Sequence[float] = (1.0, 4.0, 15.0),
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
        status: StatusLine | None = None,
        previews: Previews | None = None,
    ) -> None:
        """`retry_after_s`: the pauses between attempts, in seconds; `wait` lets one of them pass."""
        self._store, self._desk, self._model, self._spool = store, desk, model, spool
        self._retry_after_s, self._wait = tuple(retry_after_s), wait
        self._status = status
        self._previews = Previews(0) if previews is None else previews
        self._reader = window.Reader()
        self.model_trouble: str | None = None
        """Why the model refuses us, or did not answer however often, until it answers again; shown by `/readyz`."""

    @property
    def silent_models(self) -> Mapping[str, str]:
        """Why models did not answer when they were last asked, each by its name, while another did."""
        return self._model.silent if isinstance(self._model, Troubled) else {}

    async def work(self, case_id: CaseId) -> Ended | Lost | None:
        """Work a case until nothing is left to do in it, or it waits for somebody; how the last run ended."""
        if not await unspent.may_be_spent(self._store, self._desk, case_id):
            return None
        instruction = await self._store.write(advance.begin, self._desk.now(), self._desk, case_id)
        if self._status is None or not isinstance(instruction, CallModel | Compact | RunCalls):
            return await self._carry_out(instruction)
        with self._status.shown(case_id):
            return await self._carry_out(instruction)

    async def _carry_out(self, instruction: Instruction | None) -> Ended | Lost | None:
        while True:
            match instruction:
                case CallModel():
                    begun = instruction.begun
                    with self._previews.speaking(begun.case.id, begun.lease) as hears:
                        instruction = await self._call_model(instruction, hears)
                case Compact():
                    instruction = await self._compact(instruction)
                case RunCalls():
                    instruction = await self._run_calls(instruction)
                case Ended() | Lost() | None:
                    return instruction

    async def _call_model(self, call: CallModel, hears: Hears | None) -> Instruction:
        """Ask the model; what passes is asked again within the lease, then put off (design, section 5)."""
        desk, begun, failures = self._desk, call.begun, 0
        while True:
            messages = self._reader.messages(call.window, call.offer.prompt.text)
            asked = parameters(call.offer.tools)
            try:
                answered = await ask_model(self._model, messages, asked, desk.settings.model.timeout, hears)
            except ModelRefused as error:
                self._troubled(call, error)
                await self._no_response(call, str(error))
                return await self._store.write(
                    advance.give_up, desk.now(), desk, begun, "the assistant's model refuses to work", str(error)
                )
            except ModelUnavailable as error:
                for_s = None if failures == len(self._retry_after_s) else pause(self._retry_after_s[failures], error)
                if for_s is None:
                    return await self._put_off(call, error)
                await self._wait(for_s)
                failures += 1
                again = await self._store.write(
                    advance.no_response, desk.now(), desk, begun, call.step_id, str(error), again=True
                )
                if not isinstance(again, CallModel):
                    return again if again is not None else Lost(begun.run.id)
                call = again
            else:
                self.model_trouble = self._model.trouble if isinstance(self._model, Troubled) else None
                return await self._record_response(call, _response(answered))

    async def _compact(self, compact: Compact) -> Instruction:
        """Have older turns made shorter; asked once, since the engine can do it too, only worse (R19)."""
        desk = self._desk
        timeout = desk.settings.model.timeout
        try:
            answered = await ask_for_words(self._model, compaction.INSTRUCTIONS, compact.asked, timeout)
        except (ModelRefused, ModelUnavailable) as error:
            return await self._store.write(advance.compacted, desk.now(), desk, compact, None, str(error))
        response = _response(answered)
        try:
            return await self._store.write(advance.compacted, desk.now(), desk, compact, response)
        except StoreUnavailable:
            self._keep_used(compact, response)
            raise

    def _keep_used(self, call: CallModel | Compact, response: Response) -> None:
        """What it used is a fact, however its answer is had in the end (R10, R15)."""
        used = Used(step_id=call.step_id, run_id=call.begun.run.id, usage=response.usage, at=self._desk.now())
        self._spool.keep(used)

    async def _record_response(self, call: CallModel, response: Response) -> Instruction:
        desk, begun = self._desk, call.begun
        try:
            return await self._store.write(advance.respond, desk.now(), desk, begun, call.step_id, response)
        except StoreUnavailable:
            self._keep_used(call, response)
            raise

    async def _put_off(self, call: CallModel, error: ModelUnavailable) -> Instruction:
        self._troubled(call, error)
        stopped = await self._no_response(call, str(error))
        if isinstance(stopped, Lost):
            return stopped
        now, asked = self._desk.now(), min(error.after_ms or 0, _PUT_OFF_AT_MOST_MS)
        return await self._store.write(
            advance.put_off, now, self._desk, call.begun, "the assistant's model does not answer just now", str(error),
            until=now + max(_PUT_OFF_MS * call.begun.turn.attempts, asked),
        )  # fmt: skip

    def _troubled(self, call: CallModel, error: ModelRefused | ModelUnavailable) -> None:
        """Nobody who asked is told what exactly is wrong; whoever runs this is."""
        self.model_trouble = str(error)
        logs.event(log, "model.no_answer", logging.WARNING, case=call.begun.case.label, model=error.who, why=error.why)

    async def _no_response(self, call: CallModel, error: str) -> Instruction | None:
        return await self._store.write(
            advance.no_response, self._desk.now(), self._desk, call.begun, call.step_id, error, again=False
        )

    async def _run_calls(self, run: RunCalls) -> Instruction:
        """Make the calls at once; each result is recorded as soon as it is there, a single one with what follows."""
        if len(run.calls) == 1:
            outcome = await outside.make(run.calls[0].tool, run.calls[0].args)
            return await self._go_on(run, [(run.calls[0].step_id, outcome)])
        made = await asyncio.gather(*(self._make_and_record(call) for call in run.calls))
        return await self._go_on(run, [one for one in made if isinstance(one[1], TimedOut)])

    async def _make_and_record(self, call: ToRun) -> tuple[StepId, CallResult | TimedOut]:
        outcome = await outside.make(call.tool, call.args)
        if isinstance(outcome, CallResult):
            try:
                await self._store.write(advance.finished, self._desk.now(), call.step_id, outcome)
            except StoreUnavailable:
                self._keep(call.step_id, outcome)
                raise
        return call.step_id, outcome

    def _keep(self, step_id: StepId, outcome: CallResult) -> None:
        """It happened, and how it ended is known: nobody has to be asked once the store is back (R14, R15)."""
        self._spool.keep(Came(step_id=step_id, result=outcome.stored(), at=self._desk.now()))

    async def _go_on(self, run: RunCalls, made: Sequence[tuple[StepId, CallResult | TimedOut]]) -> Instruction:
        results_in = [(step_id, outcome) for step_id, outcome in made if isinstance(outcome, CallResult)]
        unknown = [step_id for step_id, outcome in made if isinstance(outcome, TimedOut)]
        try:
            return await self._store.write(
                advance.all_finished, self._desk.now(), self._desk, run.begun, results_in, unknown
            )
        except StoreUnavailable:
            for step_id, outcome in results_in:
                self._keep(step_id, outcome)
            raise


def pause(own_s: float, error: ModelUnavailable) -> float | None:
    """How long to wait, in seconds, before asking again: with jitter, and never less than the provider asks for.

    None where that is longer than a run may wait: then the turn is put off, and the case is free meanwhile.
    """
    asked_s = (error.after_ms or 0) / 1000
    if asked_s > _WAITS_AT_MOST_S:
        return None
    return max(own_s * random.uniform(0.8, 1.2), asked_s)


def _response(answered: ModelResponse) -> Response:
    answered = replace(answered, parts=[_readable(part) for part in answered.parts])
    calls = tuple(
        (storable(part.tool_call_id), storable(part.tool_name), cast("str | dict[str, object] | None", part.args))
        for part in answered.parts
        if isinstance(part, ToolCallPart)
    )
    return Response(
        message=window.dump(answered),
        text=window.text_of(answered),
        calls=calls,
        usage=usage_of(answered),
    )


def _readable(part: ModelResponsePart) -> ModelResponsePart:
    """A part that can be read again once it is stored: arguments nested too deeply for that are kept as text (R13)."""
    if not isinstance(part, ToolCallPart) or not too_deep(part.args):
        return part
    try:
        return replace(part, args=json.dumps(part.args))
    except RecursionError:
        return replace(part, args="(nested too deeply to be kept)")
