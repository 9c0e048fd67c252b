"""The breakers: two programs that answer each other go on for ever, in one case or by beginning ever new ones.

Everything is counted in what is stored, so that a restart begins no new round.
"""

from datetime import tzinfo

from bot.errors import Refused
from bot.outbound import speech
from bot.settings import Settings
from bot.words.durations import duration_text
from bot.words.when import at_text
from casestore import messages, principals, programs, turns
from casestore.models import Case, Message, Principal
from casestore.tx import Tx
from channels.messages import Inbound

_OF_OURS, _WORDS = 50, 20
"""Among so many of our last messages an echo is looked for; a shorter one than so many characters says nothing."""


def runs_round(tx: Tx, now: int, case: Case, message: Message, settings: Settings) -> bool:
    """Whether this message of a program is one too many; then it is kept, starts nothing, and that is said once."""
    most = settings.limits.programs_in_a_row
    in_a_row = messages.programs_in_a_row(tx, case.id, most + 2)
    turn = turns.newest(tx, case.id)
    if in_a_row <= most or turn is None:
        return False
    messages.leave_unanswered(tx, message, turn)
    if in_a_row == most + 1:
        text = f"I have answered {most} messages of another bot in a row, and go on when a person writes here."
        speech.say(tx, now, case.id, text)
    return True


def may_not_open(
    tx: Tx, now: int, inbound: Inbound, who: Principal, settings: Settings, zone: tzinfo | None
) -> str | None:
    """Why a program may begin no case with this message; None where it may.

    It may not with our own words, which another integration has carried somewhere else, and not once it has begun too
    many: then it is stopped for a time, which operators are told once.
    """
    if _is_our_own(tx, inbound.text):
        return "our own words, sent back by a program"
    most, within = settings.limits.programs_open, settings.limits.programs_within
    account = "/".join(inbound.account.identity)
    standing = programs.standing(tx, now, who, account, now - 2 * within)
    if standing.until is not None:
        return "a program that is stopped"
    opened = programs.opened_since(tx, who, account, max(now - within, standing.since), most)
    if len(opened) < most:
        return None
    programs.stop(tx, now, opened[0].id, account, until=now + within, opened=most)
    label, until = opened[0].label, at_text(now + within, zone, now)
    text = (
        f"The bot {who.name} ({account}) has opened {most} cases within {duration_text(within)}, the last is {label}. "
        f"I open no more for it until {until}, or until an operator lets it go on: /case hear {label}, or "
        f"casebound case hear {label}"
    )
    if rooms := settings.approval_rooms():
        for room in rooms:
            speech.put(tx, now, opened[0].id, room, text)
    else:
        speech.say(tx, now, opened[0].id, text)
    return "a program that has opened too many cases"


def hear_again(tx: Tx, now: int, case: Case, by: Principal) -> str:
    """The bot that was stopped at this case may open cases again; its name. Raises `Refused`, `MoveRefused`."""
    if not by.is_operator or by.revoked_at is not None:
        raise Refused("Only an operator lets a bot go on that was stopped.")
    account = programs.hear_again(tx, now, case, by=by)
    who = principals.by_account(tx, *account.split("/"))
    return account if who is None else f"{who.name} ({account})"


def _is_our_own(tx: Tx, text: str) -> bool:
    words = " ".join(text.split())
    ours = (" ".join(message.text.split()) for message in messages.newest_of_ours(tx, _OF_OURS))
    return any(len(said) >= _WORDS and said in words for said in ours)
