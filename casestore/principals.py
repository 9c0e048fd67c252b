"""Principals and the platform accounts that speak for them (R20)."""

from casestore.errors import BadRequest, MoveRefused, NotFound
from casestore.models import Account, Principal, PrincipalId
from casestore.states import Role
from casestore.tx import Tx


def add(tx: Tx, now: int, *, tenant: str, name: str, role: Role) -> Principal:
    """A new principal. Raises `BadRequest` for an empty or taken name."""
    if not name.strip() or any(character.isspace() for character in name):
        raise BadRequest("A principal's name is one word without spaces.")
    if tx.value("SELECT 1 FROM principals WHERE name = :name", name=name) is not None:
        raise BadRequest(f"There is already a principal named {name}. Choose another name.")
    principal_id = tx.insert(
        """INSERT INTO principals (tenant, name, role, created_at) VALUES (:tenant, :name, :role, :now)
           RETURNING id""",
        tenant=tenant, name=name, role=role, now=now,
    )  # fmt: skip
    return get(tx, PrincipalId(principal_id))


def get(tx: Tx, principal_id: PrincipalId) -> Principal:
    """A principal by id, revoked or not. Raises `NotFound`."""
    found = tx.maybe(Principal, "SELECT * FROM principals WHERE id = :id", id=principal_id)
    if found is None:
        raise NotFound(f"No principal {principal_id}.")
    return found


def by_name(tx: Tx, name: str) -> Principal:
    """A principal by name, exactly, revoked or not. Raises `NotFound`."""
    found = tx.maybe(Principal, "SELECT * FROM principals WHERE name = :name", name=name)
    if found is None:
        raise NotFound(f"No principal named {name}.", listed_by="principal list")
    return found


def by_account(tx: Tx, channel: str, space: str, account_id: str) -> Principal | None:
    """Whose account this is; None for one nobody is bound to. Never looks at a display name (R20)."""
    return tx.maybe(
        Principal,
        """SELECT p.* FROM accounts a JOIN principals p ON p.id = a.principal_id
           WHERE a.channel = :channel AND a.space = :space AND a.account_id = :account_id
             AND a.revoked_at IS NULL AND p.revoked_at IS NULL""",
        channel=channel, space=space, account_id=account_id,
    )  # fmt: skip


def ever_bound(tx: Tx, channel: str, space: str, account_id: str) -> bool:
    """Whether this account has ever spoken for anybody, also for one who was revoked since."""
    found = tx.value(
        "SELECT 1 FROM accounts WHERE channel = :channel AND space = :space AND account_id = :account_id LIMIT 1",
        channel=channel, space=space, account_id=account_id,
    )  # fmt: skip
    return found is not None


def listing(tx: Tx, *, tenant: str | None = None) -> list[Principal]:
    """All principals, of one tenant or of all (None), in order of id."""
    return tx.all(
        Principal,
        "SELECT * FROM principals WHERE :tenant IS NULL OR tenant = :tenant ORDER BY id",
        tenant=tenant,
    )


def accounts_of(tx: Tx, principal_id: PrincipalId) -> list[Account]:
    """The accounts bound to a principal, those revoked included."""
    return tx.all(Account, "SELECT * FROM accounts WHERE principal_id = :id ORDER BY id", id=principal_id)


def bind(
    tx: Tx, now: int, principal_id: PrincipalId, *, channel: str, space: str, account_id: str,
    bound_by: PrincipalId | None,
) -> Account:  # fmt: skip
    """Bind an account to a principal; `space` is empty on a channel that has none.

    Raises `BadRequest` where it already speaks for somebody.
    """
    if not (channel and account_id):
        raise BadRequest("An account is CHANNEL:SPACE/ID, for instance slack:T012/U345.")
    principal = get(tx, principal_id)
    if principal.revoked_at is not None:
        raise MoveRefused(f"{principal.name} has been revoked; add a new principal instead.")
    taken = tx.maybe(
        Principal,
        """SELECT p.* FROM accounts a JOIN principals p ON p.id = a.principal_id
           WHERE a.channel = :channel AND a.space = :space AND a.account_id = :account_id AND a.revoked_at IS NULL""",
        channel=channel, space=space, account_id=account_id,
    )  # fmt: skip
    if taken is not None:
        raise BadRequest(f"{written(channel, space, account_id)} is already bound to {taken.name}.")
    tx.run(
        """INSERT INTO accounts (principal_id, channel, space, account_id, bound_at, bound_by)
           VALUES (:principal_id, :channel, :space, :account_id, :now, :bound_by)""",
        principal_id=principal_id, channel=channel, space=space, account_id=account_id, now=now, bound_by=bound_by,
    )  # fmt: skip
    return accounts_of(tx, principal_id)[-1]


def unbind(
    tx: Tx, now: int, *, tenant: str, channel: str, space: str, account_id: str
) -> Principal:  # fmt: skip
    """An account speaks for nobody from now on; who it spoke for, with their other accounts and answers, is untouched.

    It can be bound again, to anybody. The row stays, with when it was bound, by whom, and when that ended. Raises
    `NotFound` where it speaks for nobody in this tenant.
    """
    who = by_account(tx, channel, space, account_id)
    if who is None or who.tenant != tenant:
        raise NotFound(f"{written(channel, space, account_id)} is bound to nobody.", listed_by="principal list")
    tx.run(
        """UPDATE accounts SET revoked_at = :now
           WHERE channel = :channel AND space = :space AND account_id = :account_id AND revoked_at IS NULL""",
        now=now, channel=channel, space=space, account_id=account_id,
    )  # fmt: skip
    return who


def written(channel: str, space: str, account_id: str) -> str:
    """An account as people write it; on a channel without spaces there is no slash."""
    return f"{channel}:{space}/{account_id}" if space else f"{channel}:{account_id}"


def revoke(tx: Tx, now: int, principal_id: PrincipalId, *, revoked_by: PrincipalId) -> Principal:
    """Take a principal's rights away for good; approvals of theirs that are not spent are refused at spending (R9)."""
    moved = tx.run(
        "UPDATE principals SET revoked_at = :now, revoked_by = :by WHERE id = :id AND revoked_at IS NULL",
        id=principal_id, now=now, by=revoked_by,
    )  # fmt: skip
    if not moved:
        raise MoveRefused(f"{get(tx, principal_id).name} is already revoked.")
    tx.run(
        "UPDATE accounts SET revoked_at = :now WHERE principal_id = :id AND revoked_at IS NULL",
        id=principal_id, now=now,
    )  # fmt: skip
    return get(tx, principal_id)


def actor(principal: Principal) -> str:
    """How a principal is named in the trail: by name and id, since names may be reused in speech, ids not."""
    return f"principal:{principal.name}#{principal.id}"
