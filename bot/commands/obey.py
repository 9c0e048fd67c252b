"""From a command to what is said about it; whatever is refused is said in one sentence, and nothing is done then."""

from datetime import tzinfo

from bot.commands import case, gate
from bot.commands.answer import Answer, Asked, usage
from bot.commands.line import Line, read
from bot.errors import Refused
from bot.inbound import intake
from bot.people import linking
from bot.settings import Settings
from bot.words import link_code
from casestore import principals
from casestore.errors import BadRequest, MoveRefused, NotFound
from casestore.models import Principal
from casestore.tx import Tx
from channels.errors import UnknownChannel
from channels.messages import Account, Command

NOUNS = {"case": (case.answer, case.VERBS), "gate": (gate.answer, gate.VERBS)}
STRANGER = "I do not know you, so I cannot do that for you. Ask an admin to bind your account."
_FOR_PEOPLE = {("case", "open"), ("case", "hear")}
"""What would lead a bot past the breaker over the cases that it opens."""
_FOR_THE_PERSON = (Refused, MoveRefused, BadRequest, NotFound, UnknownChannel)


def writes(command: Command) -> bool:
    """Whether it changes something, and so needs the writer."""
    line = read(command.text, command.address)
    verb = NOUNS[line.noun][1].get(line.verb) if line.noun in NOUNS else None
    return (verb is not None and verb.writes) or link_code.is_out_of_place(command.text)


def obey(tx: Tx, now: int, command: Command, settings: Settings, zone: tzinfo | None) -> Answer:
    """Answer it. Raises what the store raises when it refuses a person: the transaction is to be undone then."""
    line = read(command.text, command.address)
    links = (line.noun, line.verb) == ("case", "link")
    if link_code.is_out_of_place(command.text) and (command.platform_id is not None or not links):
        linking.spoil(tx, now, command.text)
        return Answer(linking.SPOILT)
    who = _who(tx, now, line, command.account, settings)
    if links and who is None:
        return Answer(linking.link(tx, now, command, line.rest))
    if who is None or who.revoked_at is not None:
        return Answer(STRANGER)
    if command.account.program and (line.noun, line.verb) in _FOR_PEOPLE:
        raise Refused("That is for people. A bot begins a case by mentioning me.")
    if line.noun not in NOUNS:
        return Answer("\n".join(["I know these:", *(usage(noun, verbs) for noun, (_, verbs) in NOUNS.items())]))
    answer, _ = NOUNS[line.noun]
    return answer(tx, now, Asked(line, who, settings, zone, command.platform_id))


def said_of(error: Exception) -> str | None:
    """The sentence for the person, where that is what an error is for; with what they can type next, if they can."""
    if not isinstance(error, _FOR_THE_PERSON):
        return None
    listed_by = error.listed_by if isinstance(error, NotFound) else None
    return f"{error} See: /{listed_by}" if listed_by and listed_by.partition(" ")[0] in NOUNS else str(error)


def _who(tx: Tx, now: int, line: Line, account: Account, settings: Settings) -> Principal | None:
    """Whoever opens a case is let in like somebody who writes; anything else takes somebody known (R20)."""
    if (line.noun, line.verb) == ("case", "open"):
        return intake.principal_of(tx, now, account, settings)
    return principals.by_account(tx, *account.identity)
