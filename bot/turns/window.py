"""The window: what the model is sent, read bounded from the store, rebuilt byte for byte from it (R17, R19)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import PydanticSerializationError

from bot.inbound import attached
from bot.tools.declare import wire
from bot.tools.results import CallResult
from bot.turns.arrange import NOT_STORED, arrange, with_waiting
from bot.words import frame
from casestore import compactions, messages, principals, steps, transcript, turns
from casestore.canonical import digest, encode
from casestore.models import CaseId, Compaction, CompactionId, Message, Step, StepId, TranscriptRow, TurnId
from casestore.transcript import Line
from casestore.tx import Tx
from channels.text import original, storable

GO_ON_NOTE = "system: what became of the calls that waited stands in their results; go on with what was asked"
ANSWER_NOTE = "system: people wrote while you worked and have no answer yet; answer them now, while the call waits"
_SHOWN_AT_LEAST = 200
"""Characters of a result, however little room is left: with fewer nobody can tell what it is."""
_CHARACTERS_FOR_A_TOKEN = 3
"""Of a result: fewer than are taken for a token, since what is around it and its notation take some too."""
_KEPT_AT_MOST = 8_000_000
"""Characters of stored messages that are kept parsed: enough for the windows of some hundred cases at once."""


@dataclass(frozen=True, slots=True)
class Window:
    """The transcript rows one model call is sent, and the digest of the whole request."""

    rows: tuple[Line, ...]
    prompt_version: str
    digest: str
    compaction: Compaction | None = None
    """What stands first, for all that was before the rows."""
    waiting: str | None = None
    """What was sent in place of results that had not come, in a turn beside a parked one; the step alone keeps it."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """Everything that is sent, in its order."""
        return self.rows if self.compaction is None else (_line(self.compaction), *self.rows)

    @property
    def named(self) -> str:
        """What the step stores so that it can be rebuilt: compaction, range, prompt, no settings of its own."""
        return encode(
            {
                "prompt": self.prompt_version,
                "compaction": None if self.compaction is None else self.compaction.id,
                "from": self.rows[0].seq,
                "to": max(row.seq for row in self.rows),
                "settings": {},
                **({} if self.waiting is None else {"waiting": self.waiting}),
            }
        )


def compose(
    tx: Tx, case_id: CaseId, turn_id: TurnId, *, result_characters: int, note: str | None = None,
    room: int | None = None,
) -> bool:  # fmt: skip
    """Append the next request to the transcript: results of the last response's calls, then what was said since.

    False where there is nothing new to send. Every call of the last response has its result by now (R7). Those of a
    turn that was ended by a person or a limit come in a request of their own, which belongs to that turn: a window
    that begins after it begins with what was said, not with results of calls it does not hold (R19). So do those
    that an exchange beside them waited for, which is shown after them.
    `room` is how many tokens the turn may take in all: its results are shown shorter where little of that is left.
    """
    beside = turns.by_id(tx, turn_id).beside
    last = transcript.newest_of(tx, case_id, beside)
    answered = _returns(tx, last, result_characters, room)
    talked = beside is None and _talked_beside(tx, case_id, last, result_characters, room)
    if answered and last is not None and (last.turn_id != turn_id or talked):
        _append_apart(tx, last, answered)
        answered, note = [], None
    said = messages.not_in_view(tx, case_id)
    parts = [*answered, *(spoken(tx, message) for message in said)]
    if note is not None and last is not None and last.kind == "response":  # else it has been sent already
        parts.append(UserPromptPart(note))
    if talked and not parts:
        parts.append(UserPromptPart(GO_ON_NOTE))
    if not parts and beside is not None and (last is None or last.turn_id != turn_id):
        parts.append(UserPromptPart(ANSWER_NOTE))  # what it is to answer was shown before the call was held
    if not parts:
        return False
    alerts = [part for message in said for part in message.body if part.get("type") == "alert"]
    # not sent to a provider; a playbook matches labels, and knows by the turn whether it is under way in it
    metadata = {**whose(turn_id, beside), **({"alerts": alerts} if alerts else {})}
    request = ModelRequest(parts, metadata=metadata)
    seq = transcript.append(tx, case_id, turn_id, kind="request", message=dump(request))
    messages.bring_into_view(tx, said, seq)
    return True


def look(
    tx: Tx, case_id: CaseId, turn_id: TurnId, *, turns: int, prompt_version: str, waiting: str | None = None
) -> Window:  # fmt: skip
    """The bounded window that ends with the newest message; its cost does not grow with the age of the case (R19).

    `waiting` stands in for the results of the parked turn that this one is beside.
    """
    compaction = compactions.newest(tx, case_id)
    after = 0 if compaction is None else compaction.upto
    rows = transcript.window(tx, case_id, turn_id, turns + 1, after)  # one more: it says that there are too many
    return _window(rows, prompt_version, compaction, waiting)


def rebuild(tx: Tx, step: Step) -> Window:
    """The window that a model step sent, from what it names (R17); its digest says whether it is the same."""
    named = step.request or {}
    first, last, of, waiting = named["from"], named["to"], named["compaction"], named.get("waiting")
    if not isinstance(first, int) or not isinstance(last, int):
        raise TypeError(f"step {step.id} names no range of the transcript")
    compaction = compactions.by_id(tx, CompactionId(of)) if isinstance(of, int) else None
    rows = transcript.lines(tx, step.case_id, first, last)
    return _window(rows, str(named["prompt"]), compaction, None if waiting is None else str(waiting))


def _window(rows: list[Line], prompt_version: str, compaction: Compaction | None, waiting: str | None) -> Window:
    rows = arrange(rows) if waiting is None else with_waiting(rows, waiting)
    while rows and rows[0].kind != "request":  # an answer without its question is not where a window begins
        rows.pop(0)
    seen = Window(tuple(rows), prompt_version, "", compaction, waiting)
    return replace(seen, digest=request_digest(prompt_version, seen.lines))


def _line(compaction: Compaction) -> Line:
    """A compaction as a message; its place is before every message of the transcript."""
    message = dump(ModelRequest([UserPromptPart(compaction.text, timestamp=_at(compaction.at))]))
    return Line(compaction.case_id, -compaction.id, "request", message, tokens=compaction.tokens)


def request_digest(prompt_version: str, rows: Sequence[Line | TranscriptRow]) -> str:
    """The digest of a whole request: prompt and every message as stored."""
    return digest("request", prompt_version, "{}", *(row.message for row in rows))


class Reader:
    """Turns transcript rows into model messages; parsed ones are kept, since a row never changes.

    The oldest are let go first: a message is in the windows of the turns that follow it, and then in none.
    """

    def __init__(self) -> None:
        self._parsed: dict[tuple[CaseId, int], tuple[ModelMessage, int]] = {}
        self._kept = 0

    def messages(self, window: Window, instructions: str) -> list[ModelMessage]:
        """The messages of a window, the last with the instructions of the prompt."""
        found = [self._message(row) for row in window.lines]
        if found and isinstance(found[-1], ModelRequest):
            found[-1] = replace(found[-1], instructions=instructions)
        return found

    def _message(self, row: Line) -> ModelMessage:
        if known := self._parsed.get((row.case_id, row.seq)):
            return known[0]
        message = ModelMessagesTypeAdapter.validate_json(f"[{row.message}]")[0]
        if row.seq == NOT_STORED:
            return message
        self._parsed[row.case_id, row.seq] = message, len(row.message)
        self._kept += len(row.message)
        while self._kept > _KEPT_AT_MOST:
            self._kept -= self._parsed.pop(next(iter(self._parsed)))[1]
        return message


def dump(message: ModelMessage) -> str:
    """A model message as it is stored; half a character, which UTF-8 does not know, as notation."""
    try:
        text = ModelMessagesTypeAdapter.dump_json([message], exclude_none=True).decode()
    except PydanticSerializationError:
        plain = cast("object", ModelMessagesTypeAdapter.dump_python([message], mode="json", exclude_none=True))
        text = storable(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))
    return text[1:-1]


def load_response(row: TranscriptRow) -> ModelResponse:
    """A stored response."""
    message = ModelMessagesTypeAdapter.validate_json(f"[{row.message}]")[0]
    if not isinstance(message, ModelResponse):
        raise TypeError(f"transcript {row.case_id}/{row.seq} is no response")
    return message


def text_of(response: ModelResponse) -> str:
    """The words of a response."""
    return "\n".join(part.content for part in response.parts if isinstance(part, TextPart) and part.content)


def spoken(tx: Tx, message: Message) -> UserPromptPart:
    """What somebody said and attached, with who they are to the case; that is data, whatever they say (R23)."""
    if not message.by_a_person:
        return spoken_by(str(message.provenance), message.text, message.at)
    name = principals.get(tx, message.author).name if message.author is not None else "somebody"
    if (by := message.quoted_by) is not None:
        account = (message.author_account or "").rpartition("/")[2]
        name = f"{name if message.author is not None else frame.name(account)}, quoted by {by}"
    files = attached.lines(tx, message)
    return spoken_by(f"{name} ({message.provenance})", message.text, message.at, files=files)


def spoken_by(who: str, text: str, at: int, *, files: Sequence[str] = ()) -> UserPromptPart:
    """The form in which the model is shown what somebody said and attached; `at` in ms UTC.

    Further lines of the text are framed; a line without a frame is the engine's, like those about files (R23).
    """
    return UserPromptPart("\n".join([f"{who}: {frame.framed(text)}", *files]), timestamp=_at(at))


def _returns(
    tx: Tx, last: TranscriptRow | None, result_characters: int, room: int | None
) -> list[ToolReturnPart | UserPromptPart]:  # fmt: skip
    if last is None or last.kind != "response" or last.step_id is None:
        return []
    made = steps.of_response(tx, StepId(last.step_id))
    most = result_characters
    if room is not None and made:
        left = room - transcript.tokens_of(tx, last.turn_id)
        most = max(_SHOWN_AT_LEAST, min(most, left * _CHARACTERS_FOR_A_TOKEN // len(made)))
    return [result_of(step, most) for step in made]


def _talked_beside(
    tx: Tx, case_id: CaseId, last: TranscriptRow | None, result_characters: int, room: int | None
) -> bool:  # fmt: skip
    """Whether something was said beside the turn since its last message; calls of it get their results, if cut off."""
    newest = transcript.newest(tx, case_id)
    if last is None or newest is None or newest.seq <= last.seq:
        return False
    if answered := _returns(tx, newest, result_characters, room):
        _append_apart(tx, newest, answered)
    return True


def _append_apart(tx: Tx, response: TranscriptRow, answered: list[ToolReturnPart | UserPromptPart]) -> None:
    """The results of a response's calls in a request of their own, which is of the same turn."""
    beside = turns.by_id(tx, response.turn_id).beside
    request = ModelRequest(answered, metadata=None if beside is None else whose(response.turn_id, beside))
    transcript.append(tx, response.case_id, response.turn_id, kind="request", message=dump(request))


def whose(turn_id: TurnId, beside: TurnId | None) -> dict[str, object]:
    """What a request says of its turn, to whoever works from the messages alone."""
    return {"turn": turn_id, **({} if beside is None else {"beside": beside})}


def result_of(step: Step, most: int) -> ToolReturnPart:
    """The result of a call as the model is shown it, with at most so many characters."""
    if step.result is None:
        raise RuntimeError(f"step {step.id} has no result yet; its response cannot be answered")
    result = CallResult.load(step.result)
    return ToolReturnPart(
        tool_name=wire(step.tool or ""),
        content=result.shown(most),
        tool_call_id=original(step.call_id or ""),
        timestamp=_at(step.finished_at or 0),
        outcome=result.outcome,
    )


def _at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
