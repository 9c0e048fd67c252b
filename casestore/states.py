"""The closed vocabularies of the store, each spelled once; `schema.sql` repeats them as CHECK constraints (tested)."""

from enum import StrEnum


class CaseState(StrEnum):
    """Where a case stands (R2)."""

    NEW = "new"
    IN_PROGRESS = "in_progress"
    RESOLVED = "resolved"
    CLOSED = "closed"
    CANCELLED = "cancelled"


class WaitingOn(StrEnum):
    """Whom a case in progress waits for; empty while the assistant has it (R2)."""

    NOBODY = ""
    REQUESTER = "requester"
    APPROVAL = "approval"
    OPERATOR = "operator"
    HUMAN = "human"


class Origin(StrEnum):
    """Where a case came from; nothing in its lifecycle depends on it (R1)."""

    SLACK = "slack"
    DISCORD = "discord"
    WEB = "web"
    CONSOLE = "console"
    CLI = "cli"
    ALERT = "alert"
    MEMORY = "memory"


class BindingState(StrEnum):
    """`lost`: the platform took the thread away; `ended`: we let go of it (R3)."""

    LIVE = "live"
    LOST = "lost"
    ENDED = "ended"


class Direction(StrEnum):
    """Towards us, or from us."""

    IN = "in"
    OUT = "out"


class Provenance(StrEnum):
    """Who speaks, relative to the case (R23)."""

    REQUESTER = "requester"
    OPERATOR = "operator"
    BYSTANDER = "bystander"
    ALERT = "alert"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class FileState(StrEnum):
    """`wanted` → `kept`, or not to be had: `refused`, or `gone` where it was or is no more."""

    WANTED = "wanted"
    KEPT = "kept"
    REFUSED = "refused"
    GONE = "gone"


class Cause(StrEnum):
    """What a turn answers."""

    MESSAGE = "message"
    ALERT = "alert"
    SCHEDULE = "schedule"


class TurnState(StrEnum):
    """`queued`, `running` and `parked` are unsettled; at most one unsettled turn per case (R7)."""

    QUEUED = "queued"
    RUNNING = "running"
    PARKED = "parked"
    SETTLED = "settled"
    FAILED = "failed"


class Outcome(StrEnum):
    """How a run ended (R16)."""

    ANSWERED = "answered"
    PARKED = "parked"
    HANDED_OFF = "handed_off"
    REFUSED = "refused"
    LIMIT = "limit"
    ERROR = "error"
    LEASE_LOST = "lease_lost"
    CRASHED = "crashed"


class MadeBy(StrEnum):
    """Whose words a text is: the model's, or the engine's where the model had none."""

    MODEL = "model"
    ENGINE = "engine"


class StepKind(StrEnum):
    """A model call, or one tool call of its response."""

    MODEL = "model"
    TOOL = "tool"


class StepState(StrEnum):
    """`waiting` → `started` → `finished` | `failed` | `unknown`; or `waiting` → `refused`, never run (R14)."""

    WAITING = "waiting"
    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    UNKNOWN = "unknown"
    REFUSED = "refused"


class Tier(StrEnum):
    """What a tool *is*; a tool nobody classified is consequential (R24)."""

    READ_ONLY = "read_only"
    ROUTINE = "routine"
    CONSEQUENTIAL = "consequential"


class GateKind(StrEnum):
    """What is asked: may it be done, may we look, did it happen."""

    APPROVAL = "approval"
    CONSENT = "consent"
    OUTCOME = "outcome"


class GateState(StrEnum):
    """Everything but `open` is final, except that `approved` may become `void` before it is spent (R9)."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    VOID = "void"


class Verb(StrEnum):
    """What a person may answer; the last three only to an `outcome` gate."""

    APPROVE = "approve"
    DENY = "deny"
    REVISE = "revise"
    HAPPENED = "happened"
    NOT_HAPPENED = "not_happened"
    RERUN = "rerun"


class OnExpiry(StrEnum):
    """Both are denials; `handoff` gives the case to an operator instead of letting the assistant go on."""

    TELL = "tell"
    HANDOFF = "handoff"


class LeaseKind(StrEnum):
    """Who works a case: an engine's run, for a time, or a person, until handed back (R10, R12)."""

    RUN = "run"
    HUMAN = "human"


class OutboxKind(StrEnum):
    """What is to be done on a channel."""

    MESSAGE = "message"
    CARD = "card"
    EDIT = "edit"
    DELETE = "delete"


class OutboxState(StrEnum):
    """`due` → `sending` → `sent`, or `dead`; `held` while a person has the case (R12, R27)."""

    DUE = "due"
    HELD = "held"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"


class Role(StrEnum):
    """What a principal may do; an admin may all an operator may."""

    REQUESTER = "requester"
    OPERATOR = "operator"
    ADMIN = "admin"


class LinkState(StrEnum):
    """Where a one-time code stands; one that is open may still be over."""

    OPEN = "open"
    USED = "used"
    VOID = "void"


class EpisodeState(StrEnum):
    """Whether one alert of a group still fires."""

    FIRING = "firing"
    RESOLVED = "resolved"
