"""Notifications as Alertmanager sends them, made to measure."""

import json
from pathlib import Path
from typing import cast

from bot.alerts import alertmanager
from bot.alerts.group import Group
from tests.conftest import NOW

DATA = Path(__file__).with_name("data")
STARTED = "2026-11-30T11:55:19Z"
LATER = "2026-11-30T12:40:00.123456789Z"
ZERO = "0001-01-01T00:00:00Z"


def sent(name: str) -> bytes:
    """What a real Alertmanager sent."""
    return (DATA / f"{name}.json").read_bytes()


def alert(
    name: str, *, resolved: bool = False, starts: str = STARTED, ends: str | None = None,
    labels: dict[str, object] | None = None, annotations: dict[str, object] | None = None,
) -> dict[str, object]:  # fmt: skip
    """One member: its name is its instance and its fingerprint."""
    return {
        "status": "resolved" if resolved else "firing",
        "labels": {"alertname": "DiskAlmostFull", "instance": name, **(labels or {})},
        "annotations": {"summary": f"{name} is full"} if annotations is None else annotations,
        "startsAt": starts,
        "endsAt": ends or ("2026-11-30T12:30:00Z" if resolved else ZERO),
        "generatorURL": "",
        "fingerprint": name,
    }


def chairs(name: str = "a", **more: object) -> dict[str, object]:
    """One member that no playbook knows about, so that nothing is looked at because of it."""
    return {**alert(name, labels={"alertname": "OutOfChairs"}), **more}


def notification(*alerts: dict[str, object], key: str = "disks", **fields: object) -> dict[str, object]:
    """The members of one group."""
    firing = any(one["status"] == "firing" for one in alerts)
    return {
        "version": "4",
        "groupKey": f'{{}}:{{alertname="{key}"}}',
        "truncatedAlerts": 0,
        "status": "firing" if firing else "resolved",
        "receiver": "bot",
        "groupLabels": {"alertname": "DiskAlmostFull"},
        "commonLabels": {"alertname": "DiskAlmostFull"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example",
        "alerts": list(alerts),
        **fields,
    }


def body(*alerts: dict[str, object], key: str = "disks", **fields: object) -> bytes:
    """The same, as it is posted."""
    return json.dumps(notification(*alerts, key=key, **fields)).encode()


def group(*alerts: dict[str, object], key: str = "disks", **fields: object) -> Group:
    """The same, as it is read."""
    return alertmanager.read(body(*alerts, key=key, **fields), NOW)


def labels_of(part: dict[str, object]) -> dict[str, str]:
    """The labels of a part of a message."""
    return cast("dict[str, str]", part["labels"])
