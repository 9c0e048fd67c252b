"""Which table is kept, reduced or purged, and by which clock (R25). A test fails for a table that is not listed."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Keeping:
    """What becomes of a table's rows. `clock` is what starts the time after which it happens."""

    how: Literal["kept", "reduced", "purged"]
    clock: Literal["never", "last activity of the case", "close of the case", "sent or dead", "revocation", "an hour"]
    why: str


TABLES: dict[str, Keeping] = {
    "principals": Keeping("kept", "never", "the trail refers to them"),
    "accounts": Keeping("purged", "revocation", "a platform id is personal once it speaks for nobody"),
    "link_codes": Keeping("reduced", "revocation", "the account and the place go; who let whom in, and when, stays"),
    "link_failures": Keeping("purged", "an hour", "only for counting wrong codes"),
    "cases": Keeping("kept", "never", "the record"),
    "bindings": Keeping("kept", "never", "the record: where a case was spoken of"),
    "positions": Keeping("purged", "close of the case", "only for catching up in live threads"),
    "messages": Keeping("reduced", "close of the case", "the text goes where record = paraphrase; who and when stays"),
    "files": Keeping("reduced", "last activity of the case", "the name goes; that there was a file of a size stays"),
    "copies": Keeping("purged", "last activity of the case", "working material, and the largest there is"),
    "turns": Keeping("kept", "never", "the record: what was owed and when it was settled"),
    "runs": Keeping("kept", "never", "the record of R16 is all structured"),
    "steps": Keeping("reduced", "last activity of the case", "arguments and results go, tool, times and outcome stay"),
    "transcript": Keeping("purged", "last activity of the case", "working material"),
    "compactions": Keeping("purged", "last activity of the case", "working material"),
    "paraphrases": Keeping("purged", "last activity of the case", "working material; the newest stands in the case"),
    "prompts": Keeping("kept", "never", "what the assistant was told; holds nobody's text"),
    "gates": Keeping("kept", "never", "what was asked and who answered"),
    "gate_roles": Keeping("kept", "never", "who might have answered"),
    "cards": Keeping("purged", "close of the case", "only for editing copies"),
    "leases": Keeping("kept", "never", "the fence must not fall"),
    "trail": Keeping("kept", "never", "the authority; its content can be erased"),
    "outbox": Keeping("purged", "sent or dead", "what was said is in messages"),
    "ledger": Keeping("kept", "never", "stays with finance"),
    "episodes": Keeping("kept", "never", "the record of an alert"),
    "holds": Keeping("kept", "never", "who froze what, and when"),
}
