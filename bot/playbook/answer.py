"""One request answered: the next step's calls, or the last words. A pure function of messages and offered tools."""

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from typing import cast

from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart

from bot.playbook.book import Playbook, Step
from bot.playbook.choose import choose
from bot.playbook.condition import all_hold
from bot.playbook.history import Note, Stimulus, UnderWay, is_beside, not_offered, read
from bot.playbook.template import Missing, Scope, fill, write
from bot.tools.declare import wire

NONE = "none"
HAND_OFF = "case.hand_off"
HANDED = "handed"
_CANNOT_TALK = "I only work by playbooks just now, and none of them answers that. It is kept with the case."


@dataclass(frozen=True)
class Answer:
    """The parts of a response, and the note that goes with them."""

    parts: tuple[TextPart | ToolCallPart, ...]
    note: Note


def answer(
    books: Sequence[Playbook], messages: Sequence[ModelMessage], offered: Set[str], here: Collection[str] = ()
) -> Answer:
    """The next response; `offered` holds the wire names of the tools that may be called, `here` this machine's."""
    if is_beside(messages):
        return _say(_CANNOT_TALK, Note(book=NONE))
    found = read(messages)
    if isinstance(found, Stimulus):
        chosen = choose(books, found, here)
        if chosen is not None:
            return _work(chosen[0], UnderWay(chosen[1], {}, meanwhile=False), offered)
        if found.alerts and not found.said and all(alert.get("status") == "resolved" for alert in found.alerts):
            return _say("The alert has resolved. I did nothing.", Note(book=NONE, turn=found.turn))
        return _no_playbook(books, Note(book=NONE, turn=found.turn), offered)
    if found.note.book == NONE:
        return _handed(found)
    for book in books:
        if (book.name, book.digest) == (found.note.book, found.note.digest):
            return _work(book, found, offered)
    why = f"the playbook {found.note.book} was changed or removed while this was waiting"
    return _hand_over(why, f"I stopped: {why}.", found.note, offered)


def _work(book: Playbook, turn: UnderWay, offered: Set[str]) -> Answer:
    note = turn.note
    scope: dict[str, object] = {**turn.results, "labels": note.labels, "alert": note.alert}
    for number in range(note.step + 1, len(book.steps)):
        step = book.steps[number]
        if not all_hold(step.when, scope):
            continue
        if step.say:
            return _say(_last_words(book, step, note, scope, meanwhile=turn.meanwhile), note)
        calls: list[ToolCallPart] = []
        names: dict[str, str] = {}
        for call in step.calls:
            if wire(call.call) not in offered:
                name = call.result or call.call
                note = note.model_copy(update={"absent": {**note.absent, name: call.call}})
                scope[name] = not_offered(call.call)
                continue
            try:
                arguments = cast("dict[str, object]", fill(dict(call.args), scope))
            except Missing as missing:
                why = f"the playbook {book.name} needs {missing}, and there is no such value"
                return _hand_over(why, f"I stopped: {why}.", note, offered)
            identity = f"pb-{note.calls + len(calls) + 1}"
            calls.append(ToolCallPart(wire(call.call), arguments, tool_call_id=identity))
            names[identity] = call.result or ""
        if calls:
            because = write((step.because or "").strip().splitlines(), scope)
            words = (TextPart(because),) if because else ()
            made = note.calls + len(calls)
            return Answer((*words, *calls), note.model_copy(update={"step": number, "calls": made, "names": names}))
    raise AssertionError("a playbook ends in words")  # guarded when it is read


def _last_words(book: Playbook, step: Step, note: Note, scope: Scope, *, meanwhile: bool) -> str:
    """The words of a `say`, then what was not offered, then what is said to people who wrote meanwhile."""
    lines = [text for line in step.say if all_hold(line.when, scope) for text in line.text.strip("\n").split("\n")]
    blocks = [write(lines, scope) or f"{book.title}."]
    if note.absent:
        tools = ", ".join(sorted(set(note.absent.values())))
        blocks.append(f"Not offered here, so not done: {tools}.")
    if meanwhile and book.meanwhile:
        blocks.append(write(book.meanwhile.strip().splitlines(), scope))
    return "\n\n".join(blocks)


def _no_playbook(books: Sequence[Playbook], note: Note, offered: Set[str]) -> Answer:
    """Say what can be done here. The reason says it too: handing over ends the turn, and then only that is heard."""
    able: list[str] = []
    for book in books:
        words = [f"“{word}”" for match in book.match for word in (*match.all, *match.any)]
        able.append(f"{book.title} ({f'ask for {words[0]}' if words else 'when an alert says so'})")
    able = able or ["nothing, since there are no playbooks"]
    why = f"no playbook fits this. What I can do by myself: {'; '.join(able)}"
    words = "\n- ".join(["I have no playbook for this. What I can do by myself:", *able])
    return _hand_over(why, words, note, offered)


def _hand_over(why: str, words: str, note: Note, offered: Set[str]) -> Answer:
    """Give the case to an operator, if that is offered; the words follow where the turn goes on after it."""
    note = note.model_copy(update={"book": NONE, "digest": "", "words": words})
    if wire(HAND_OFF) not in offered:
        return _handed(UnderWay(note, {}, meanwhile=False))
    identity = f"pb-{note.calls + 1}"
    call = ToolCallPart(wire(HAND_OFF), {"reason": why}, tool_call_id=identity)
    step, calls = note.step + 1, note.calls + 1
    return Answer((call,), note.model_copy(update={"step": step, "calls": calls, "names": {identity: HANDED}}))


def _handed(turn: UnderWay) -> Answer:
    result = cast("dict[str, object]", turn.results.get(HANDED, {}))
    done = result.get("outcome") == "success"
    end = "I have handed the case to an operator." if done else "Please ask an operator to look at it."
    return _say(f"{turn.note.words}\n\n{end}".strip(), turn.note)


def _say(words: str, note: Note) -> Answer:
    return Answer((TextPart(words),), note.model_copy(update={"names": {}, "words": ""}))
