"""A real Alertmanager posts to the running service: one case per group, its members by fingerprint, its end."""

import asyncio
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx
import pytest

from bot.words.when import MINUTE, iso
from tests.api.rig import LOOPBACK, Json, Served, served, until

PROGRAM = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
TOKEN = "only-alertmanager-knows"
CONFIG = f"""
global:
  resolve_timeout: 1h
route:
  receiver: casebound
  group_by: [alertname, cluster]
  group_wait: 10ms
  group_interval: 100ms
  repeat_interval: 300ms
receivers:
  - name: casebound
    webhook_configs:
      - url: http://{LOOPBACK}:PORT/alerts/alertmanager
        send_resolved: true
        http_config:
          authorization: {{type: Bearer, credentials: {TOKEN}}}
"""
LISTENS = re.compile(rb"Listening on.* address=127\.0\.0\.1:(\d+)")

pytestmark = [
    pytest.mark.alertmanager,
    pytest.mark.skipif(
        PROGRAM is None, reason="there is no prometheus-alertmanager here; .ci/run installs it (Debian's package)"
    ),
]


@dataclass(frozen=True)
class Alertmanager:
    """The real program, on a port of its own."""

    http: httpx.AsyncClient
    started: int

    async def fires(self, **labels: str) -> None:
        """Something fires, and goes on firing until it is said to be over."""
        await self._post(labels, {"startsAt": iso(self.started)})

    async def is_over(self, **labels: str) -> None:
        """It is over, since a moment ago."""
        await self._post(labels, {"startsAt": iso(self.started), "endsAt": iso(self.started + 1)})

    async def _post(self, labels: dict[str, str], times: dict[str, str]) -> None:
        alert = {"labels": labels, "annotations": {"summary": f"{labels['instance']} is almost full"}, **times}
        answer = await self.http.post("/api/v2/alerts", json=[alert])
        assert answer.status_code == 200, answer.text


@asynccontextmanager
async def alertmanager(folder: Path, receiver_port: int, started: int) -> AsyncGenerator[Alertmanager]:
    """Run it, alone and on loopback, until the block is left."""
    config = folder / "alertmanager.yml"
    config.write_text(CONFIG.replace("PORT", str(receiver_port)))
    program = await asyncio.create_subprocess_exec(
        str(PROGRAM), f"--config.file={config}", f"--storage.path={folder / 'storage'}",
        f"--web.listen-address={LOOPBACK}:0", "--cluster.listen-address=",
        stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert program.stderr is not None
    try:
        port = await listening(program.stderr)
        drained = asyncio.create_task(program.stderr.read())
        async with httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{port}") as http:
            yield Alertmanager(http, started)
        program.terminate()
        await drained
    finally:
        if program.returncode is None:
            program.kill()
        await program.wait()


async def listening(log: asyncio.StreamReader) -> int:
    """The port it chose, from its own log."""
    said = b""
    async with asyncio.timeout(30):
        async for line in log:
            said += line
            if (found := LISTENS.search(line)) is not None:
                return int(found[1])
    raise AssertionError(f"it ended before it listened: {said.decode(errors='replace')}")


async def taken(web: Served) -> float:
    """How many notifications were stored."""
    numbers = await web.metrics()
    return numbers.get(("casebound_http_requests_total", "POST", "/alerts/alertmanager", "200"), 0)


async def members(web: Served, label: object) -> dict[str, object]:
    """The members of a case's group, by instance."""
    episodes = cast("list[Json]", (await web.get(f"/cases/{label}"))["episodes"])
    return {str(cast("Json", episode["labels"])["instance"]): episode["state"] for episode in episodes}


async def members_are(web: Served, label: object, **expected: str) -> None:
    """Wait until they are so."""

    async def so() -> bool | None:
        return True if await members(web, label) == expected else None

    await until(so)


async def stored(web: Served, more: int) -> None:
    """Wait until so many more notifications have been stored."""
    before = await taken(web)

    async def so() -> bool | None:
        return True if await taken(web) >= before + more else None

    await until(so)


async def test_one_case_per_group_from_the_first_alert_to_the_last(db: Path, tmp_path: Path) -> None:
    disk = {"alertname": "DiskAlmostFull", "cluster": "eu1", "severity": "critical", "mountpoint": str(tmp_path)}
    chairs = {"alertname": "OutOfChairs", "cluster": "eu1"}
    async with (
        served(db, alerts_token=TOKEN, names=("db-1", "db-2")) as web,
        # it began a minute ago: so what ends now has begun before
        alertmanager(tmp_path, web.port, web.clock.now() - MINUTE) as manager,
    ):
        await manager.fires(**disk, instance="db-1")

        async def opened() -> Json | None:
            found = await web.rows("/cases")
            return found[0] if found else None

        case = await until(opened)
        assert (case["origin"], case["priority"], case["title"]) == (
            "alert", "critical", "db-1 is almost full"
        )  # fmt: skip
        assert case["subject"] == (
            f'alertname="DiskAlmostFull", cluster="eu1", instance="db-1", mountpoint="{tmp_path}", severity="critical"'
        )
        label = case["label"]

        # a second member of the group joins the case
        await manager.fires(**disk, instance="db-2")
        await members_are(web, label, **{"db-1": "firing", "db-2": "firing"})
        await web.case_is(label, waiting_on="approval")

        # repeated notifications open nothing and say nothing
        before = [await web.rows(f"/cases/{label}/{what}") for what in ("messages", "trail")]
        await stored(web, more=3)
        assert [await web.rows(f"/cases/{label}/{what}") for what in ("messages", "trail")] == before
        assert [one["label"] for one in await web.rows("/cases")] == [label]

        # another group is another case
        await manager.fires(**chairs, instance="hq")

        async def another() -> Json | None:
            return next((one for one in await web.rows("/cases") if one["label"] != label), None)

        other = (await until(another))["label"]
        assert await members(web, other) == {"hq": "firing"}

        # a member that resolved is recorded, and the group still fires
        await manager.is_over(**disk, instance="db-1")
        await members_are(web, label, **{"db-1": "resolved", "db-2": "firing"})
        assert (await web.get(f"/cases/{label}"))["state"] == "in_progress"

        # the last one ends the group: its gate is withdrawn, its case resolved, the other case goes on
        await manager.is_over(**disk, instance="db-2")
        ended = await web.case_is(label, state="resolved")
        [gate] = cast("list[Json]", ended["gates"])
        assert (gate["state"], gate["reason"]) == ("withdrawn", "the alert resolved")
        assert await members(web, label) == {"db-1": "resolved", "db-2": "resolved"}
        kinds = [entry["kind"] for entry in await web.rows(f"/cases/{label}/trail")]
        assert kinds.count("alert.fired") == 2
        assert kinds.count("alert.member_resolved") == 2
        assert kinds[-1] == "case.resolved"
        assert "alert.group_resolved" in kinds
        assert (await web.get(f"/cases/{label}/trail/verify"))["ok"] is True
        await web.case_is(other, state="in_progress", waiting_on="operator")


async def test_with_a_wrong_token_it_opens_nothing(db: Path, tmp_path: Path) -> None:
    async with (
        served(db, alerts_token="another one than Alertmanager has") as web,
        alertmanager(tmp_path, web.port, web.clock.now() - MINUTE) as manager,
    ):
        await manager.fires(alertname="OutOfChairs", cluster="eu1", instance="hq")

        async def refused() -> bool | None:
            answer = await web.anybody.get("/metrics")
            return True if 'route="/alerts/alertmanager",status="401"' in answer.text else None

        await until(refused)
        assert await web.rows("/cases") == []
