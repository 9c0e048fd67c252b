"""The breaker: two programs that answer each other go on for ever, so after a few rounds a person has to speak."""

from bot import speech
from bot.settings import Settings
from casestore import messages, turns
from casestore.models import Case, Message
from casestore.tx import Tx


def runs_round(tx: Tx, now: int, case: Case, message: Message, settings: Settings) -> bool:
    """Whether this message of a program is one too many; then it is kept, starts nothing, and that is said once.

    Counted in what is stored, so that a restart begins no new round.
    """
    most = settings.limits.programs_in_a_row
    in_a_row = messages.programs_in_a_row(tx, case.id, most + 2)
    turn = turns.newest(tx, case.id)
    if in_a_row <= most or turn is None:
        return False
    messages.set_aside(tx, message, turn)
    if in_a_row == most + 1:
        text = f"I have answered {most} messages of another bot in a row, and go on when a person writes here."
        speech.say(tx, now, case.id, text)
    return True
