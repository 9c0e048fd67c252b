"""Holds: while one stands, no approval is spent (R9)."""

from casestore.errors import MoveRefused
from casestore.models import Hold, PrincipalId
from casestore.tx import Tx


def place(tx: Tx, now: int, *, tool: str | None, reason: str, by: PrincipalId) -> Hold:
    """Freeze one tool, or everything (None)."""
    hold_id = tx.insert(
        "INSERT INTO holds (tool, reason, placed_by, placed_at) VALUES (:tool, :reason, :by, :now) RETURNING id",
        tool=tool, reason=reason, by=by, now=now,
    )  # fmt: skip
    return tx.all(Hold, "SELECT * FROM holds WHERE id = :id", id=hold_id)[0]


def lift(tx: Tx, now: int, *, tool: str | None, by: PrincipalId) -> int:
    """Lift every hold on one tool, or on everything (None); how many. Raises `MoveRefused` where there is none."""
    lifted = tx.run(
        """UPDATE holds SET lifted_at = :now, lifted_by = :by
           WHERE lifted_at IS NULL AND tool IS NOT DISTINCT FROM :tool""",
        tool=tool, by=by, now=now,
    )  # fmt: skip
    if not lifted:
        raise MoveRefused(f"Nothing is frozen {f'for {tool}' if tool else 'as a whole'}.")
    return lifted


def standing(tx: Tx, tool: str) -> Hold | None:
    """The hold that stops this tool now."""
    return tx.maybe(
        Hold, "SELECT * FROM holds WHERE lifted_at IS NULL AND (tool IS NULL OR tool = :tool) LIMIT 1", tool=tool
    )


def listing(tx: Tx) -> list[Hold]:
    """The holds that stand."""
    return tx.all(Hold, "SELECT * FROM holds WHERE lifted_at IS NULL ORDER BY id")
