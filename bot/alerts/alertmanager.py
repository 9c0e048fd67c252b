"""Reading what Alertmanager's webhook sends (version 4 of its payload), strict in what we need and bounded.

Fields that we do not know are ignored: real programs add some. Values of labels and annotations are cut at 1,000
characters, with a mark; a group of 20,000 members is read whole.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from bot.alerts.group import Group, cut
from bot.errors import CaseboundError
from bot.words.when import EPOCH
from casestore.canonical import digest
from casestore.episodes import Firing
from channels.storable import Storable

SOURCE = "alertmanager"
MOST_CHARACTERS = 1_000
MOST_LABELS = 64

_NAME = 200
_KEY = 1_000
_LATEST = 253_402_300_799_999  # the last millisecond of the year 9999
_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_ASK = "Send what Alertmanager's webhook sends, version 4."


class BadAlert(CaseboundError, ValueError):
    """The notification cannot be read; one sentence says what is wrong with it."""


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


_Labels = dict[Storable, Storable]


class _Alert(_Read):
    status: Literal["firing", "resolved"]
    labels: _Labels
    annotations: _Labels = {}
    starts_at: str = Field(alias="startsAt")
    ends_at: str | None = Field(default=None, alias="endsAt")
    fingerprint: Annotated[Storable, Field(min_length=1, max_length=_NAME)]


class _Notification(_Read):
    version: Literal["4"]
    receiver: Annotated[Storable, Field(min_length=1)]
    status: Literal["firing", "resolved"]
    group_key: Annotated[Storable, Field(min_length=1, alias="groupKey")]
    group_labels: _Labels = Field(default={}, alias="groupLabels")
    common_labels: _Labels = Field(default={}, alias="commonLabels")
    common_annotations: _Labels = Field(default={}, alias="commonAnnotations")
    truncated: int = Field(default=0, ge=0, le=1_000_000_000, alias="truncatedAlerts")
    alerts: Annotated[list[_Alert], Field(min_length=1), FailFast()]


def read(body: bytes, now: int) -> Group:
    """The group that a notification is about. `now`: when an alert ended that says so without saying when.

    Raises `BadAlert`.
    """
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, nested without end
        raise BadAlert(f"The notification is not JSON ({_why(error)}). {_ASK}") from None
    if not isinstance(found, Mapping):
        raise BadAlert(f"The notification has to be a JSON object. {_ASK}")
    try:
        sent = _Notification.model_validate(found)
    except ValidationError as error:
        raise BadAlert(f"The notification cannot be read: {_first(error)}. {_ASK}") from None
    members = {
        (member.fingerprint, member.starts_at): member
        for member in (_member(alert, n, now) for n, alert in enumerate(sent.alerts))
    }
    return Group(
        source=SOURCE,
        receiver=cut(sent.receiver, _NAME),
        key=_key(sent.receiver, sent.group_key),
        members=tuple(members.values()),
        truncated=sent.truncated,
        group_labels=_bounded(sent.group_labels),
        common_labels=_bounded(sent.common_labels),
        common_annotations=_bounded(sent.common_annotations),
    )


def _member(alert: _Alert, n: int, now: int) -> Firing:
    """One alert; what it says of itself counts, whatever the group's status says."""
    starts_at = _ms(alert.starts_at, where := f"alerts[{n}].startsAt")
    if not 0 <= starts_at <= _LATEST:
        raise BadAlert(f"The notification cannot be read: {where} is before 1970 or after 9999. {_ASK}")
    ends_at = None
    if alert.status == "resolved":
        ends_at = now if alert.ends_at is None else _ms(alert.ends_at, f"alerts[{n}].endsAt")
        if not 0 <= ends_at <= _LATEST:  # Go's zero time
            ends_at = now
    return Firing(
        fingerprint=alert.fingerprint,
        starts_at=starts_at,
        ends_at=ends_at,
        labels=_bounded(alert.labels),
        annotations=_bounded(alert.annotations),
    )


def _ms(text: str, where: str) -> int:
    """A time of RFC 3339 in ms UTC; digits beyond the millisecond are dropped."""
    found = _RFC3339.fullmatch(text)
    try:
        if found is None:
            raise ValueError(text)
        date, time, fraction, zone = found.groups()
        milliseconds = (fraction or ".")[1:4].ljust(3, "0")
        at = datetime.fromisoformat(f"{date}T{time}.{milliseconds}{'+00:00' if zone in 'Zz' else zone}")
    except ValueError:
        raise BadAlert(f"The notification cannot be read: {where} is not a time as in RFC 3339. {_ASK}") from None
    since = at - EPOCH
    return since.days * 86_400_000 + since.seconds * 1_000 + since.microseconds // 1_000


def _key(receiver: str, group_key: str) -> str:
    """The name of the group, exact; of a very long one the head and a digest of the whole."""
    key = f"{SOURCE}:{receiver}:{group_key}"
    return key if len(key) <= _KEY else f"{key[:_KEY]}…{digest(key)}"


def _bounded(texts: Mapping[str, str]) -> dict[str, str]:
    kept = {cut(name, _NAME): cut(text, MOST_CHARACTERS) for name, text in list(texts.items())[:MOST_LABELS]}
    if (more := len(texts) - MOST_LABELS) > 0:
        kept["…"] = f"{more:,} more were left out"
    return kept


def _why(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "nested too deeply" if isinstance(error, RecursionError) else "it is not UTF-8"


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, as `alerts[3].labels should be a valid dictionary`; no value is repeated."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ""
    for part in first["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f"{'.' if where else ''}{cut(part, 40)}"
    match first["type"]:
        case "missing":
            return f"{where} is missing"
        case "too_short" | "string_too_short":
            return f"{where} is empty"
        case "too_long" | "string_too_long":
            return f"{where} is too long"
        case _:
            pass
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{where} {message[0].lower()}{message[1:]}"
