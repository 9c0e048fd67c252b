"""How far each address has been read, for catching up after downtime.

A position moves only at the end of a catch-up, over what that has stored. What arrives live does not move it: a message
that was missed before it would be passed by (R29). Reading some again is harmless, a message is known by its id.
"""

from casestore.tx import Tx


def of(tx: Tx, address: str) -> str | None:
    """The platform's id of the last message that was caught up on; None where none was."""
    found = tx.value("SELECT last_seen FROM positions WHERE address = :address", address=address)
    return None if found is None else str(found)


def begin(tx: Tx, address: str, last_seen: str) -> None:
    """From here on it is to be caught up on; where it is already, nothing changes."""
    tx.run(
        "INSERT INTO positions (address, last_seen) VALUES (:address, :last_seen) ON CONFLICT (address) DO NOTHING",
        address=address, last_seen=last_seen,
    )  # fmt: skip


def on(tx: Tx, channel: str) -> list[str]:
    """Every address of a channel that has one."""
    found = tx.column(
        "SELECT address FROM positions WHERE substr(address, 1, :n) = :start ORDER BY address",
        start=f"{channel}:", n=len(channel) + 1,
    )  # fmt: skip
    return [str(address) for address in found]


def move(tx: Tx, address: str, last_seen: str) -> None:
    """All up to here is stored."""
    tx.run(
        """INSERT INTO positions (address, last_seen) VALUES (:address, :last_seen)
           ON CONFLICT (address) DO UPDATE SET last_seen = :last_seen""",
        address=address, last_seen=last_seen,
    )  # fmt: skip


def listen(tx: Tx, channel: str, now: int) -> None:
    """The first start of a channel: what was said before is of no concern. Later ones change nothing."""
    begin(tx, channel, str(now))


def heard_until(tx: Tx, channel: str) -> int | None:
    """Until when (ms UTC) everything that was said on a channel has been heard; None before its first start.

    Kept under the channel's name, which is no address: for conversations of which nobody has heard yet.
    """
    return None if (found := of(tx, channel)) is None else int(found)


def hear(tx: Tx, channel: str, until: int) -> None:
    """All that was said on a channel up to then (ms UTC) is heard; it never moves back (R29)."""
    tx.run(
        """UPDATE positions SET last_seen = :until
           WHERE address = :channel AND CAST(last_seen AS INTEGER) < :until_ms""",
        channel=channel, until=str(until), until_ms=until,
    )  # fmt: skip
