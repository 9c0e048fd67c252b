"""Who gets in: by the token, exactly; without one only programs of this machine, and only with alerts (R24)."""

import asyncio
import socket
from pathlib import Path

import psutil
import pytest
from fastapi.routing import APIRoute
from starlette.requests import Request

from bot.web.access import has_token, is_loopback
from bot.web.application import application
from casestore import principals
from casestore.states import Role
from casestore.tx import Tx
from tests.alerts.notifications import body, chairs
from tests.api.rig import LOOPBACK, Served, client, served

TOKEN = "a-token-of-our-own-tämöglich"
FIRES = body(chairs())
OPEN = {"/healthz", "/readyz", "/metrics", "/alerts/alertmanager", "/api/v1/openapi.json"}


def wrong(token: str) -> dict[str, dict[str, str]]:
    """Everything that is nearly right."""
    return {
        "nothing": {},
        "empty": {"Authorization": ""},
        "no token": {"Authorization": "Bearer"},
        "another": {"Authorization": "Bearer nonsense"},
        "shortened": {"Authorization": f"Bearer {token[:-1]}"},
        "lengthened": {"Authorization": f"Bearer {token}x"},
        "in another case": {"Authorization": f"Bearer {token.swapcase()}"},
        "basic": {"Authorization": f"Basic {token}"},
        "no scheme": {"Authorization": token},
        "other header": {"X-Api-Key": token},
        "cookie": {"Cookie": f"token={token}"},
    }


def latin(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as bytes: a token may hold any letters."""
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def test_every_route_of_the_api_needs_the_token_before_anything_else(web: Served) -> None:
    routes = [
        (method, path)
        for path, verbs in application(web.service).openapi()["paths"].items()
        for method in verbs
        if method in ("get", "post")
    ]
    assert len(routes) >= 20
    for method, path in routes:
        address = path.format(case="C-1001", gate="1", run="1", file="1", name="kim")
        for what, headers in wrong(web.service.api_token).items():
            answer = await web.anybody.request(method, address, headers=latin(headers), content=b"{ not even JSON")
            assert answer.status_code == 401, (method, path, what)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json() == {
                "error": "A bearer token is needed here; it is in the file beside the database that ends in .token, "
                "unless [api] token names another."
            }
            assert web.service.api_token not in answer.text
    in_address = await web.anybody.get(f"/api/v1/cases?token={web.service.api_token}&access_token=x")
    assert in_address.status_code == 401


def test_an_empty_token_is_nobodys() -> None:
    """R24: where a token is missing, nobody gets in."""
    for given in (b"", b"Bearer", b"Bearer ", b"bearer  "):
        request = Request({"type": "http", "headers": [(b"authorization", given)]})
        assert not has_token(request, ""), given


async def test_nothing_is_open_that_is_not_meant_to_be(web: Served) -> None:
    app = application(web.service)
    paths: set[str] = set(app.openapi()["paths"])
    others = {route.path for route in app.routes if isinstance(route, APIRoute)} - paths
    assert all(path.startswith("/api/v1/") for path in paths)
    assert others <= OPEN
    for path in OPEN - {"/alerts/alertmanager"}:
        assert (await web.anybody.get(path)).status_code == 200
    for path in ("/docs", "/redoc", "/openapi.json", "/api/v1/docs"):
        assert (await web.anybody.get(path)).status_code == 404


async def test_the_scheme_is_read_in_any_case_and_the_token_is_not(web: Served) -> None:
    for scheme in ("bearer", "BEARER"):
        answer = await web.anybody.get(
            "/api/v1/cases", headers={"Authorization": f"{scheme} {web.service.api_token}"}
        )  # fmt: skip
        assert answer.status_code == 200


async def test_whoever_was_revoked_does_not_act_through_the_api(web: Served) -> None:
    await web.service.store.write(revoke, web.clock.now())
    answer = await web.api.get("/api/v1/cases")
    assert answer.status_code == 403
    assert "may not act any more" in answer.json()["error"]


def revoke(tx: Tx, now: int) -> None:
    """The local operator is revoked by a new one."""
    other = principals.add(tx, now, tenant="local", name="other", role=Role.ADMIN)
    principals.revoke(tx, now, principals.by_name(tx, "operator").id, revoked_by=other.id)


async def test_alerts_with_a_token_need_it_from_this_machine_too(db: Path) -> None:
    async with served(db, alerts_token=TOKEN) as web:
        for what, headers in wrong(TOKEN).items():
            answer = await web.anybody.post("/alerts/alertmanager", headers=latin(headers), content=FIRES)
            assert answer.status_code == 401, what
            assert TOKEN not in answer.text
        # the API's token is not the alerts' token, nor the other way round
        assert (await web.api.post("/alerts/alertmanager", content=FIRES)).status_code == 401
        right = latin({"Authorization": f"Bearer {TOKEN}"})
        assert (await web.anybody.get("/api/v1/cases", headers=right)).status_code == 401
        assert await web.rows("/cases") == []
        answer = await web.anybody.post("/alerts/alertmanager", headers=right, content=FIRES)
        assert answer.json() == {"case": "C-1001", "what": "opened"}


PASSED_ON = [
    {"X-Forwarded-For": "127.0.0.1"},
    {"X-Forwarded-For": "203.0.113.7"},
    {"Forwarded": "for=127.0.0.1"},
    {"X-Real-IP": "127.0.0.1"},
    {"Via": "1.1 proxy"},
    {"Origin": "http://127.0.0.1:8642"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
]


async def test_without_a_token_neither_a_proxy_nor_a_page_in_a_browser_sends_alerts(web: Served) -> None:
    for headers in PASSED_ON:
        answer = await web.anybody.post("/alerts/alertmanager", headers=headers, content=FIRES)
        assert answer.status_code == 403, headers
        assert "Set [alerts] token" in answer.json()["error"]
    assert await web.rows("/cases") == []


async def test_without_a_token_no_other_machine_sends_alerts(db: Path) -> None:
    address = own_address()
    if address is None:
        pytest.skip("this machine has no address but its loopback, so nothing can come from elsewhere")
    async with served(db, host="0.0.0.0") as web, client(web.port, host=address) as elsewhere:
        answer = await elsewhere.post("/alerts/alertmanager", content=FIRES)
        assert answer.status_code == 403
        claimed = await elsewhere.post("/alerts/alertmanager", content=FIRES, headers={"X-Forwarded-For": LOOPBACK})
        assert claimed.status_code == 403
        assert await web.rows("/cases") == []
        assert (await web.anybody.post("/alerts/alertmanager", content=FIRES)).status_code == 200


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("::ffff:127.0.0.1", True),
        ("::ffff:10.0.0.1", False), ("10.0.0.1", False), ("0.0.0.0", False), ("::", False),
        ("localhost", False), ("127.0.0.1.example", False), ("testclient", False), ("", False), (None, False),
    ],
)  # fmt: skip
def test_a_loopback_address_is_told_from_what_looks_like_one(host: str | None, local: bool) -> None:
    assert is_loopback(host) is local


def own_address() -> str | None:
    """An address of this machine that is not its loopback."""
    for addresses in psutil.net_if_addrs().values():
        for one in addresses:
            if one.family == socket.AF_INET and not one.address.startswith("127."):
                return one.address
    return None


async def test_a_request_is_not_read_before_its_sender_is_known(db: Path) -> None:
    async with served(db, alerts_token=TOKEN) as web:
        for path in ("/alerts/alertmanager", "/api/v1/cases"):
            reader, writer = await asyncio.open_connection(LOOPBACK, web.port)
            writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n".encode())
            await writer.drain()
            assert await reader.readline() == b"HTTP/1.1 401 Unauthorized\r\n"
            writer.close()
            await writer.wait_closed()
