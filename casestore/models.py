"""The rows of the store, as they are read: frozen, and nothing in them that the schema does not know."""

import json
from typing import Annotated, NewType

from pydantic import BaseModel, ConfigDict, PlainValidator

from casestore.states import (
    BindingState,
    CaseState,
    Cause,
    Direction,
    EpisodeState,
    FileState,
    GateKind,
    GateState,
    LeaseKind,
    LinkState,
    MadeBy,
    OnExpiry,
    Origin,
    OutboxKind,
    OutboxState,
    Outcome,
    Provenance,
    Role,
    StepKind,
    StepState,
    Tier,
    TurnState,
    Verb,
    WaitingOn,
)

PrincipalId = NewType("PrincipalId", int)
AccountId = NewType("AccountId", int)
CaseId = NewType("CaseId", int)
BindingId = NewType("BindingId", int)
MessageId = NewType("MessageId", int)
FileId = NewType("FileId", int)
TurnId = NewType("TurnId", int)
RunId = NewType("RunId", int)
StepId = NewType("StepId", int)
GateId = NewType("GateId", int)
OutboxId = NewType("OutboxId", int)
CompactionId = NewType("CompactionId", int)
ParaphraseId = NewType("ParaphraseId", int)


def _decoded(value: object) -> object:
    """What `canonical.encode` wrote. pydantic's own parser refuses lone surrogates, and the row with them."""
    return json.loads(value) if isinstance(value, str) else value


_DECODED = PlainValidator(_decoded)


class Row(BaseModel):
    """A row of a table; a column this code does not know is a bug, and loud (R15)."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Principal(Row):
    """A person known to us (R20)."""

    id: PrincipalId
    tenant: str
    name: str
    role: Role
    created_at: int
    revoked_at: int | None
    revoked_by: PrincipalId | None

    @property
    def is_operator(self) -> bool:
        """Whether an operator's rights are theirs; an admin's include them."""
        return self.role in (Role.OPERATOR, Role.ADMIN)


class Account(Row):
    """One platform account of a principal."""

    id: AccountId
    principal_id: PrincipalId
    channel: str
    space: str
    account_id: str
    bound_at: int
    bound_by: PrincipalId | None
    revoked_at: int | None


class LinkCode(Row):
    """A one-time code that binds an account to a principal; the code itself is nowhere, only its digest."""

    id: int
    principal_id: PrincipalId
    digest: str
    state: LinkState
    made_by: PrincipalId
    made_via: str
    made_at: int
    expires_at: int
    ended_at: int | None
    account: str | None
    used_from: str | None


class Case(Row):
    """The matter itself."""

    id: CaseId
    number: int
    tenant: str
    title: str
    state: CaseState
    waiting_on: WaitingOn
    origin: Origin
    priority: str
    requester: PrincipalId | None
    assignee: PrincipalId | None
    verified_as: str | None
    verified_how: str | None
    verified_at: int | None
    subject: str | None
    dedup_key: str | None
    follows: CaseId | None
    task_state: Annotated[dict[str, object], _DECODED]
    paraphrase: str
    opened_at: int
    updated_at: int
    resolved_at: int | None
    closed_at: int | None
    last_activity_at: int

    @property
    def label(self) -> str:
        """How people name it: `C-1042`."""
        return f"C-{self.number}"

    @property
    def is_live(self) -> bool:
        """New or in progress."""
        return self.state in (CaseState.NEW, CaseState.IN_PROGRESS)


class Binding(Row):
    """Case ↔ thread."""

    id: BindingId
    case_id: CaseId
    address: str
    state: BindingState
    private: bool
    bound_at: int
    ended_at: int | None
    reason: str | None


class Message(Row):
    """One thing said in a case. `body` is a list of parts, each with a `type` (`text` or `alert`)."""

    id: MessageId
    case_id: CaseId
    seq: int
    direction: Direction
    provenance: Provenance
    author: PrincipalId | None
    author_account: str | None
    body: Annotated[list[dict[str, object]], _DECODED]
    address: str | None
    platform_id: str | None
    turn_id: TurnId | None
    in_view: int | None
    at: int
    edited_at: int | None
    deleted_at: int | None

    @property
    def text(self) -> str:
        """The parts' text, one after the other."""
        return "\n".join(str(part.get("text", "")) for part in self.body)

    @property
    def by_a_person(self) -> bool:
        """Whether somebody said it; an alert and a notice of the system nobody did."""
        return self.provenance not in (Provenance.ALERT, Provenance.SYSTEM)

    @property
    def quoted_by(self) -> str | None:
        """Who has quoted it, where it was not said to us."""
        return next((str(part["quoted_by"]) for part in self.body if "quoted_by" in part), None)


class File(Row):
    """A file that was attached to a message. Name and type are its sender's words: never a path."""

    id: FileId
    case_id: CaseId
    message_id: MessageId
    channel: str
    reference: str
    name: str
    media_type: str
    size: int | None
    state: FileState
    reason: str | None
    digest: str | None
    attempts: int
    not_before: int
    kept_at: int | None


class Turn(Row):
    """One stimulus and the answer owed."""

    id: TurnId
    case_id: CaseId
    seq: int
    cause: Cause
    beside: TurnId | None
    state: TurnState
    acts_for: PrincipalId | None
    attempts: int
    not_before: int
    queued_at: int
    settled_at: int | None


class Run(Row):
    """One tenure of the lease on one turn (R16)."""

    id: RunId
    case_id: CaseId
    turn_id: TurnId
    attempt: int
    fence: int
    resumes: RunId | None
    agent: str
    model: str
    model_reported: str | None
    prompt_version: str | None
    tenant: str
    task_state: Annotated[dict[str, object] | None, _DECODED]
    started_at: int
    ended_at: int | None
    outcome: Outcome | None
    stop_reason: str | None
    escalated: bool
    model_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float
    error: str | None


class Step(Row):
    """One journalled act (R14). Which columns are set depends on `kind`; see `schema.sql`."""

    id: StepId
    case_id: CaseId
    turn_id: TurnId
    run_id: RunId
    seq: int
    kind: StepKind
    state: StepState
    started_at: int | None
    deadline: int | None
    finished_at: int | None
    error: str | None
    request: Annotated[dict[str, object] | None, _DECODED]
    request_digest: str | None
    response_seq: int | None
    finish_reason: str | None
    model_reported: str | None
    provider_response_id: str | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    model_step: StepId | None
    position: int | None
    call_id: str | None
    tool: str | None
    tool_version: str | None
    tier: Tier | None
    tenant: str
    args: str | None
    effect_key: str | None
    effect_nth: int
    idempotency_key: str | None
    gate_id: GateId | None
    result: str | None


class Gate(Row):
    """One held call and what became of it (R4 to R9)."""

    id: GateId
    case_id: CaseId
    turn_id: TurnId
    step_id: StepId
    kind: GateKind
    tenant: str
    asked_for: PrincipalId | None
    tool: str
    tool_version: str
    tier: Tier
    reversible: bool
    args: str
    changed_args: str | None
    statement: str
    because: str
    earlier_step: StepId | None
    effect_key: str | None
    effect_nth: int
    digest_shown: str
    digest_run: str | None
    four_eyes: bool
    on_expiry: OnExpiry
    reminders: Annotated[list[int], _DECODED]
    state: GateState
    asked_at: int
    expires_at: int
    verb: Verb | None
    decided_by: PrincipalId | None
    decided_at: int | None
    decided_via: str | None
    reason: str | None
    void_reason: str | None
    remind_at: int | None


class CardRow(Row):
    """One copy of a gate's card on a platform."""

    id: int
    gate_id: GateId
    address: str
    platform_id: str
    shown: str


class LeaseRow(Row):
    """Who has a case now, as stored; all but the fence may be empty."""

    case_id: CaseId
    fence: int
    kind: LeaseKind | None
    holder: str | None
    boot: str | None
    principal: PrincipalId | None
    taken_at: int | None
    until: int | None
    reminded_at: int | None


class TrailEntry(Row):
    """One thing that happened (R18)."""

    case_id: CaseId
    seq: int
    at: int
    kind: str
    actor: str
    meta: str
    nonce: str | None
    content: str | None
    content_hash: str
    prev_hash: str
    hash: str


class OutboxRow(Row):
    """One thing to say on a channel (R27)."""

    id: OutboxId
    case_id: CaseId
    message_id: MessageId | None
    gate_id: GateId | None
    turn_id: TurnId | None
    address: str
    channel: str
    kind: OutboxKind
    body: str | None
    target: str | None
    state: OutboxState
    attempts: int
    not_before: int
    boot: str | None
    platform_id: str | None
    possible_duplicate: bool
    error: str | None
    put_at: int
    sent_at: int | None


class TranscriptRow(Row):
    """One model message, exactly as sent or received (R17)."""

    case_id: CaseId
    seq: int
    turn_id: TurnId
    step_id: StepId | None
    kind: str
    message: str
    tokens: int


class Compaction(Row):
    """What stands for the transcript up to `upto` in the windows after it; `text` exactly as it is sent (R19)."""

    id: CompactionId
    case_id: CaseId
    upto: int
    text: str
    tokens: int
    made_by: MadeBy
    step_id: StepId | None
    at: int


class Paraphrase(Row):
    """What the model wrote about a case, over its trail up to `recorded` and its transcript up to `said`."""

    id: ParaphraseId
    case_id: CaseId
    recorded: int
    said: int
    text: str
    step_id: StepId
    at: int


class Episode(Row):
    """One firing of one alert."""

    id: int
    case_id: CaseId
    fingerprint: str
    starts_at: int
    state: EpisodeState
    ends_at: int | None
    labels: Annotated[dict[str, str], _DECODED]
    annotations: Annotated[dict[str, str], _DECODED]
    first_seen_at: int
    last_seen_at: int


class Hold(Row):
    """While it stands, no approval is spent: on one tool, or on all (R9)."""

    id: int
    tool: str | None
    reason: str
    placed_by: PrincipalId
    placed_at: int
    lifted_by: PrincipalId | None
    lifted_at: int | None
