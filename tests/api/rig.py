"""A running service that answers real HTTP, and short ways to talk to it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import httpx
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from bot.app import Service, running
from bot.clock import SystemClock
from bot.settings import Settings
from bot.settings.sections import Alerts, Api, Host, Model
from bot.settings.sections import Service as ServiceSection
from bot.settings.tools import Mcp
from bot.web.server import serving
from channels.memory import MemoryChannel
from tests.alerts.notifications import alert, body

T = TypeVar("T")
Json = dict[str, object]

LOOPBACK = "127.0.0.1"
PATIENCE_S = 30.0


class MovableClock:
    """The machine's clock, which a test may move."""

    def __init__(self) -> None:
        self.ahead = 0

    def now(self) -> int:
        return SystemClock().now() + self.ahead


@dataclass(frozen=True)
class Served:
    """The service, and two clients: `api` has the token, `anybody` has not."""

    service: Service
    clock: MovableClock
    port: int
    api: httpx.AsyncClient
    anybody: httpx.AsyncClient

    @property
    def folder(self) -> str:
        """Where the file lies: a disk that is quickly looked at."""
        return str(self.service.store.path.parent)

    async def get(self, path: str, **params: str | int) -> Json:
        """What the API answers."""
        answer = await self.api.get(f"/api/v1{path}", params=params)
        assert answer.status_code == 200, answer.text
        return cast("Json", answer.json())

    async def rows(self, path: str, **params: str | int) -> list[Json]:
        """The list in an answer that is nothing but a list."""
        [found] = (await self.get(path, **params)).values()
        return cast("list[Json]", found)

    async def post(self, path: str, ask: object = None, *, status: int = 200) -> Json:
        """Ask the API for something, and see how it is answered."""
        answer = await self.api.post(f"/api/v1{path}", json={} if ask is None else ask)
        assert answer.status_code == status, answer.text
        return cast("Json", answer.json())

    async def notify(self, payload: bytes, *, status: int = 200) -> Json:
        """Send what Alertmanager would."""
        answer = await self.anybody.post("/alerts/alertmanager", content=payload)
        assert answer.status_code == status, answer.text
        return cast("Json", answer.json())

    async def metrics(self) -> dict[tuple[str, ...], float]:
        """What Prometheus would read, by name and label values."""
        answer = await self.anybody.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    async def gate(self, name: str = "db-1") -> Json:
        """A case about a disk, looked into and stopped at its gate; the gate, as it is listed."""
        taken = await self.notify(body(alert(name, labels={"mountpoint": self.folder}), key=name))

        async def asked() -> Json | None:
            found = [gate for gate in await self.rows("/gates") if gate["case"] == taken["case"]]
            return found[0] if found else None

        return await until(asked)

    async def case_is(self, case: object, **expected: object) -> Json:
        """Wait until a case is so."""

        async def so() -> Json | None:
            found = await self.get(f"/cases/{case}")
            return found if all(found[name] == value for name, value in expected.items()) else None

        return await until(so)


async def until(found: Callable[[], Awaitable[T | None]], patience_s: float = PATIENCE_S) -> T:
    """Ask until there is something; a test that waits in vain fails."""
    async with asyncio.timeout(patience_s):
        while True:
            if (answer := await found()) is not None:
                return answer
            await asyncio.sleep(0.02)


@asynccontextmanager
async def served(
    db: Path, *, alerts_token: str | None = None, host: str = LOOPBACK, channel: MemoryChannel | None = None,
    names: tuple[str, ...] = ("db-1",), model: Model | None = None,
    api: Api | None = None, mcp: Mapping[str, Mcp] | None = None,
) -> AsyncGenerator[Served]:  # fmt: skip
    """The service on a file, with its HTTP server on a free port, on a machine that has these names too."""
    alerts = Alerts() if alerts_token is None else Alerts(token=SecretStr(alerts_token))
    settings = Settings(
        service=ServiceSection(db=db, timezone="UTC"), alerts=alerts, host=Host(names=names), model=model or Model(),
        api=api or Api(), mcp=dict(mcp or {}),
    )  # fmt: skip
    clock = MovableClock()
    channels = {} if channel is None else {channel.name: channel}
    async with (
        running(settings, name="a test", clock=clock, channels=channels) as service,
        serving(service, host, 0) as port,
        client(port, service.api_token) as known,
        client(port) as anybody,
    ):
        yield Served(service, clock, port, known, anybody)


def client(port: int, token: str | None = None, host: str = LOOPBACK) -> httpx.AsyncClient:
    """A client that knows the token, or none."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=f"http://{host}:{port}", headers=headers, timeout=PATIENCE_S)


def as_json(value: object) -> bytes:
    """JSON, lone surrogates as escapes."""
    return json.dumps(value).encode()
