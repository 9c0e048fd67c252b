"""Absorbing: what was kept in the spool becomes what it would have been, had the store been there (R15).

Each function is one transaction and may be run again: a process killed after it finds the entry in the file once more.
"""

from collections.abc import Sequence
from datetime import tzinfo

from bot import advance, endings, intake, speech, window
from bot.desk import Desk
from bot.results import CallResult
from bot.spool import Answered, Arrived, Came, Exchange, Fact, Left, Used
from casestore import bindings, leases, messages, model_steps, outbox, prompts, runs, transcript, turns
from casestore.model_steps import ModelCall
from casestore.models import Case, CaseId, Message
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
                if case is not None and not outbox.was_sent(tx, str(entry.address), entry.platform_ids):
                    _answered(tx, entry, desk, case)
                    case_id = case.id
    return case_id


def _answered(tx: Tx, entry: Answered, desk: Desk, case: Case) -> None:
    """A turn that is settled with what was said. Where it cannot be a turn's any more, it is said all the same."""
    now, begun = entry.at, None if turns.under_way(tx, case.id) else turns.begin(tx, entry.at, case.id, desk.worker)
    if begun is None:
        if not entry.platform_ids:  # nobody has heard it, and what it answers is somebody else's by now
            return
        said = speech.say(tx, now, case.id, entry.text, provenance=Provenance.ASSISTANT)
        _was_said(tx, entry, said)
        return
    prompt = desk.prompt
    runs.set_prompt(tx, begun.run.id, prompts.keep(tx, now, text=prompt.text, tools=prompt.tools, label=prompt.label))
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


def _was_said(tx: Tx, entry: Answered, message: Message) -> None:
    rows = [row for row in outbox.of_message(tx, message.id) if row.address == str(entry.address)]
    for row, platform_id in zip(rows, entry.platform_ids, strict=False):
        outbox.sent_already(tx, entry.at, row, platform_id)
    if entry.in_doubt and len(rows) > len(entry.platform_ids):
        outbox.doubt(tx, rows[len(entry.platform_ids)])
