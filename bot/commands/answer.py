"""Who answers a command, and as whom: one sentence or a short list, for the person who typed it alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo

from bot.commands.line import Line
from bot.settings import Settings
from casestore.models import CaseId, Principal
from casestore.tx import Tx


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said back. `moved` is the case that was acted on, so that it is gone on with at once."""

    text: str
    moved: CaseId | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A command with who typed it and under which settings; `platform_id` names it, where it was a message."""

    line: Line
    who: Principal
    settings: Settings
    zone: tzinfo | None
    platform_id: str | None = None


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: what does it, how it is written, and whether it writes."""

    does: Callable[[Tx, int, Asked], Answer]
    usage: str
    writes: bool = False


Verbs = Mapping[str, Verb]


def usage(noun: str, verbs: Verbs) -> str:
    """What there is."""
    return "\n".join(f"/{noun} {verb.usage}" for verb in verbs.values())
