"""`casebound principal link` and `codes`: a person binds their account themselves, by a code that they are given."""

from bot import ids
from bot.cli import who
from bot.cli.arguments import BY_DEFAULT, As, Json
from bot.cli.command import command
from bot.cli.here import Here
from bot.cli.out import document, say, table
from bot.cli.principal import Name, app
from bot.people import linking
from bot.people.linking import Made
from bot.words import link_code
from bot.words.present import link_json
from bot.words.when import at_text
from casestore import linking as links
from casestore.models import LinkCode, Principal
from casestore.tx import Tx

VIA = "cli"


@command(app, "link")
def link(here: Here, name: Name, as_: As = BY_DEFAULT, json: Json = False) -> None:
    """Make a one-time code by which a person lets an account of theirs speak for them. Only an admin may."""
    made = here.write(_make, here.now, as_, name, link_code.written(ids.link_letters()))
    typed = f"/case link {made.code}"
    if json:
        document({**link_json(made.row, made.principal), "code": made.code, "command": typed})
        return
    say(typed)
    say(f"{name} sends this command on Slack or Discord, from the account that is to speak for them.")
    say(
        f"It works once, until {at_text(made.row.expires_at, here.zone, here.now)}, and is shown only now. Give it to "
        f"nobody but {name}: whoever sends it acts as {name} ({made.principal.role})."
    )


@command(app, "codes")
def codes(here: Here, as_: As = BY_DEFAULT, json: Json = False) -> None:
    """Which codes were made, by whom, and which account was let in by each, from where. Only an operator may look."""
    found = here.read(_listed, as_)
    if json:
        document({"codes": [link_json(row, principal) for row, principal, _ in found]})
        return
    now, zone = here.now, here.zone
    table(
        ("CODE", "FOR", "MADE BY", "VIA", "MADE", "STATE", "ENDED", "ACCOUNT", "FROM"),
        [
            (str(row.id), principal.name, by, row.made_via, at_text(row.made_at, zone, now), row.state,
             "" if row.ended_at is None else at_text(row.ended_at, zone, now), row.account or "", row.used_from or "")
            for row, principal, by in found
        ],
    )  # fmt: skip


def _make(tx: Tx, now: int, as_: str, name: str, code: str) -> Made:
    return linking.make(tx, now, who.admin(tx, as_, "link accounts"), name, code, via=VIA)


def _listed(tx: Tx, as_: str) -> list[tuple[LinkCode, Principal, str]]:
    by = who.operator(tx, as_, "see who was let in")
    return [(row, person, who.name_of(tx, row.made_by)) for row, person in links.listing(tx, tenant=by.tenant)]
