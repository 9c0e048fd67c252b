"""`casebound run …`: the record of each run, with every call it made (R16)."""

from collections.abc import Iterator
from datetime import tzinfo
from typing import Annotated

import typer

from bot.cli import events, who
from bot.cli.arguments import BY_DEFAULT, As, Json, Most, RunNumber, case_number
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import block, document, say, short, table
from bot.gates import gating, gist
from bot.words.present import run_json
from bot.words.when import at_text, span_text
from casestore import cases, runs, steps
from casestore.canonical import encode
from casestore.models import Case, Run, Step
from casestore.tx import Tx

app = group("run", "Runs: who worked a case when, with which model, and how it ended.")

_LABEL = 12
_STOPPED = 60
_RETELLING = {"compacts": ", older turns made shorter", "paraphrases": ", the case paraphrased"}
"""What a model call was for that is no part of the conversation, by what its request names."""


@command(app, "list")
def list_(
    here: Here,
    case: Annotated[
        int | None, typer.Option("--case", metavar="CASE", parser=case_number, help="Only of this case.")
    ] = None,
    most: Most = 100,
    as_: As = BY_DEFAULT,
    json: Json = False,
) -> None:
    """Runs, the newest first."""
    found = here.read(_listed, as_, case, most)
    if json:
        document({"runs": [run_json(run, case=of) for run, of in found]})
        return
    if not found:
        say("There are no runs.")
        return
    now, zone = here.now, here.zone
    table(
        ("RUN", "CASE", "STARTED", "TOOK", "MODEL", "OUTCOME", "STOPPED"),
        [
            (str(run.id), of.label, at_text(run.started_at, zone, now), _took(run), run.model_reported or run.model,
             _outcome(run), short(run.stop_reason or "", _STOPPED))
            for run, of in found
        ],
    )  # fmt: skip


@command(app, "show")
def show(here: Here, number: RunNumber, as_: As = BY_DEFAULT, json: Json = False) -> None:
    """One run's record: model, prompt, every call with its result, what it used, how it ended."""
    run, case, made = here.read(_shown, as_, number)
    if json:
        document(run_json(run, made, case=case))
        return
    for line in _lines(run, case, made, here.now, here.zone):
        say(line)


def _lines(run: Run, case: Case, made: list[Step], now: int, zone: tzinfo | None) -> Iterator[str]:
    resumes = f", after run {run.resumes}" if run.resumes is not None else ""
    yield f"Run {run.id} of {case.label}, turn {run.turn_id}, attempt {run.attempt}{resumes}"
    yield from _row("Ended", f"{_outcome(run)}: {run.stop_reason or 'it is still at work'}")
    if run.error:
        yield from _row("Error", run.error)
    yield from _row("Started", f"{at_text(run.started_at, zone, now)}, took {_took(run)}")
    yield from _row("Model", f"{run.model}, reported as {run.model_reported or '(nothing)'}")
    yield from _row("Agent", f"{run.agent}, prompt {run.prompt_version or '(none)'}, tenant {run.tenant}")
    used = f"{run.input_tokens} tokens in, {run.output_tokens} out, {run.cached_tokens} cached; {run.cost_usd:.4f} USD"
    yield from _row("Used", f"{_many(run.model_calls, 'model call')}, {_many(run.tool_calls, 'tool call')}; {used}")
    yield from _row("Task state", encode(run.task_state or {}))
    yield ""
    for step in made:
        yield from block(_step(step), first=f"{step.seq:>3}  ", indent=" " * 5)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _step(step: Step) -> str:
    took = ""
    if step.started_at is not None and step.finished_at is not None:
        took = f" ({span_text(step.finished_at - step.started_at)})"
    if step.tool is None:
        response = step.provider_response_id or "(none)"
        ended = f"{step.finish_reason or step.state}, response {response}{f', {step.error}' if step.error else ''}"
        what = next((what for asked, what in _RETELLING.items() if asked in (step.request or {})), "")
        return f"model {step.model_reported or ''}: {ended}{what}{took}"
    gate = f", gate {step.gate_id}" if step.gate_id is not None else ""
    return f"{events.call(step)} [{step.state}{gate}] → {short(gist.of_step(step), 300)}{took}"


def _row(label: str, text: str) -> list[str]:
    return block(text, first=label.ljust(_LABEL), indent=" " * _LABEL)


def _took(run: Run) -> str:
    return "…" if run.ended_at is None else span_text(run.ended_at - run.started_at)


def _outcome(run: Run) -> str:
    return "running" if run.outcome is None else run.outcome.replace("_", " ")


def _listed(tx: Tx, as_: str, number: int | None, most: int) -> list[tuple[Run, Case]]:
    scope = gating.scope_of(who.acting(tx, as_))
    case_id = None if number is None else cases.get(tx, scope, number).id
    return [
        (run, cases.by_id(tx, run.case_id)) for run in runs.listing(tx, scope, case_id=case_id, most=most)
    ]  # fmt: skip


def _shown(tx: Tx, as_: str, number: int) -> tuple[Run, Case, list[Step]]:
    scope = gating.scope_of(who.acting(tx, as_))
    run = runs.get(tx, scope, number)
    return run, cases.by_id(tx, run.case_id), steps.of_run(tx, scope, run.id)
