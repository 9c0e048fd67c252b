"""One-time codes by which an account is bound to a principal, and how often one was wrong (R20).

A code itself is nowhere in the store, only its digest; the row stays, and is the record of who let which account in.
"""

from casestore.canonical import digest
from casestore.models import Account, LinkCode, Principal, PrincipalId
from casestore.principals import bind, get
from casestore.tx import Tx

VALID_MS = 10 * 60_000
"""How long a code is good for."""
WITHIN_MS = 60 * 60_000
MOST_WRONG = 5
"""How many wrong codes an account may send within `WITHIN_MS`."""

_GOOD = """state = 'open' AND expires_at > :now
    AND NOT EXISTS (SELECT 1 FROM principals p WHERE p.id IN (principal_id, made_by) AND p.revoked_at IS NOT NULL)"""
"""Whoever was revoked since, the one it was made for or the one who made it, lets nobody in."""


def make(tx: Tx, now: int, principal_id: PrincipalId, code: str, *, by: PrincipalId, via: str) -> LinkCode:
    """A code for a principal is good from now on, and the one before it is not. `via`: the surface that shows it."""
    _end_open(tx, now, principal_id)
    made = tx.insert(
        """INSERT INTO link_codes (principal_id, digest, state, made_by, made_via, made_at, expires_at)
           VALUES (:principal_id, :digest, 'open', :by, :via, :now, :until) RETURNING id""",
        principal_id=principal_id, digest=_digest(code), by=by, via=via, now=now, until=now + VALID_MS,
    )  # fmt: skip
    return tx.one(LinkCode, "SELECT * FROM link_codes WHERE id = :id", id=made)


def use(tx: Tx, now: int, code: str, account: tuple[str, str, str], *, at: str) -> tuple[LinkCode, Account] | None:
    """Bind an account (channel, space, id) by a code that was sent from it, at the address `at`.

    None where no such code is good: wrong, used, over and void are all the same. Raises as `principals.bind` does.
    """
    key = _digest(code)
    moved = tx.run(
        f"""UPDATE link_codes SET state = 'used', ended_at = :now, account = :account, used_from = :at
            WHERE digest = :digest AND {_GOOD}""",
        now=now, account="/".join(account), at=at, digest=key,
    )  # fmt: skip
    if not moved:
        return None
    used = tx.one(LinkCode, "SELECT * FROM link_codes WHERE digest = :digest", digest=key)
    channel, space, account_id = account
    bound = bind(
        tx, now, used.principal_id, channel=channel, space=space, account_id=account_id, bound_by=used.made_by
    )  # fmt: skip
    return used, bound


def spoil(tx: Tx, now: int, code: str) -> None:
    """A code that others may have read is good no more. Of one that there is not, nothing is said."""
    tx.run(
        "UPDATE link_codes SET state = 'void', ended_at = :now WHERE digest = :digest AND state = 'open'",
        now=now, digest=_digest(code),
    )  # fmt: skip


def wrong(tx: Tx, now: int, account: tuple[str, str, str]) -> int:
    """Note that an account has sent a wrong code; how many more it may send for now."""
    channel, space, account_id = account
    tx.run("DELETE FROM link_failures WHERE at <= :since", since=now - WITHIN_MS)
    tx.run(
        "INSERT INTO link_failures (channel, space, account_id, at) VALUES (:channel, :space, :account_id, :now)",
        channel=channel, space=space, account_id=account_id, now=now,
    )  # fmt: skip
    return MOST_WRONG - len(_lately(tx, now, account))


def barred_until(tx: Tx, now: int, account: tuple[str, str, str]) -> int | None:
    """When an account that has sent too many wrong codes may send one again, ms UTC; None: it may now."""
    lately = _lately(tx, now, account)
    return lately[-MOST_WRONG] + WITHIN_MS if len(lately) >= MOST_WRONG else None


def listing(tx: Tx, *, tenant: str) -> list[tuple[LinkCode, Principal]]:
    """Every code of a tenant and whom it was for, the newest first."""
    found = tx.all(
        LinkCode,
        """SELECT l.* FROM link_codes l JOIN principals p ON p.id = l.principal_id
           WHERE p.tenant = :tenant ORDER BY l.id DESC""",
        tenant=tenant,
    )  # fmt: skip
    return [(code, get(tx, code.principal_id)) for code in found]


def _end_open(tx: Tx, now: int, principal_id: PrincipalId) -> None:
    tx.run(
        "UPDATE link_codes SET state = 'void', ended_at = :now WHERE principal_id = :id AND state = 'open'",
        now=now, id=principal_id,
    )  # fmt: skip


def _lately(tx: Tx, now: int, account: tuple[str, str, str]) -> list[int]:
    channel, space, account_id = account
    found = tx.column(
        """SELECT at FROM link_failures WHERE channel = :channel AND space = :space AND account_id = :account_id
             AND at > :since ORDER BY at, id""",
        channel=channel, space=space, account_id=account_id, since=now - WITHIN_MS,
    )  # fmt: skip
    return [int(str(at)) for at in found]


def _digest(code: str) -> str:
    return digest("link", code)
