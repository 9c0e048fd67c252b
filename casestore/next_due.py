"""Which rows of the outbox are next: of each address the first that is not done, once it is due (R27).

Whatever waits for its time is not read. Those that are due are read in the order in which they became so, and not many
of them; where most of those stand behind another of their address, the first of each address is read instead, which
takes longer the more addresses there are, but not the more there is to say at each.
"""

from casestore.models import OutboxId
from casestore.tx import Tx

# Spelled as the partial index on what is pending is, or whatever was ever said is read to find it.
PENDING = "state IN ('due', 'sending')"

_LOOKED_AT = 4
"""So many times what is wanted is read of those that are due."""


def next_due(tx: Tx, now: int, channels: tuple[str, ...], most: int, at: str | None) -> list[OutboxId]:
    """At most `most` of them, those that were put first first; `at` names the one address that is asked for."""
    if at is not None:
        first = tx.tuples(
            f"""SELECT id, channel, state, not_before FROM outbox WHERE address = :at AND {PENDING}
                ORDER BY id LIMIT 1""",
            at=at,
        )  # fmt: skip
        found = [
            row_id for row_id, channel, state, not_before in first
            if channel in channels and state == "due" and int(str(not_before)) <= now
        ]  # fmt: skip
    else:
        found = [row_id for channel in channels for row_id in _of_channel(tx, now, channel, most)]
    return [OutboxId(row_id) for row_id in sorted(int(str(row_id)) for row_id in found)[:most]]


def _of_channel(tx: Tx, now: int, channel: str, most: int) -> list[object]:
    due = tx.tuples(
        f"""SELECT o.id, NOT EXISTS (SELECT 1 FROM outbox p WHERE p.address = o.address AND p.id < o.id AND p.{PENDING})
            FROM outbox o WHERE o.state = 'due' AND o.channel = :channel AND o.not_before <= :now
            ORDER BY o.not_before, o.id LIMIT :looked_at""",
        channel=channel, now=now, looked_at=most * _LOOKED_AT,
    )  # fmt: skip
    first = [row_id for row_id, is_first in due if is_first]
    if len(due) < most * _LOOKED_AT or len(first) >= most:
        return first
    return _first_of_each(tx, now, channel, most)


def _first_of_each(tx: Tx, now: int, channel: str, most: int) -> list[object]:
    """Address by address, however many rows each has."""
    return tx.column(
        f"""WITH RECURSIVE place (address) AS (
                SELECT min(address) FROM outbox WHERE {PENDING}
                UNION ALL
                SELECT (SELECT min(address) FROM outbox WHERE {PENDING} AND address > place.address)
                FROM place WHERE address IS NOT NULL)
            SELECT o.id FROM place JOIN outbox o
                ON o.id = (SELECT min(p.id) FROM outbox p WHERE p.address = place.address AND p.{PENDING})
            WHERE o.state = 'due' AND o.channel = :channel AND o.not_before <= :now
            ORDER BY o.id LIMIT :most""",
        channel=channel, now=now, most=most,
    )  # fmt: skip
