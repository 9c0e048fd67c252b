"""A store that cannot answer is "try again", never "no such case", and health says which part it is (R15, R29)."""

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from bot.degraded.spool import Used
from casestore.locks import beside
from casestore.models import RunId, StepId
from casestore.tx import Tx
from channels.errors import AuthFailed
from channels.memory import MemoryChannel
from tests.alerts.notifications import body, chairs
from tests.api.rig import Json, Served, served, until
from tests.conftest import USAGE

_SPOOLED = 64 * 1024
"""Bytes that are more than enough for the spool, and fewer than stand in the log."""


async def test_everything_says_try_again_and_nothing_says_not_found(web: Served) -> None:
    await web.service.store.close()
    asks: list[tuple[str, str, object]] = [
        ("GET", "/cases", None), ("GET", "/cases/C-1001", None), ("GET", "/cases/C-999999", None),
        ("GET", "/gates/1", None), ("GET", "/runs/1", None), ("GET", "/cases/C-1001/trail", None),
        ("POST", "/cases", {"text": "x"}), ("POST", "/cases/C-1001/messages", {"text": "x"}),
        ("POST", "/cases/C-1001/resolve", {}), ("POST", "/gates/1/decide", {"verb": "deny", "digest": "0" * 8}),
    ]  # fmt: skip
    for method, path, ask in asks:
        answer = await web.api.request(method, f"/api/v1{path}", json=ask)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), path
        assert answer.json() == {
            "error": "The store is closed: this process is ending. Try again once it runs."
        }  # fmt: skip
    answer = await web.anybody.post("/alerts/alertmanager", content=body(chairs()))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")

    assert (await web.anybody.get("/healthz")).json() == {"alive": True}
    ready = await web.anybody.get("/readyz")
    assert (ready.status_code, ready.json()["ready"], ready.headers["retry-after"]) == (503, False, "5")
    assert ready.json()["parts"]["store"]["ok"] is False
    numbers = await web.metrics()
    assert numbers["casebound_store_healthy",] == 0
    assert not any(name[0] == "casebound_cases" for name in numbers)
    assert numbers["casebound_http_requests_total", "POST", "/alerts/alertmanager", "503"] == 1


async def test_a_full_disk_refuses_what_would_be_stored_and_is_over_when_there_is_room(web: Served, db: Path) -> None:
    web.service.schedule.stop()  # no checkpoint, which would empty what is full here
    opened = await web.post("/cases", {"text": "x" * 1_000_000}, status=201)
    await web.case_is(opened["label"], waiting_on="operator")
    with no_file_grows_beyond(beside(db, "-wal").stat().st_size):
        ready = await web.anybody.get("/readyz")
        assert ready.status_code == 503
        assert "Try again" in ready.json()["parts"]["store"]["why"]
        alerted = await web.anybody.post("/alerts/alertmanager", content=body(chairs()))
        assert alerted.status_code == 503
        await web.post(f"/cases/{opened['label']}/messages", {"text": "hello?"}, status=503)
        assert (await web.get(f"/cases/{opened['label']}"))["label"] == opened["label"]
        assert (await web.metrics())["casebound_store_healthy",] == 0
    parts = cast("Json", (await web.anybody.get("/readyz")).json()["parts"])
    assert parts["store"] == {"ok": True}
    assert (await web.notify(body(chairs())))["what"] == "opened"
    assert len(await web.rows("/cases")) == 2


@contextmanager
def no_file_grows_beyond(size: int) -> Generator[None]:
    """What a full disk is to this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_store_that_refuses_what_belongs_in_it_is_named_in_our_own_words(
    web: Served, caplog: pytest.LogCaptureFixture
) -> None:
    await web.service.store.write(Tx.run, "INSERT INTO positions (address, last_seen) VALUES ('readyz', '')")
    answer = await web.anybody.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["store"]["why"] == (
        "it refuses what belongs in it; see the log, and run: casebound db check"
    )
    assert "ready.refused" in caplog.text


async def test_ready_is_when_every_part_is(web: Served) -> None:
    answer = await web.anybody.get("/readyz")
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "ready": True,
            "parts": {name: {"ok": True} for name in ("store", "engine", "delivery", "schedule", "model", "standby")},
        },
    )
    assert (await web.anybody.head("/readyz")).status_code == 200
    assert (await web.anybody.head("/healthz")).status_code == 200


async def test_a_model_that_refuses_us_is_named(web: Served) -> None:
    web.service.conductor.model_trouble = "The model cannot be used: the provider answered 401."
    answer = await web.anybody.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["model"] == {
        "ok": False, "why": "The model cannot be used: the provider answered 401."
    }  # fmt: skip


async def test_ticks_that_have_stopped_are_named(web: Served) -> None:
    web.service.schedule.stop()

    async def told() -> Json | None:
        answer = await web.anybody.get("/readyz")
        return None if answer.status_code == 200 else answer.json()["parts"]["schedule"]

    assert (await until(told))["why"] == "it has stopped; restart the service"


async def test_an_engine_that_has_ended_is_named(web: Served) -> None:
    await web.service.engine.stop(1)

    async def told() -> Json | None:
        answer = await web.anybody.get("/readyz")
        return None if answer.status_code == 200 else answer.json()["parts"]["engine"]

    assert (await until(told))["why"] == "it has ended; see the log, and restart the service"


@pytest.mark.parametrize("token_refused", [False, True])
async def test_a_channel_that_is_not_connected_or_refuses_us_is_named(db: Path, token_refused: bool) -> None:
    channel = MemoryChannel()
    async with served(db, channel=channel) as web:
        assert (await web.anybody.get("/readyz")).json()["parts"]["channel.memory"] == {"ok": True}
        if token_refused:
            web.service.delivery.refused["memory"] = str(AuthFailed("memory", "invalid_auth"))
        else:
            await channel.stop()
        answer = await web.anybody.get("/readyz")
        assert answer.status_code == 503
        why = answer.json()["parts"]["channel.memory"]["why"]
        assert ("invalid_auth" in why) if token_refused else (why == "it is not connected")


async def test_what_waits_to_be_stored_is_shown_in_health_and_counted_until_it_is_stored(web: Served, db: Path) -> None:
    """R15"""
    web.service.schedule.stop()  # no checkpoint, which would empty what is full here
    standby = web.service.standby
    await web.post("/cases", {"text": "x" * 1_000_000}, status=201)
    await web.case_is("C-1001", waiting_on="operator")
    # what fails half written leaves room in the log: nothing is written behind its first part, where that room is
    assert beside(db, "-wal").stat().st_size > 2 * _SPOOLED
    with no_file_grows_beyond(_SPOOLED):
        standby.spool.keep(Used(step_id=StepId(1), run_id=RunId(1), usage=USAGE, at=1))
        standby.answered = 3
        answer = await web.anybody.get("/readyz")
        assert answer.json()["parts"]["standby"]["why"].startswith("the store could not be written; ")
        numbers = await web.metrics()
        assert numbers["casebound_spooled",] >= 1
        assert numbers["casebound_answered_from_memory_total",] == 3
    await standby.settle()
    assert (await web.anybody.get("/readyz")).json()["parts"]["standby"] == {"ok": True}
