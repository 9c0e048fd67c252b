"""The main job, with real processes: an alert, a look at the real machine, a gate, a kill, a yes from elsewhere."""

import json
import shlex
import socket
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from installation import Installation

pytestmark = [pytest.mark.kill, pytest.mark.timeout(180)]

_R16 = {
    "agent", "model", "model_reported", "prompt_version", "tenant", "task_state", "started_at", "ended_at", "outcome",
    "stop_reason", "input_tokens", "output_tokens", "cached_tokens", "cost_usd", "provider_response_ids", "steps",
}  # fmt: skip


def _post_what_curl_would(line: str) -> None:
    """Do what the printed line does, on machines with and without curl."""
    words = shlex.split(line)
    request = urllib.request.Request(
        words[-1], data=words[words.index("-d") + 1].encode(), headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


def test_the_story_of_the_first_screen_survives_a_kill_between_question_and_answer(
    install: Callable[..., Installation],
) -> None:
    """R1, R8, R9, R13, R16, R18: one alert, one case, one gate, one effect, the whole story on record."""
    here = install()
    here.start()
    demo = here.folder / "casebound.db.demo-cache"
    assert any(demo.rglob("*.bin"))
    _post_what_curl_would(_curl(here))
    gate = here.open_gate()
    assert gate["tool"] == "host.clear_cache"
    looked = [step for step in _steps(here) if step.get("tool") == "host.disk_usage"]
    assert looked[0]["result"]["content"]["total_gb"] > 0  # the real disk

    here.kill()
    assert any(demo.rglob("*.bin")), "a kill decides nothing (R8)"
    here.start()
    assert here.json("gate", "list")["gates"][0]["state"] == "open"
    here.cli("gate", "approve", str(gate["id"]), "--reason", "go ahead")

    here.await_(lambda: here.case("C-1001")["state"], lambda state: state == "resolved")
    assert not any(path.is_file() for path in demo.rglob("*"))
    cleared = [step for step in _steps(here) if step.get("tool") == "host.clear_cache"]
    assert [step["state"] for step in cleared] == ["finished"]
    assert cleared[0]["result"]["content"]["removed_files"] == 4
    entries = here.json("trail", "show", "C-1001")["entries"]
    started = [e for e in entries if e["kind"] == "tool.started" and e["meta"]["tool"] == "host.clear_cache"]
    assert len(started) == 1
    assert here.json("trail", "verify", "C-1001")["ok"] is True
    runs = here.json("run", "list")["runs"]
    assert {run["outcome"] for run in runs} == {"parked", "answered"}
    record = here.json("run", "show", str(runs[0]["id"]))
    assert record.keys() >= _R16
    assert record["model"] == "playbook"
    assert record["model_reported"] == "playbook:disk-filling"
    assert record["provider_response_ids"]


def test_a_killed_service_leaves_no_lease_in_the_way(install: Callable[..., Installation]) -> None:
    """R10: the one service frees what its own earlier boots held; nobody waits ten minutes for a dead process."""
    here = install()
    here.start()
    here.cli("case", "open", "what is wrong with this machine?", "--as", "you")
    here.await_(lambda: here.api("runs")["runs"])
    here.kill()
    here.start()
    here.await_(lambda: here.api("runs")["runs"], lambda runs: all(run["outcome"] for run in runs))
    answered = [run for run in here.api("runs")["runs"] if run["outcome"] == "answered"]
    assert len(answered) == 1
    said = [m for m in here.api("cases/C-1001/messages")["messages"] if m["provenance"] == "assistant"]
    assert len(said) == 1


def _curl(here: Installation) -> str:
    """The line that `up` prints; its alert, sent to where it listens now."""
    instance = socket.gethostname()
    alert = {
        "version": "4", "groupKey": '{}:{alertname="DiskAlmostFull"}', "status": "firing", "receiver": "exercise",
        "groupLabels": {"alertname": "DiskAlmostFull"}, "commonAnnotations": {}, "externalURL": "",
        "commonLabels": {"alertname": "DiskAlmostFull", "instance": instance, "mountpoint": "/"},
        "alerts": [{
            "status": "firing", "labels": {"alertname": "DiskAlmostFull", "instance": instance, "mountpoint": "/"},
            "annotations": {"summary": "the disk is almost full"}, "startsAt": "2026-11-30T12:00:00Z",
            "fingerprint": "0435ec4597511fbb",
        }],
    }  # fmt: skip
    return f"curl -d {shlex.quote(json.dumps(alert))} {here.url}/alerts/alertmanager"


def _steps(here: Installation) -> list[dict[str, Any]]:
    return [step for run in here.api("runs")["runs"] for step in here.api(f"runs/{run['id']}")["steps"]]
