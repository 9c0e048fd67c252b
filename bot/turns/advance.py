"""The transactions of a run. Each records what happened and says, from what is stored, what to do next (R13).

A run alternates between an instruction carried out outside any transaction and one of these functions: so there is
one durable point per step, and a process killed anywhere is continued by `begin` of the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.gates import gating
from bot.outbound import speech, wanting
from bot.retelling import compaction
from bot.tools.results import CallResult, ResultKind
from bot.turns import beside, calls, endings, journal, window
from bot.turns.desk import Desk, Prompt
from bot.turns.instruct import CallModel, Compact, Ended, Instruction, Lost, RunCalls
from bot.turns.window import Window
from casestore import cases, gates, leases, model_steps, prompts, recovery, runs, steps, transcript, turns
from casestore.model_steps import ModelCall, Usage
from casestore.models import CaseId, Step, StepId
from casestore.states import GateKind, GateState, Outcome, Verb, WaitingOn
from casestore.turns import Begun
from casestore.tx import Tx

CONTINUE_NOTE = "system: your answer was cut off; go on exactly where it stopped"
EMPTY_NOTE = "system: your answer was empty; answer now, or hand the case to an operator"


@dataclass(frozen=True, slots=True)
class Response:
    """What a model answered, ready to be stored: the message as JSON, its text, its calls, what it used."""

    message: str
    text: str
    calls: tuple[tuple[str, str, str | dict[str, object] | None], ...]
    usage: Usage


def begin(tx: Tx, now: int, desk: Desk, case_id: CaseId) -> Instruction | None:
    """Take the lease, start or go on with a turn; None where there is nothing to do or somebody has the case."""
    begun = turns.begin(tx, now, case_id, desk.worker)
    return None if begun is None else _first(tx, now, desk, begun)


def respond(tx: Tx, now: int, desk: Desk, begun: Begun, step_id: StepId, response: Response) -> Instruction:
    """Record a response and its calls, and go on. What it used is a fact even where the lease is lost (R10)."""
    if not leases.holds(tx, now, begun.lease):
        model_steps.finish(tx, now, step_id, begun.run.id, response.usage, None)
        return _lost(tx, now, begun)
    seq = transcript.append(
        tx, begun.case.id, begun.turn.id, kind="response", message=response.message, step_id=step_id,
        # what it thought is counted too, and is not sent again: no message has more tokens than characters
        tokens=min(response.usage.output_tokens, len(response.message)),
    )  # fmt: skip
    last = model_steps.finish(tx, now, step_id, begun.run.id, response.usage, seq)
    born = steps.bear(tx, begun.run, step_id, journal.of_response(desk, response.calls))
    if last is None or last.response_seq is None:  # it came twice, or had been given up: what is stored counts
        return advance(tx, now, desk, begun)
    return _work(tx, now, desk, begun, last, born, response.text)


def no_response(
    tx: Tx, now: int, desk: Desk, begun: Begun, step_id: StepId, error: str, *, again: bool
) -> Instruction | None:  # fmt: skip
    """Record that a model call gave nothing. `again`: journal the same request once more; otherwise None."""
    model_steps.fail(tx, now, step_id, error)
    if not leases.holds(tx, now, begun.lease):
        return _lost(tx, now, begun)
    if again:
        return _call_model(tx, now, desk, begun)
    return None


def compacted(
    tx: Tx, now: int, desk: Desk, compact: Compact, response: Response | None, error: str | None = None
) -> Instruction:  # fmt: skip
    """Record what stands for the older turns from now on, and go on; without a response it is the engine's text."""
    begun, stands = compact.begun, leases.holds(tx, now, compact.begun.lease)
    if response is None:
        model_steps.fail(tx, now, compact.step_id, error or "no answer")
    else:
        model_steps.finish(tx, now, compact.step_id, begun.run.id, response.usage, None, retelling=stands)
    if not stands:
        return _lost(tx, now, begun)
    words = "" if response is None or response.calls else response.text
    compaction.keep(tx, now, desk.settings.limits, compact.piece, words=words, step_id=compact.step_id)
    return _call_model(tx, now, desk, begun)


def finished(tx: Tx, now: int, step_id: StepId, result: CallResult) -> None:
    """Record how one of several calls ended, as soon as it has: a fact, whoever holds the case by now."""
    step = steps.finish_tool(tx, now, step_id, ok=result.kind is ResultKind.OK, result=result.stored())
    if step is not None:
        turns.came_back(tx, step)
        _no_longer_asked(tx, now, step_id)


def _no_longer_asked(tx: Tx, now: int, step_id: StepId) -> None:
    """A result that came late: nobody has to say any more whether it happened, and nobody may have it run again."""
    gate = gates.of_step(tx, step_id, GateKind.OUTCOME)
    if gate is None:
        return
    if gate.state is GateState.OPEN:
        gates.withdraw(tx, now, gate, by="engine", reason="its result has come after all")
    elif gate.state is GateState.APPROVED and gate.verb is Verb.RERUN:
        gates.void(tx, now, gate, by="engine", reason="its result has come after all")


def all_finished(
    tx: Tx, now: int, desk: Desk, begun: Begun, last: Sequence[tuple[StepId, CallResult]], unknown: Sequence[StepId]
) -> Instruction:  # fmt: skip
    """Record the last results (and calls that ran out of time without saying so), and go on if the lease stands."""
    for step_id, result in last:
        finished(tx, now, step_id, result)
    for step_id in unknown:
        recovery.mark_unknown(tx, now, steps.by_id(tx, step_id))
    if not leases.holds(tx, now, begun.lease):
        return _lost(tx, now, begun)
    return advance(tx, now, desk, begun)


def give_up(tx: Tx, now: int, desk: Desk, begun: Begun, why: str, error: str) -> Instruction:
    """Hand the case to an operator after a failure that does not pass."""
    if not leases.holds(tx, now, begun.lease):
        return _lost(tx, now, begun)
    return _next(tx, now, desk, begun, endings.hand_off(tx, now, desk, begun, why, outcome=Outcome.ERROR, error=error))


def put_off(tx: Tx, now: int, desk: Desk, begun: Begun, why: str, error: str, *, until: int) -> Instruction:
    """Leave the turn to be gone on with later; the person is told once, an operator gets it after the last attempt."""
    if not leases.holds(tx, now, begun.lease):
        return _lost(tx, now, begun)
    if begun.turn.attempts >= desk.settings.limits.attempts:
        return _next(
            tx, now, desk, begun, endings.hand_off(tx, now, desk, begun, why, outcome=Outcome.ERROR, error=error)
        )
    if not runs.ended_so(tx, begun.turn.id, Outcome.ERROR, why):  # said once, however often it is tried
        told = f"{why[0].upper()}{why[1:]}. Your message is stored; I try again by myself."
        case_id, zone = begun.case.id, desk.settings.service.zone
        speech.say(tx, now, case_id, gating.with_what_waits(tx, now, case_id, zone, told))
    return _next(tx, now, desk, begun, endings.put_off(tx, now, begun, why, until=until, error=error))


def advance(tx: Tx, now: int, desk: Desk, begun: Begun) -> Instruction:
    """What the stored state of the turn asks for now."""
    last = model_steps.last_response(tx, begun.turn.id)
    if last is None or last.response_seq is None:
        return _call_model(tx, now, desk, begun)
    return _work(tx, now, desk, begun, last, steps.of_response(tx, last.id), _text_of(tx, last))


def _work(
    tx: Tx, now: int, desk: Desk, begun: Begun, last: Step, born: Sequence[Step], words: str
) -> Instruction:  # fmt: skip
    """What the last response of a turn asks for: `born` are its calls, `words` its text."""
    if not born:
        return _final(tx, now, desk, begun, last, words)
    if last.finish_reason == "content_filter":  # what it was about to do is not done either
        endings.close_calls(tx, now, begun.turn.id, "the model refused")
        return _final(tx, now, desk, begun, last, words)
    if all(step.result is not None for step in born):
        return _all_have_results(tx, now, desk, begun, born, words)
    worked = calls.work(tx, now, desk, begun, born, because=words)
    if worked.to_run:
        return RunCalls(begun, worked.to_run)
    if worked.too_many:
        why = "too many tool calls in one run"
        return _next(tx, now, desk, begun, endings.at_limit(tx, now, desk, begun, why, "tool_calls"))
    if worked.ask is not None:
        return _next(tx, now, desk, begun, endings.park(tx, now, begun, worked.ask))
    return _all_have_results(tx, now, desk, begun, steps.of_response(tx, last.id), words)


def _all_have_results(
    tx: Tx, now: int, desk: Desk, begun: Begun, born: Sequence[Step], words: str
) -> Instruction:  # fmt: skip
    if (why := endings.handed_off(tx, born)) is not None:
        return _next(tx, now, desk, begun, endings.hand_off(tx, now, desk, begun, why))
    if endings.asked_requester(born):
        waiting = WaitingOn.REQUESTER
        return _next(
            tx,
            now,
            desk,
            begun,
            endings.answer(tx, now, begun, words, stop_reason="asked the requester", waiting_on=waiting),
        )
    if steps.failures_in_a_row(tx, begun.turn.id) >= desk.settings.limits.invalid_in_a_row:
        why = "the assistant kept calling tools in ways that do not work"
        return _next(tx, now, desk, begun, endings.hand_off(tx, now, desk, begun, why))
    return _call_model(tx, now, desk, begun)


def _final(tx: Tx, now: int, desk: Desk, begun: Begun, last: Step, words: str) -> Instruction:
    """A response without calls ends the turn, unless it was cut off or empty for the first time."""
    if last.finish_reason == "content_filter":
        sentence = f"I cannot help with this here. An operator can: {begun.case.label} stays open."
        return _next(
            tx,
            now,
            desk,
            begun,
            endings.answer(tx, now, begun, sentence, outcome=Outcome.REFUSED, stop_reason="refused by the model"),
        )
    before = model_steps.words_before(tx, last)
    cut_before = before is not None and before.finish_reason == "length"
    if last.finish_reason == "length" and not cut_before:
        return _call_model(tx, now, desk, begun, note=CONTINUE_NOTE)
    whole = _text_of(tx, before) + words if before is not None and cut_before else words
    if not whole.strip():
        if before is not None:  # it was asked once more already
            return _next(tx, now, desk, begun, endings.hand_off(tx, now, desk, begun, "the assistant had no answer"))
        return _call_model(tx, now, desk, begun, note=EMPTY_NOTE)
    cut = last.finish_reason == "length"
    reply = f"{whole}\n[cut off: the answer was too long]" if cut else whole
    return _next(
        tx, now, desk, begun, endings.answer(tx, now, begun, reply, stop_reason="cut off" if cut else "answered")
    )


def _first(tx: Tx, now: int, desk: Desk, begun: Begun) -> Instruction:
    if endings.too_many_attempts(tx, desk, begun):
        why = f"it was attempted {begun.turn.attempts - 1} times without an answer"
        return _next(tx, now, desk, begun, endings.hand_off(tx, now, desk, begun, why, outcome=Outcome.ERROR))
    if begun.turn.attempts == 1 and begun.earlier is not None:
        endings.fold(tx, now, turns.by_id(tx, begun.earlier))
        endings.close_calls(tx, now, begun.earlier, "the case was taken on before it came back", in_flight=True)
    keep_prompt(tx, now, begun, desk.offer(tx, begun.turn).prompt)
    return advance(tx, now, desk, begun)


def keep_prompt(tx: Tx, now: int, begun: Begun, prompt: Prompt) -> None:
    """Store the prompt a run works under, and name it in the run's record."""
    version = prompts.keep(tx, now, text=prompt.text, tools=prompt.tools, label=prompt.label)
    runs.set_prompt(tx, begun.run.id, version)


def _call_model(tx: Tx, now: int, desk: Desk, begun: Begun, note: str | None = None) -> Instruction:
    limits, run = desk.settings.limits, runs.by_id(tx, begun.run.id)
    for reached, limit, what in (
        (run.model_calls >= limits.model_calls, "model_calls", "too many model calls in one run"),
        (run.input_tokens + run.output_tokens >= limits.tokens, "tokens", "too many tokens in one run"),
        (run.cost_usd >= limits.cost_usd, "cost_usd", "the run cost more than it may"),
        (now - run.started_at >= limits.wall, "wall", "the run took longer than it may"),
    ):
        if reached:
            return _next(tx, now, desk, begun, endings.at_limit(tx, now, desk, begun, what, limit))
    offer = desk.offer(tx, begun.turn)
    prompt = offer.prompt
    if prompt.version != run.prompt_version:  # the case has been bound elsewhere since the run began
        keep_prompt(tx, now, begun, prompt)
    if begun.turn.beside is None:  # only now: one that parks again without asking leaves what is beside it to go on
        endings.fold(tx, now, begun.turn)
    window.compose(
        tx, begun.case.id, begun.turn.id, result_characters=limits.result_characters, note=note,
        room=compaction.room(limits, prompt),
    )  # fmt: skip
    seen = _look(tx, now, desk, begun, prompt)
    if (piece := compaction.due(tx, seen, limits, prompt)) is not None:
        if desk.writes:
            step_id, asked = compaction.start(tx, now, desk, begun, piece)
            return Compact(begun, step_id, asked, piece)
        compaction.keep(tx, now, limits, piece)
        seen = _look(tx, now, desk, begun, prompt)
    if compaction.size(seen, prompt) > limits.window_tokens:
        why = "what it has to be shown is more than a request may hold"
        return _next(tx, now, desk, begun, endings.at_limit(tx, now, desk, begun, why, "window_tokens"))
    deadline = now + desk.settings.model.timeout
    step_id = model_steps.start(tx, now, begun.lease, run, ModelCall(seen.named, seen.digest, deadline))
    return CallModel(begun, step_id, seen, offer)


def _look(tx: Tx, now: int, desk: Desk, begun: Begun, prompt: Prompt) -> Window:
    return window.look(
        tx, begun.case.id, begun.turn.beside or begun.turn.id, turns=desk.settings.limits.window_turns,
        prompt_version=prompt.version, waiting=beside.waiting(tx, now, desk, begun),
    )  # fmt: skip


def _next(tx: Tx, now: int, desk: Desk, begun: Begun, ended: Ended) -> Instruction:
    """The run has ended: the same holder goes on with what arrived meanwhile, or drops the lease (R11)."""
    if ended.handed_over is not None:
        wanting.tell(tx, now, begun.case.id, ended.handed_over, desk.settings.approval_rooms())
    if ended.more:
        case = cases.by_id(tx, begun.case.id)
        if (following := turns.begin_under(tx, now, begun.lease, case, desk.worker)) is not None:
            return _first(tx, now, desk, following)
    leases.drop(tx, begun.lease)
    return ended


def _lost(tx: Tx, now: int, begun: Begun) -> Lost:
    runs.end(tx, now, begun.run.id, Outcome.LEASE_LOST, stop_reason="the lease was lost")
    return Lost(begun.run.id)


def _text_of(tx: Tx, step: Step) -> str:
    row = transcript.between(tx, step.case_id, step.response_seq or 0, step.response_seq)[0]
    return window.text_of(window.load_response(row))
