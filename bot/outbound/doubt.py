"""What nobody knows to be said, and when its platform is to be asked about it (R27)."""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.outbound.silence import Silence
from casestore.models import OutboxRow


@dataclass(slots=True)
class Doubt:
    """A row of which nobody knows whether it was said, and when (ms UTC) to ask again; None while that is done."""

    row: OutboxRow
    why: str
    at: int | None
    asked: int = 0


def due(doubts: Iterable[Doubt], silence: Silence, now: int) -> list[Doubt]:
    """Those to be asked about now, which from here on are; of a channel that refuses our token only one."""
    found: list[Doubt] = []
    for doubt in doubts:
        name = doubt.row.channel
        if doubt.at is None or doubt.at > now or not silence.over(name, now):
            continue
        if name in silence.why:
            silence.attempt(name, now)
        doubt.at = None
        found.append(doubt)
    return found
