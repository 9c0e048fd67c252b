"""What people do to a case, as transactions."""

from bot.inbound import intake
from bot.people import closing, takeover
from bot.settings import Settings
from casestore import cases, principals, turns
from casestore import steps as journal
from casestore.models import CaseId, Message, Principal, Step
from casestore.states import Role
from casestore.tx import Tx

PEOPLE = {"ann": Role.REQUESTER, "ben": Role.REQUESTER, "kim": Role.OPERATOR, "lee": Role.OPERATOR, "root": Role.ADMIN}


def people(tx: Tx, now: int) -> dict[str, Principal]:
    """Everybody of `PEOPLE`, made and bound to an account where they are not yet; by name."""
    for name, role in PEOPLE.items():
        if name not in {principal.name for principal in principals.listing(tx)}:
            added = principals.add(tx, now, tenant="local", name=name, role=role)
            principals.bind(
                tx, now, added.id, channel="memory", space="S", account_id=f"U-{name}", bound_by=None
            )  # fmt: skip
    return {principal.name: principal for principal in principals.listing(tx)}


def steps(tx: Tx, case_id: CaseId, *, tools_only: bool) -> list[Step]:
    """The steps of all turns of a case, in order; those of models only if asked for."""
    found = [step for turn in turns.of_case(tx, case_id) for step in journal.of_turn(tx, turn.id)]
    return [step for step in found if step.kind == "tool" or not tools_only]


def take(tx: Tx, now: int, case_id: CaseId, who: Principal) -> None:
    """Take a case over."""
    takeover.take(tx, now, cases.by_id(tx, case_id), who)


def release(tx: Tx, now: int, case_id: CaseId, who: Principal) -> None:
    """Hand it back."""
    takeover.release(tx, now, cases.by_id(tx, case_id), who)


def resolve(tx: Tx, now: int, case_id: CaseId, who: Principal) -> None:
    """Say that it is dealt with."""
    closing.resolve(tx, now, cases.by_id(tx, case_id), by=principals.actor(who), why="")


def close(tx: Tx, now: int, case_id: CaseId, who: Principal) -> None:
    """Close it for good."""
    closing.close(tx, now, cases.by_id(tx, case_id), by=principals.actor(who), why="")


def speak(tx: Tx, now: int, case_id: CaseId, who: Principal, text: str, settings: Settings) -> Message:
    """Say something in it from the command line."""
    return intake.say_in(tx, now, cases.by_id(tx, case_id), who, text, settings, settings.service.zone, via="cli")
