"""Absorbing: what was kept in the spool becomes what it would have been, had the store been there (R15).

Each function is one transaction and may be run again: a process killed after it finds the entry in the file once more.
"""

from collections.abc import Sequence
from datetime import tzinfo

from bot.degraded import look_only
from bot.degraded.spool import Answered, Arrived, Came, Exchange, Fact, Left, Used
from bot.inbound import intake
from bot.outbound import speech
from bot.tools.results import CallResult
from bot.turns import advance, endings, window
from bot.turns.desk import Desk
from casestore import bindings, leases, messages, model_steps, outbox, transcript, turns
from casestore.model_steps import ModelCall
from casestore.models import Case, CaseId, Message, MessageId
from casestore.states import LeaseKind, Provenance
from casestore.tx import Tx

FROM_MEMORY = "answered while the store could not be written"


def fact(tx: Tx, entry: Fact) -> None:
    """What happened is accepted by its own id, while it is not there yet (R10)."""
    match entry:
        case Came(step_id=step_id, result=result, at=at):
            advance.finished(tx, at, step_id, CallResult.load(result))
        case Used(step_id=step_id, run_id=run_id, usage=usage, at=at):
            model_steps.finish(tx, at, step_id, run_id, usage, None)
        case Left(case_id=case_id, boot=boot):
            lease = leases.of_case(tx, case_id)
            if lease.kind is LeaseKind.RUN and lease.boot == boot:
                leases.free(tx, case_id)


def thread(tx: Tx, entries: Sequence[Exchange], desk: Desk, zone: tzinfo | None) -> CaseId | None:
    """One thread, in order and as a whole: nobody works its case between a message and the answer it has had."""
    case_id: CaseId | None = None
    for entry in entries:
        match entry:
            case Arrived(inbound=inbound, at=at):
                stored = intake.receive(tx, at, inbound, desk.settings, zone)
                case_id = stored.case_id if isinstance(stored, intake.Received) else case_id
            case Answered():
                case = bindings.case_at(tx, str(entry.address))
                if case is not None and not outbox.was_sent(tx, case.id, str(entry.address), entry.platform_ids):
                    _answered(tx, entry, desk, case)
                    case_id = case.id
    return case_id


def _answered(tx: Tx, entry: Answered, desk: Desk, case: Case) -> None:
    """A turn that is settled with what was said. Where it cannot be a turn's any more, it is said all the same."""
    now, covered = entry.at, _covered(tx, entry, case)
    begun = turns.begin(tx, now, case.id, desk.worker, covered) if covered and _free(tx, case, covered) else None
    if begun is None:
        if not entry.platform_ids:  # nobody has heard it, and what it answers is somebody else's by now
            return
        said = speech.say(tx, now, case.id, entry.text, provenance=Provenance.ASSISTANT)
        _was_said(tx, entry, said)
        return
    prompt = look_only.offered(desk).prompt
    advance.keep_prompt(tx, now, begun, prompt)
    limits = desk.settings.limits
    window.compose(tx, case.id, begun.turn.id, result_characters=limits.result_characters)
    seen = window.look(tx, case.id, begun.turn.id, turns=limits.window_turns, prompt_version=prompt.version)
    call = ModelCall(seen.named, seen.digest, now)
    step_id = model_steps.start(tx, now, begun.lease, begun.run, call)
    seq = transcript.append(
        tx, case.id, begun.turn.id, kind="response", message=entry.message, step_id=step_id,
        tokens=entry.usage.output_tokens,
    )  # fmt: skip
    model_steps.finish(tx, now, step_id, begun.run.id, entry.usage, seq)
    endings.answer(tx, now, begun, entry.text, stop_reason=FROM_MEMORY)
    leases.drop(tx, begun.lease)
    said = messages.newest_out(tx, case.id)
    if said is not None:
        _was_said(tx, entry, said)


def _covered(tx: Tx, entry: Answered, case: Case) -> set[MessageId]:
    """The messages that wait for an answer and were in view when this one was made: no other is answered by it."""
    turn = turns.unsettled(tx, case.id)
    waiting = [*messages.unread(tx, case.id), *([] if turn is None else messages.of_turn(tx, turn.id))]
    last = None if entry.answers is None else messages.seen(tx, str(entry.address), entry.answers)
    upto = 0 if last is None or last.case_id != case.id else last.seq
    seen = entry.seen if case.id == entry.case_id else 0
    return {
        message.id for message in waiting
        if message.seq <= seen or (message.address == str(entry.address) and message.seq <= upto)
    }  # fmt: skip


def _free(tx: Tx, case: Case, covered: set[MessageId]) -> bool:
    """Whether the turn that is owed is one that this answer saw, and stands at its beginning."""
    turn = turns.unsettled(tx, case.id)
    seen = turn is None or all(message.id in covered for message in messages.of_turn(tx, turn.id))
    return seen and not turns.under_way(tx, case.id)


def _was_said(tx: Tx, entry: Answered, message: Message) -> None:
    rows = [row for row in outbox.of_message(tx, message) if row.address == str(entry.address)]
    for row, platform_id in zip(rows, entry.platform_ids, strict=False):
        outbox.sent_already(tx, entry.at, row, platform_id)
    if entry.in_doubt and len(rows) > len(entry.platform_ids):
        outbox.doubt(tx, rows[len(entry.platform_ids)])
