"""A case as it happens, as server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html).

What is stored comes from the store, looked at whenever something is said and once a second, since other processes
write there too. Between two looks there is nothing to keep: who reads slowly gets the newest later (R12, R13).
"""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from bot.app import Service
from bot.errors import Refused
from bot.gates import gating
from bot.turns.preview import Preview
from bot.web.answers import RETRY_AFTER_S, Error
from bot.web.api.asks import CaseNumber
from bot.web.api.guard import Who
from bot.web.state import Served
from bot.words.present import Document, message_json
from casestore import attachments, cases, leases, messages, principals
from casestore.errors import NotFound, StoreUnavailable
from casestore.models import CaseId, Message, Principal, PrincipalId
from casestore.states import LeaseKind, Provenance
from casestore.tx import Tx

_TYPE = "text/event-stream"
_LOOK_S = 1.0
_LOOKS_OF_SILENCE = 15
"""After so many a comment is sent: whatever stands in between takes the connection for a dead one otherwise."""
_AT_ONCE = 100
_TOLD = (
    "`case`: where it stands, first of all and whenever that changes. `preview`: more of what the assistant is about "
    "to say; `at` is how much came before, and 0 begins anew. `withdrawn`: it is not said. `message`: as listed under "
    "messages; one of the assistant takes the place of the preview. Its `id` is its `seq`."
)
_FULL = "As many listen as may at once; try again later, or raise listeners in [api]."

Since = Annotated[int | None, Query(ge=0, lt=2**63, description="Begin after this `seq`; else with what is said now.")]
LastEventId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, lt=2**63)]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is stored of a case at one moment. `fence`: of the run that has it; None where none has."""

    case_id: CaseId
    stands: Document
    fence: int | None
    newest: int
    said: tuple[tuple[Message, Document], ...]


class _Told:
    """What one listener was told, and what that leaves to be told."""

    def __init__(self, after: int) -> None:
        self.after = after
        self._stands: Document | None = None
        self._preview: tuple[Preview, int] | None = None
        self._over: tuple[Preview, int] | None = None
        self._shown = 0

    def next(self, seen: _Seen, spoken: Preview | None) -> list[str]:
        """The events that follow. What a run says that has lost the case is not shown: it will not be said (R12)."""
        events: list[str] = []
        current = None if spoken is None or spoken.lease.fence != seen.fence else (spoken, spoken.attempt)
        if seen.stands != self._stands:
            self._stands = seen.stands
            events.append(_event("case", seen.stands))
        for message, document in seen.said:
            self.after = message.seq
            events.append(_event("message", document, message.seq))
            if message.provenance is Provenance.ASSISTANT:
                self._over, self._shown = current, 0
        if self._shown and current != self._preview:
            self._shown = 0
            events.append(_event("withdrawn", {}))
        if current is not None and current != self._over and len(current[0].text) > (shown := self._shown):
            text = current[0].text
            events.append(_event("preview", {"at": shown, "text": text[shown:]}))
            self._preview, self._shown = current, len(text)
        return events


def add_to(api: APIRouter) -> None:
    """Register the route."""
    api.get(
        "/cases/{case}/live",
        response_class=StreamingResponse,
        responses={
            200: {"content": {_TYPE: {"schema": {"type": "string"}}}, "description": _TOLD},
            429: {"model": Error, "description": "So many listen already ([api] listeners)."},
        },
    )(live)


async def live(
    service: Served, who: Who, number: CaseNumber, after: Since = None, last: LastEventId = None
) -> StreamingResponse:
    """Listen to a case: what is said in it from now on, or after the `seq` or the event that you name."""
    since = last if last is not None else after
    seen = await service.store.read(_look, who.id, number, since)
    if service.previews.full:
        raise HTTPException(429, _FULL, {"Retry-After": str(RETRY_AFTER_S)})
    told = _Told(seen.newest if since is None else since)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # the second for nginx, which else collects it
    return StreamingResponse(_events(service, who, number, seen.case_id, told), media_type=_TYPE, headers=headers)


async def _events(
    service: Service, who: Principal, number: int, case_id: CaseId, told: _Told
) -> AsyncGenerator[str]:  # fmt: skip
    """Until the service ends, or there is nothing to see any more; who listens on then comes again by itself."""
    silent = 0
    if service.previews.full:  # who asked at the same time was first; the client comes again by itself
        return
    with service.previews.listening(case_id) as listener:
        while not service.previews.closed:
            try:
                seen = await service.store.read(_look, who.id, number, told.after)
            except (NotFound, Refused, StoreUnavailable):
                return
            events = told.next(seen, service.previews.of(case_id))
            silent = 0 if events else silent + 1
            if silent >= _LOOKS_OF_SILENCE:
                silent, events = 0, [":\n\n"]
            for event in events:
                yield event
            if len(seen.said) < _AT_ONCE:
                await listener.wait(_LOOK_S)


def _event(kind: str, data: Document, number: int | None = None) -> str:
    """One event; JSON in ASCII has no line end in it."""
    last = "" if number is None else f"id: {number}\n"
    return f"event: {kind}\n{last}data: {json.dumps(data, separators=(',', ':'))}\n\n"


def _look(tx: Tx, who_id: PrincipalId, number: int, after: int | None) -> _Seen:
    who = principals.get(tx, who_id)
    if who.revoked_at is not None:
        raise Refused("Who listened may not any more.")
    scope = gating.scope_of(who)
    case = cases.get(tx, scope, number)
    lease = leases.of_case(tx, case.id)
    newest = messages.newest_seq(tx, case.id)
    said = () if after is None else messages.of_case(tx, scope, case.id, after=after, most=_AT_ONCE)
    return _Seen(
        case.id,
        {"label": case.label, "state": case.state, "waiting_on": case.waiting_on},
        lease.fence if lease.kind is LeaseKind.RUN else None,
        newest,
        tuple((one, message_json(one, attachments.of_message(tx, one.id))) for one in said),
    )
