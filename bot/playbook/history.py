"""What the messages say: a new stimulus to answer, or a turn that a playbook already works.

A response of ours carries a note (in `provider_details`, which the store keeps and nobody outside can write): the
playbook, the step, and the alert it works. So a turn goes on from its newest response even where the window was
cut in front of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from bot.tools.declare import wire
from bot.words import frame
from casestore.states import Provenance

RETELLING = "retelling"
"""In the metadata of a request that is no part of a conversation, such as one for a paraphrase: no playbook fits it."""
NOTE = "playbook"
ENDS_THE_TURN = frozenset({wire("case.hand_off"), wire("case.ask_requester")})
# `Kim (requester): words`, or `alert: words` where nobody speaks; a file that comes without words has its own line
HEAD = re.compile(rf"(?:.{{0,300}}? \(({'|'.join(Provenance)})\)|(alert|system)): (?:\n(?!\| ))?(.*)", re.DOTALL)
NOT_SAID = frozenset({Provenance.ALERT, Provenance.SYSTEM, Provenance.ASSISTANT})


class Note(BaseModel):
    """Where a turn stands, as left in each response."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn: str | None = None
    """The turn, where the requests name it."""
    book: str
    """Name of the playbook, or `none` while a case is handed over."""
    digest: str = ""
    step: int = -1
    """The step that made this response's calls; the first is 0."""
    calls: int = 0
    """How many calls the turn has made, this response's among them."""
    names: dict[str, str] = {}
    """Call id of this response -> the name of its result."""
    absent: dict[str, str] = {}
    """Name of a result -> the tool that would have given it and is not offered."""
    labels: dict[str, str] = {}
    alert: dict[str, JsonValue] = {}
    words: str = ""
    """What is to be said once the case is handed over."""


@dataclass(frozen=True)
class Stimulus:
    """What a new turn answers."""

    alerts: tuple[Mapping[str, object], ...]
    said: tuple[str, ...]
    """The messages of people, without the name and role in front."""
    turn: str | None = None


@dataclass(frozen=True)
class UnderWay:
    """A turn whose calls are answered and that goes on."""

    note: Note
    results: Mapping[str, object]
    meanwhile: bool
    """Whether people wrote while the turn was waiting."""


def read(messages: Sequence[ModelMessage]) -> Stimulus | UnderWay:
    """What is to be done next, from the messages alone."""
    exchanges = _exchanges(_but_beside(messages))
    response, requests = exchanges[-1]
    note = _note(response)
    if note is None or not _goes_on(note, response, requests):
        return _stimulus(requests)
    results: dict[str, object] = {}
    meanwhile = False
    for earlier, following in reversed(exchanges):
        here = _note(earlier)
        if here is None or (here.book, here.digest) != (note.book, note.digest):
            break
        if not _goes_on(here, earlier, following):
            break
        meanwhile = meanwhile or any(_said(request) for request in following)
        results = _results(here, following) | results
    for name, tool in note.absent.items():
        results.setdefault(name, not_offered(tool))
    return UnderWay(note, results, meanwhile)


def is_beside(messages: Sequence[ModelMessage]) -> bool:
    """Whether what is to be answered was said while a call of another turn waits for a decision."""
    return bool(messages) and _beside(messages[-1])


def not_offered(tool: str) -> dict[str, object]:
    """The result of a call that was not made because its tool is not offered."""
    return {"outcome": "not_offered", "text": f"{tool} is not offered here."}


def _but_beside(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages without what was said, and answered by another model, while a call waited for a decision."""
    found: list[ModelMessage] = []
    beside = False
    for message in messages:
        beside = _beside(message) if isinstance(message, ModelRequest) else beside
        if not beside:
            found.append(message)
    return found


def _beside(message: ModelMessage) -> bool:
    return isinstance(message, ModelRequest) and "beside" in (message.metadata or {})


def _exchanges(messages: Sequence[ModelMessage]) -> list[tuple[ModelResponse | None, list[ModelRequest]]]:
    """Each response with the requests that follow it; the requests before the first response come first."""
    found: list[tuple[ModelResponse | None, list[ModelRequest]]] = [(None, [])]
    for message in messages:
        if isinstance(message, ModelResponse):
            found.append((message, []))
        else:
            found[-1][1].append(message)
    return found


def _note(response: ModelResponse | None) -> Note | None:
    """The note of a response that made calls, if it is one of ours."""
    if response is None or not any(isinstance(part, ToolCallPart) for part in response.parts):
        return None
    try:
        return Note.model_validate((response.provider_details or {})[NOTE])
    except (KeyError, ValidationError):
        return None


def _goes_on(note: Note, response: ModelResponse | None, requests: Sequence[ModelRequest]) -> bool:
    """Whether the calls of a response are answered and its turn goes on.

    Where requests say which turn they belong to (`metadata["turn"]`), that decides. Where they do not: words that
    come in one request with the results belong to the turn, unless one of the calls has ended it; words in a request
    of their own begin a new one.
    """
    returned = [part for request in requests for part in request.parts if isinstance(part, ToolReturnPart)]
    if response is None or not returned:
        return False
    turns = {turn for request in requests if (turn := _turn(request)) is not None}
    if note.turn is not None and turns:
        return turns == {note.turn}
    done = any(part.tool_name in ENDS_THE_TURN and part.outcome == "success" for part in returned)
    worded = [request for request in requests if any(isinstance(part, UserPromptPart) for part in request.parts)]
    apart = any(not any(isinstance(part, ToolReturnPart) for part in request.parts) for request in worded)
    return not apart and not (done and worded)


def _turn(request: ModelRequest) -> str | None:
    turn: object = (request.metadata or {}).get("turn")
    return None if turn is None else str(turn)


def _results(note: Note, requests: Sequence[ModelRequest]) -> dict[str, object]:
    results: dict[str, object] = {name: {"outcome": "no_result", "text": ""} for name in note.names.values() if name}
    for request in requests:
        for part in request.parts:
            name = note.names.get(part.tool_call_id) if isinstance(part, ToolReturnPart) else None
            if name and isinstance(part, ToolReturnPart):
                content = frame.original(cast("object", part.content))
                words = ToolReturnPart(part.tool_name, content, part.tool_call_id).model_response_str
                fields = cast("Mapping[str, object]", content) if isinstance(content, Mapping) else {"value": content}
                text = content if isinstance(content, str) else words()
                results[name] = {**fields, "text": text, "outcome": part.outcome}
    return results


def _stimulus(requests: Sequence[ModelRequest]) -> Stimulus:
    alerts: list[Mapping[str, object]] = []
    for request in requests:
        listed: object = (request.metadata or {}).get("alerts") or []
        if isinstance(listed, list):
            items = cast("list[object]", listed)
            alerts += [cast("Mapping[str, object]", one) for one in items if isinstance(one, Mapping)]
    said = tuple(text for request in requests for text in _said(request))
    return Stimulus(tuple(alerts), said, _turn(requests[-1]) if requests else None)


def _said(request: ModelRequest) -> list[str]:
    """What people said in a request. The head names author and role; a role in it is data, and trusted with nothing."""
    texts: list[str] = []
    for part in request.parts:
        if isinstance(part, UserPromptPart):
            content = [part.content] if isinstance(part.content, str) else part.content
            plain = [item.content if isinstance(item, TextContent) else item for item in content]
            text = "\n".join(item for item in plain if isinstance(item, str))
            found = HEAD.fullmatch(text)
            if found is None:
                texts.append(text)
            elif (found.group(1) or found.group(2)) not in NOT_SAID:
                texts.append(frame.unframed(found.group(3)))
    return texts
