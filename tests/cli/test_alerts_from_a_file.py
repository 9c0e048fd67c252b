"""`casebound alert send`: the same intake as over HTTP, with no service in between (R1, R29)."""

import json
from pathlib import Path
from typing import Any

import pytest

from casestore.migrate import migrate
from tests.cli.command_line import Cli, call
from tests.conftest import World


def _alert(status: str = "firing", starts: str = "2026-11-30T10:00:00Z") -> dict[str, Any]:
    labels = {"alertname": "DiskAlmostFull", "instance": "web-1", "mountpoint": "/", "severity": "critical"}
    annotations = {"summary": "The disk of web-1 is almost full"}
    one = {
        "status": status, "labels": labels, "annotations": annotations, "startsAt": starts,
        "endsAt": "2026-11-30T11:00:00Z", "fingerprint": "0123456789abcdef",
    }  # fmt: skip
    return {
        "version": "4", "groupKey": "{}:{}", "status": status, "receiver": "casebound", "groupLabels": {},
        "commonLabels": labels, "commonAnnotations": annotations, "externalURL": "", "alerts": [one],
    }  # fmt: skip


async def test_an_alert_opens_one_case_however_often_it_is_sent(cli: Cli, world: World, db: Path) -> None:
    db.with_name("alert.json").write_text(json.dumps(_alert()))
    told = await cli.done("alert", "send", "alert.json")
    assert told.splitlines()[0] == "C-1001: opened. The disk of web-1 is almost full"
    assert "casebound case show C-1001" in told
    assert (await cli.done("alert", "send", "alert.json")).startswith("C-1001: nothing new.")
    listed = (await cli("case", "list", "--json")).json["cases"]
    assert [(case["label"], case["origin"], case["priority"]) for case in listed] == [("C-1001", "alert", "critical")]
    shown = await cli.done("case", "show", "C-1001")
    assert "Alerts     DiskAlmostFull, fires since" in shown
    assert "instance=web-1" in shown
    assert "alertmanager opened the case" in shown


async def test_the_end_of_an_alert_is_told(cli: Cli, world: World, db: Path) -> None:
    for status, says in (("firing", "opened"), ("resolved", "all members have resolved"), ("resolved", "nothing new")):
        db.with_name("alert.json").write_text(json.dumps(_alert(status)))
        assert says in await cli.done("alert", "send", "alert.json")
    shown = await cli.done("case", "show", "C-1001")
    assert "DiskAlmostFull, resolved" in shown
    assert "alertmanager resolved the case: the alert resolved" in shown
    assert "Stands     resolved" in shown


async def test_an_end_without_a_beginning_opens_nothing(cli: Cli, world: World, db: Path) -> None:
    db.with_name("alert.json").write_text(json.dumps(_alert("resolved")))
    assert (await cli.done("alert", "send", "alert.json")).startswith("Ignored")
    assert (await cli("case", "list", "--all", "--json")).json["cases"] == []


@pytest.mark.timeout(180)
def test_an_alert_may_come_from_stdin(tmp_path: Path) -> None:
    migrate(tmp_path / "casebound.db")
    ended = call(tmp_path, "alert", "send", "-", stdin=json.dumps(_alert()))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("C-1001: opened.")
    assert "not JSON" in call(tmp_path, "alert", "send", "-", stdin="hello").line
