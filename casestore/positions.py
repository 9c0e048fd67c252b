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
