"""Rows as scripts read them, one shape for the API and for `--json`: the columns' names, times as ISO 8601 UTC.

A column that holds JSON is that JSON. A time that was never set is null. Nothing is left out for being empty, so a
script may rely on every key; only a step has the keys of its kind alone.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue, TypeAdapter

from bot.words.when import iso
from casestore.canonical import decode
from casestore.models import (
    Account,
    Binding,
    Case,
    Episode,
    File,
    Gate,
    LinkCode,
    Message,
    Principal,
    Row,
    Run,
    Step,
    TrailEntry,
)
from casestore.states import Role
from casestore.trail import Verification
from channels.messages import Card

Document = dict[str, JsonValue]
"""One JSON object."""

_TIMES = frozenset({"at", "deadline", "not_before", "until"})
_TEXT_THAT_IS_JSON = frozenset({"args", "changed_args", "content", "meta", "result"})
_OF_A_MODEL_CALL = (
    "request", "request_digest", "response_seq", "finish_reason", "model_reported", "provider_response_id",
    "input_tokens", "output_tokens", "cached_tokens", "cost_usd",
)  # fmt: skip
_OF_A_TOOL_CALL = (
    "model_step", "position", "call_id", "tool", "tool_version", "tier", "args", "effect_key", "effect_nth",
    "idempotency_key", "gate_id", "result",
)  # fmt: skip
_JSON = TypeAdapter[JsonValue](JsonValue)


def case_json(case: Case) -> Document:
    """A case, with the `label` that people name it by."""
    return {"label": case.label, **row_json(case)}


def binding_json(binding: Binding) -> Document:
    """Case ↔ thread."""
    return row_json(binding)


def message_json(message: Message, files: Sequence[File] = ()) -> Document:
    """One thing said; `body` is the list of its parts, `files` what was attached to it."""
    return {**row_json(message), "files": [row_json(file) for file in files]}


def gate_json(
    gate: Gate, *, case: Case | None = None, roles: Sequence[Role] | None = None, card: Card | None = None
) -> Document:  # fmt: skip
    """A gate; on request with its case's label, the roles that may decide it, and the card as it is shown now."""
    document = row_json(gate)
    if case is not None:
        document = {"case": case.label, **document}
    if roles is not None:
        document["roles"] = [*sorted(str(role) for role in roles)]
    if card is not None:
        document["card"] = card.model_dump(mode="json")
    return document


def run_json(run: Run, steps: Sequence[Step] | None = None, *, case: Case | None = None) -> Document:
    """A run's record; with its steps it is everything that R16 names."""
    document = row_json(run)
    if case is not None:
        document = {"case": case.label, **document}
    if steps is not None:
        document["provider_response_ids"] = [s.provider_response_id for s in steps if s.provider_response_id]
        document["steps"] = [step_json(step) for step in steps]
    return document


def step_json(step: Step) -> Document:
    """One journalled act, without the columns of the other kind; a call's `result` is as it was returned."""
    others = _OF_A_MODEL_CALL if step.tool is not None else _OF_A_TOOL_CALL
    return {name: value for name, value in row_json(step).items() if name not in others}


def trail_json(entry: TrailEntry) -> Document:
    """One entry of the trail, with what it takes to recompute its hash; erased content is null."""
    return row_json(entry)


def verification_json(verification: Verification) -> Document:
    """What `trail verify` found; `ok` where the chain holds."""
    return {
        "ok": not verification.problems,
        "entries": verification.entries,
        "erased": verification.erased,
        "head": str(verification.head),
        "problems": list(verification.problems),
    }


def episode_json(episode: Episode) -> Document:
    """One alert of a case's group."""
    return row_json(episode)


def principal_json(principal: Principal, accounts: Sequence[Account] | None = None) -> Document:
    """A principal, with the accounts that speak for them where they are given."""
    document = row_json(principal)
    if accounts is not None:
        document["accounts"] = [row_json(account) for account in accounts]
    return document


def link_json(row: LinkCode, principal: Principal) -> Document:
    """A one-time code, without its digest: whose, by whom and until when, and which account it has let in."""
    document = row_json(row)
    del document["digest"]
    return {**document, "principal": principal.name}


def row_json(row: Row) -> Document:
    """Any row: times as text, JSON as what it says."""
    return {name: _value(name, value) for name, value in cast("Mapping[str, object]", row.model_dump()).items()}


def _value(name: str, value: object) -> JsonValue:
    if isinstance(value, int) and not isinstance(value, bool) and (name in _TIMES or name.endswith("_at")):
        return iso(value)
    if name == "reminders":
        return [iso(at) for at in cast("list[int]", value)]
    if isinstance(value, str) and name in _TEXT_THAT_IS_JSON:
        return cast("JsonValue", decode(value))
    return _JSON.validate_python(value)
