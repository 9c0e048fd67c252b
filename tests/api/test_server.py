"""The server itself: where it listens, how it starts and stops, and what of a bug is seen outside."""

import asyncio
import logging
import socket
from pathlib import Path

import httpx
import pytest

from bot.errors import Refused
from bot.web.server import serving
from casestore.errors import ConstraintBroken
from casestore.tx import Tx
from tests.alerts.notifications import body, chairs
from tests.api.rig import LOOPBACK, Served, served


async def test_a_port_in_use_is_named_with_the_way_out(web: Served) -> None:
    with pytest.raises(Refused, match=rf"^Port {web.port} on 127.0.0.1 is in use. .* choose another: --port"):
        async with serving(web.service, LOOPBACK, web.port):
            pass
    assert (await web.anybody.get("/healthz")).status_code == 200


@pytest.mark.parametrize("host", ["no-such-host.invalid", "", "203.0.113.9"])
async def test_a_host_that_is_not_ours_is_refused(web: Served, host: str) -> None:
    with pytest.raises(Refused, match="--host"):
        async with serving(web.service, host, 0):
            pass


async def test_a_name_stands_for_all_its_addresses_on_one_port(web: Served) -> None:
    async with serving(web.service, "localhost", 0) as port:
        found = {info[4][0] for info in socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM)}
        answered = 0
        for address in found:
            try:
                reader, writer = await asyncio.open_connection(str(address), port)
            except OSError:
                continue
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answered += (await reader.read()).startswith(b"HTTP/1.1 200")
            writer.close()
        assert answered >= 1


async def test_left_it_listens_no_more_and_leaves_no_task_behind(db: Path) -> None:
    async with served(db) as web:
        port = web.port
        assert (await web.anybody.get("/healthz")).status_code == 200
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://{LOOPBACK}:{port}/healthz")
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_what_is_being_answered_at_the_end_is_answered(db: Path) -> None:
    payload = body(chairs())
    async with served(db) as web:
        async with serving(web.service, LOOPBACK, 0) as port:
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            head = f"POST /alerts/alertmanager HTTP/1.1\r\nHost: x\r\nContent-Length: {len(payload)}\r\n\r\n"
            writer.write(head.encode() + payload[:10])
            await writer.drain()
            assert (await web.anybody.get("/healthz")).status_code == 200
            rest = asyncio.create_task(finish(reader, writer, payload[10:]))
        assert (await rest).startswith(b"HTTP/1.1 200")
        assert len(await web.rows("/cases")) == 1


async def finish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rest: bytes) -> bytes:
    """Send the rest of a request and read the answer."""
    writer.write(rest)
    answer = await reader.read()
    writer.close()
    return answer


async def test_a_sender_that_goes_away_in_the_middle_is_no_error(web: Served, caplog: pytest.LogCaptureFixture) -> None:
    for path in ("/alerts/alertmanager", "/api/v1/cases"):
        _, writer = await asyncio.open_connection(LOOPBACK, web.port)
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {web.service.api_token}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    assert (await web.anybody.get("/healthz")).status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_bug_is_one_sentence_outside_and_named_in_the_log(
    web: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Tx, *__: object) -> None:
        raise ConstraintBroken("The store refused a row: secret-detail")

    monkeypatch.setattr("bot.web.api.cases.intake.open_by", broken)
    answer = await web.api.post("/api/v1/cases", json={"text": "x"})
    assert (answer.status_code, answer.json()) == (
        500,
        {"error": "Something went wrong here, and it is in the log of the service. Nothing was done; try again."},
    )
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage() == "request.failed"
    assert web.service.api_token not in str(record.__dict__)
    assert (await web.anybody.get("/healthz")).status_code == 200


async def test_the_api_describes_itself_and_loads_nothing_from_elsewhere(web: Served) -> None:
    answer = await web.anybody.get("/api/v1/openapi.json")
    described = answer.json()
    assert described["paths"]["/api/v1/gates/{gate}/decide"]["post"]["security"] == [{"HTTPBearer": []}]
    assert set(described["paths"]["/api/v1/gates/{gate}/decide"]) == {"post"}
    assert "http://" not in answer.text
    assert "https://" not in answer.text
    assert "server" not in answer.headers
