"""`/gate …`: what waits for a decision. Deciding is done on the card, which shows what is decided."""

import re

from bot.commands.answer import Answer, Asked, Verb, Verbs, usage
from bot.errors import Refused
from bot.gates import card, gating
from casestore import cases, gates
from casestore.models import Gate
from casestore.tx import Tx
from channels import arguments
from channels.text import one_line

_MOST = 20


def answer(tx: Tx, now: int, asked: Asked) -> Answer:
    """Do what is asked."""
    verb = VERBS.get(asked.line.verb)
    return Answer(usage("gate", VERBS)) if verb is None else verb.does(tx, now, asked)


def _list(tx: Tx, now: int, asked: Asked) -> Answer:
    found = gates.listing(tx, gating.scope_of(asked.who), only_open=True, most=_MOST + 1)
    lines = [_line(tx, now, gate, asked) for gate in found[:_MOST]]
    if len(found) > _MOST:
        lines.append(f"… and more. All of them: casebound gate list --most {_MOST * 10}")
    return Answer("\n".join(lines) or "Nothing waits for a decision.")


def _show(tx: Tx, now: int, asked: Asked) -> Answer:
    if not re.fullmatch(r"[0-9]{1,18}", asked.line.rest):
        raise Refused("Which gate? Write its number, as /gate list shows it: /gate show 7")
    gate = gates.get(tx, gating.scope_of(asked.who), int(asked.line.rest))
    return Answer("\n".join([_line(tx, now, gate, asked), *_call(tx, now, gate, asked)]))


def _call(tx: Tx, now: int, gate: Gate, asked: Asked) -> list[str]:
    """What exactly would run, for whom and why, as its card says it."""
    shown = card.of_gate(tx, now, gate, asked.zone)
    because = one_line(shown.because.replace("\n", " ")) if shown.because else ""
    return [
        f"Will run: {one_line(shown.tool)} ({shown.tier_note})",
        *([arguments.lines(shown.arguments)] if shown.arguments else []),
        f"Asked by: {one_line(shown.asked_by or 'nobody')}",
        *([f'Because (the assistant\'s words): "{because}"'] if because else []),
    ]


def _line(tx: Tx, now: int, gate: Gate, asked: Asked) -> str:
    where = f"Gate {gate.id} of {cases.by_id(tx, gate.case_id).label}."
    ended = gating.ended_text(tx, now, gate, asked.zone)
    if ended:
        return f"{where} {gate.statement}. {ended}."
    return f"{where} {gating.waiting_text(tx, now, gate, asked.zone)}"


VERBS: Verbs = {"list": Verb(_list, "list"), "show": Verb(_show, "show 7")}
