"""`casebound principal …`: who is known here, by which accounts, and with what rights (R20)."""

import re
from dataclasses import dataclass
from typing import Annotated

import typer

from bot.cli import who
from bot.cli.arguments import BY_DEFAULT, As, Json
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import document, say, table
from bot.errors import Refused
from bot.words.present import principal_json
from bot.words.when import at_text
from casestore import principals
from casestore.errors import NotFound
from casestore.models import Account, Principal
from casestore.states import Role
from casestore.tx import Tx
from channels.storable import storable

app = group("principal", "Principals: the people known here, the accounts that speak for them, and their roles.")

Name = Annotated[str, typer.Argument(metavar="NAME", parser=storable, help="Their name here: one word.")]

_WITHOUT_SPACES = ("discord",)
"""Channels whose accounts are in no space: everywhere the same."""


@dataclass(frozen=True)
class Platform:
    """An account as it is written: channel, space and the platform's own, immutable id.

    `slack:T012/U345`; `discord:123456789012345678`, as an account there is the same in every server.
    """

    channel: str
    space: str
    account_id: str

    def __str__(self) -> str:
        return principals.written(self.channel, self.space, self.account_id)


def bound_account(text: str) -> Platform:
    """What is written, read: of the shape of an account, as also one is that should never have been bound."""
    match = re.fullmatch(r"([a-z][a-z0-9_]*):(?:([!-.0-~]+)/)?([!-.0-~]+)", text)
    if match is None or (match[2] is None) != (match[1] in _WITHOUT_SPACES):
        raise typer.BadParameter(
            f"{text} is not an account; write CHANNEL:SPACE/ID, such as slack:T012/U345, and discord:ID on Discord."
        )
    return Platform(match[1], match[2] or "", match[3])


def account(text: str) -> Platform:
    """What is written, read. Raises for what can be nobody's."""
    found = bound_account(text)
    within = f"{found.space}/{found.account_id}"
    if found.channel == "slack" and not re.fullmatch(r"[TE][A-Z0-9]*/[UWB][A-Z0-9]*", within):
        raise typer.BadParameter(
            f"{text} is not an account in Slack; write slack:T…/U… with the ids as Slack spells them, in capitals: the "
            "workspace's, and the person's from their profile (⋮, Copy member ID). A name is no id."
        )
    if found.channel == "discord" and not re.fullmatch(r"[0-9]{15,20}", found.account_id):
        raise typer.BadParameter(
            f"{text} is not an account on Discord; write discord: and the person's id, some 18 digits (Developer Mode "
            "on, their menu, Copy User ID). A name is no id."
        )
    return found


@command(app, "add")
def add(
    here: Here,
    name: Name,
    role: Annotated[Role, typer.Option("--role", help="What they may do.")] = Role.REQUESTER,
    as_: As = BY_DEFAULT,
) -> None:
    """Make a person known. Only an admin may."""
    added = here.write(_add, here.now, as_, name, role)
    say(f"{added.name} is known as {added.role}.")
    say(f"Bind their accounts: {here.typed(f'principal bind {added.name} ACCOUNT')}")
    say("An ACCOUNT is slack:T012/U345, for instance, or discord:123456789012345678: the ids that the platform shows.")


@command(app, "list")
def list_(here: Here, as_: As = BY_DEFAULT, json: Json = False) -> None:
    """Everybody known here, with their accounts. Only an operator may look."""
    found = here.read(_listed, as_)
    if json:
        document({"principals": [principal_json(one, accounts) for one, accounts in found]})
        return
    now, zone = here.now, here.zone
    table(
        ("NAME", "ROLE", "TENANT", "REVOKED", "ACCOUNTS"),
        [
            (one.name, one.role, one.tenant,
             "" if one.revoked_at is None else at_text(one.revoked_at, zone, now),
             ", ".join(_written(bound) for bound in accounts if bound.revoked_at is None))
            for one, accounts in found
        ],
    )  # fmt: skip


@command(app, "bind")
def bind(
    here: Here,
    name: Name,
    bound: Annotated[
        Platform,
        typer.Argument(
            metavar="ACCOUNT", parser=account, help="CHANNEL:SPACE/ID, such as slack:T012/U345, or discord:ID."
        ),
    ],
    as_: As = BY_DEFAULT,
) -> None:
    """Let a platform account speak for a person. Only an admin may."""
    here.write(_bind, here.now, as_, name, bound)
    say(f"{bound} speaks for {name}.")


@command(app, "unbind")
def unbind(
    here: Here,
    bound: Annotated[
        Platform, typer.Argument(metavar="ACCOUNT", parser=bound_account, help="As casebound principal list shows it.")
    ],
    as_: As = BY_DEFAULT,
) -> None:
    """Let a platform account speak for nobody any more, such as one that was bound by mistake. Only an admin may."""
    who = here.write(_unbind, here.now, as_, bound)
    say(f"{bound} does not speak for {who.name} any more; what {who.name} approved stands.")


@command(app, "revoke")
def revoke(here: Here, name: Name, as_: As = BY_DEFAULT) -> None:
    """Take a person's rights away for good, with those of their accounts. Only an admin may."""
    here.write(_revoke, here.now, as_, name)
    say(f"{name} is revoked; what they approved and has not run yet will not run.")


def _written(bound: Account) -> str:
    return str(Platform(bound.channel, bound.space, bound.account_id))


def _add(tx: Tx, now: int, as_: str, name: str, role: Role) -> Principal:
    by = who.admin(tx, as_, "add people")
    return principals.add(tx, now, tenant=by.tenant, name=name, role=role)


def _listed(tx: Tx, as_: str) -> list[tuple[Principal, list[Account]]]:
    by = who.operator(tx, as_, "see who is known")
    return [(one, principals.accounts_of(tx, one.id)) for one in principals.listing(tx, tenant=by.tenant)]


def _bind(tx: Tx, now: int, as_: str, name: str, bound: Platform) -> Account:
    by = who.admin(tx, as_, "bind accounts")
    return principals.bind(
        tx, now, _of_tenant(tx, by, name).id, channel=bound.channel, space=bound.space,
        account_id=bound.account_id, bound_by=by.id,
    )  # fmt: skip


def _unbind(tx: Tx, now: int, as_: str, bound: Platform) -> Principal:
    by = who.admin(tx, as_, "unbind accounts")
    return principals.unbind(
        tx, now, tenant=by.tenant, channel=bound.channel, space=bound.space, account_id=bound.account_id
    )  # fmt: skip


def _revoke(tx: Tx, now: int, as_: str, name: str) -> Principal:
    by = who.admin(tx, as_, "revoke people")
    principal = _of_tenant(tx, by, name)
    others = [
        one for one in principals.listing(tx, tenant=by.tenant)
        if one.role is Role.ADMIN and one.revoked_at is None and one.id != principal.id
    ]  # fmt: skip
    if not others:
        raise Refused(f"{name} is the last admin. Add another first: casebound principal add NAME --role admin")
    return principals.revoke(tx, now, principal.id, revoked_by=by.id)


def _of_tenant(tx: Tx, by: Principal, name: str) -> Principal:
    """A principal of somebody's tenant; one of another answers like one that is not there (R21)."""
    found = who.known(tx, name)
    if found.tenant != by.tenant:
        raise NotFound(f"No principal named {name}.", listed_by="principal list")
    return found
