"""Somebody listens to a case over the API: what the assistant is about to say, what is said, and where it stands."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import httpx
import pytest

from bot.settings.sections import Api, Model
from bot.web.api import live
from casestore import principals
from tests.api.rig import Json, Served, served, until
from tests.models.rig import settings_for
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import HALF, Cut, Halfway, words

STORY = "Once upon a time there was a disk."
CHAIRS = {"text": "we need chairs"}


@dataclass
class Listener:
    """A client that keeps what it was told, and shows it as a page would."""

    answer: httpx.Response
    events: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    comments: int = 0
    last_id: str = ""

    @property
    def kinds(self) -> list[str]:
        """What happened, in its order; pieces of one preview together."""
        kinds = [kind for kind, _ in self.events]
        return [kind for place, kind in enumerate(kinds) if place == 0 or kind != kinds[place - 1] or kind != "preview"]

    @property
    def preview(self) -> str:
        """What stands there as about to be said."""
        shown = ""
        for kind, data in self.events:
            if kind == "preview":
                assert data["at"] in (0, len(shown))
                shown = str(data["text"]) if data["at"] == 0 else shown + str(data["text"])
            elif kind == "withdrawn" or (kind == "message" and data["provenance"] == "assistant"):
                shown = ""
        return shown

    @property
    def said(self) -> list[str]:
        """Who said something, as it was told."""
        return [str(data["provenance"]) for kind, data in self.events if kind == "message"]

    async def read(self) -> None:
        """To the end of the stream (html.spec.whatwg.org/multipage/server-sent-events.html, "Interpreting")."""
        kind, data = "", ""
        async for line in self.answer.aiter_lines():
            name, _, value = line.partition(":")
            if line.startswith(":"):
                self.comments += 1
            elif name == "event":
                kind = value.removeprefix(" ")
            elif name == "data":
                data += value.removeprefix(" ")
            elif name == "id":
                self.last_id = value.removeprefix(" ")
            elif not line and data:
                self.events.append((kind, cast("Json", json.loads(data))))
                kind, data = "", ""

    async def sees(self, *kinds: str, preview: str = "") -> None:
        """Wait until just this has happened, and this stands there."""

        async def so() -> bool | None:
            return True if self.kinds == [*kinds] and self.preview == preview else None

        try:
            await until(so)
        except TimeoutError:
            raise AssertionError(f"{self.kinds} happened, {self.preview!r} stands there") from None


@asynccontextmanager
async def listening(web: Served, case: object, **headers: str) -> AsyncGenerator[Listener]:
    """Listen to a case; entered once the first event is there."""
    async with web.api.stream("GET", f"/api/v1/cases/{case}/live", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        listener = Listener(answer)
        reading = asyncio.create_task(listener.read())
        try:

            async def begun() -> bool | None:
                return True if listener.events else None

            await until(begun)
            yield listener
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


@pytest.fixture
async def openai() -> AsyncIterator[OpenAIServer]:
    """OpenAI, which says one sentence to open a case with, and what a test tells it after that."""
    async with OpenAIServer() as server:
        server.then(words("How can I help?"))
        server.otherwise = words("A case.")
        yield server


def of(server: OpenAIServer) -> Model:
    """Settings that name its model."""
    return settings_for(server).model


async def opened(web: Served) -> str:
    """A case that was answered once."""
    case = str((await web.post("/cases", {"text": "Hello?"}, status=201))["label"])

    async def answered() -> bool | None:
        rows = await web.rows(f"/cases/{case}/messages")
        return True if [row["provenance"] for row in rows][-1:] == ["assistant"] else None

    await until(answered)
    await web.service.engine.idle()
    await web.service.paraphrasing.stop()  # it would take a line of the script
    return case


async def test_the_reply_is_seen_as_it_comes_and_then_as_it_is_stored(db: Path, openai: OpenAIServer) -> None:
    async with served(db, model=of(openai)) as web:
        case = await opened(web)
        line = Halfway(words(STORY))
        openai.then(line)
        async with listening(web, case) as listener:
            await web.post(f"/cases/{case}/messages", {"text": "Tell me."}, status=201)
            await listener.sees("case", "message", "preview", preview="Once upon a time")
            line.go_on.set()

            async def over() -> bool | None:
                return True if len(listener.said) == 2 else None

            await until(over)
            assert listener.preview == ""
            assert "withdrawn" not in listener.kinds
            stored = (await web.rows(f"/cases/{case}/messages"))[-2:]
            assert [data for kind, data in listener.events if kind == "message"] == stored
            assert STORY in str(stored[-1]["body"])
            assert listener.last_id == str(stored[-1]["seq"])


async def test_a_reply_that_is_forestalled_by_a_takeover_vanishes_and_is_not_said(
    db: Path, openai: OpenAIServer
) -> None:
    async with served(db, model=of(openai)) as web:
        case = await opened(web)
        line = Halfway(words(STORY))
        openai.then(line)
        async with listening(web, case) as listener:
            await web.post(f"/cases/{case}/messages", {"text": "Tell me."}, status=201)
            await listener.sees("case", "message", "preview", preview="Once upon a time")
            await web.post(f"/cases/{case}/take")

            async def vanished() -> bool | None:
                return True if "withdrawn" in listener.kinds else None

            await until(vanished)  # at once, not when the model is done
            line.go_on.set()
            await web.service.engine.idle()
            await web.post(f"/cases/{case}/messages", {"text": "I am here myself."}, status=201)

            async def spoken() -> bool | None:
                return True if len(listener.said) >= 2 else None

            await until(spoken)
            assert listener.kinds.count("preview") == 1
            assert listener.preview == ""
            assert "assistant" not in listener.said
            assert STORY not in str(await web.rows(f"/cases/{case}/messages"))
            [*_, (_, stands)] = [event for event in listener.events if event[0] == "case"]
            assert stands["waiting_on"] == "human"


async def test_an_answer_that_breaks_off_vanishes_and_begins_anew(db: Path, openai: OpenAIServer) -> None:
    async with served(db, model=of(openai)) as web:
        case = await opened(web)
        broken, whole = Halfway(words(HALF), Cut()), Halfway(words(STORY))
        openai.then(broken, whole)
        async with listening(web, case) as listener:
            await web.post(f"/cases/{case}/messages", {"text": "Tell me."}, status=201)
            await listener.sees("case", "message", "preview", preview="Half of it,")
            broken.go_on.set()
            await listener.sees(
                "case", "message", "preview", "withdrawn", "preview", preview="Once upon a time"
            )  # fmt: skip
            whole.go_on.set()


async def test_whoever_reads_nothing_holds_nobody_up(db: Path, openai: OpenAIServer) -> None:
    async with served(db, model=of(openai)) as web:
        case = await opened(web)
        openai.then(words(" ".join(["x" * 100_000] * 80)))  # more than what lies between two sockets
        with socket.create_connection(("127.0.0.1", web.port)) as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            ask = f"GET /api/v1/cases/{case}/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {web.service.api_token}"
            deaf.sendall(f"{ask}\r\n\r\n".encode())
            async with listening(web, case) as listener:
                await web.post(f"/cases/{case}/messages", {"text": "Tell me."}, status=201)

                async def over() -> bool | None:
                    return True if listener.said[1:] == ["assistant"] else None

                await until(over)


async def test_what_people_say_and_where_the_case_stands_is_told(web: Served) -> None:
    case = str((await web.post("/cases", CHAIRS, status=201))["label"])
    await web.case_is(case, waiting_on="operator")
    async with listening(web, case) as listener:
        await listener.sees("case")
        assert listener.events[0][1] == {"label": case, "state": "in_progress", "waiting_on": "operator"}
        await web.post(f"/cases/{case}/resolve", {"reason": "there are some"})

        async def resolved() -> bool | None:
            return True if stands(listener)[1:] == ["resolved"] else None

        await until(resolved)


def stands(listener: Listener) -> list[object]:
    """The states of the case, as they were told."""
    return [data["state"] for kind, data in listener.events if kind == "case"]


async def test_whoever_comes_back_hears_what_was_said_meanwhile_and_nothing_twice(web: Served) -> None:
    case = str((await web.post("/cases", CHAIRS, status=201))["label"])
    await web.case_is(case, waiting_on="operator")
    said = await web.rows(f"/cases/{case}/messages")
    async with listening(web, case, **{"Last-Event-ID": str(said[0]["seq"])}) as listener:

        async def caught_up() -> bool | None:
            return True if len(listener.said) == len(said) - 1 else None

        await until(caught_up)
        assert [data for kind, data in listener.events if kind == "message"] == said[1:]
    async with listening(web, case) as listener:
        assert listener.said == []


async def test_silence_is_filled_so_that_nothing_in_between_takes_it_for_the_end(
    web: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_LOOK_S", 0.001)
    case = str((await web.post("/cases", CHAIRS, status=201))["label"])
    async with listening(web, case) as listener:

        async def filled() -> bool | None:
            return True if listener.comments else None

        await until(filled)


async def test_only_so_many_listen_and_one_who_goes_makes_room(db: Path) -> None:
    async with served(db, api=Api(listeners=1)) as web:
        case = str((await web.post("/cases", CHAIRS, status=201))["label"])
        async with listening(web, case):
            answer = await web.api.get(f"/api/v1/cases/{case}/live")
            assert answer.status_code == 429
            assert answer.json()["error"].startswith("As many listen as may at once; try again later")
            assert answer.headers["retry-after"] == "5"

        async def room() -> bool | None:
            return None if web.service.previews.full else True

        await until(room)
        async with listening(web, case) as listener:
            assert listener.kinds == ["case"]


async def test_of_two_who_ask_at_once_for_the_last_place_one_gets_it(db: Path) -> None:
    async with served(db, api=Api(listeners=1)) as web:
        case = str((await web.post("/cases", CHAIRS, status=201))["label"])
        who = await web.service.store.read(principals.by_name, "operator")
        one, other = [await live.live(web.service, who, int(case.removeprefix("C-"))) for _ in range(2)]
        async with aclosing(cast("AsyncGenerator[str]", one.body_iterator)) as heard:
            assert (await anext(heard)).startswith("event: case")
            async with aclosing(cast("AsyncGenerator[str]", other.body_iterator)) as nothing:
                assert await anext(nothing, None) is None


async def test_whoever_may_not_any_more_hears_nothing_more(web: Served) -> None:
    case = str((await web.post("/cases", CHAIRS, status=201))["label"])
    async with listening(web, case) as listener:
        operator = await web.service.store.read(principals.by_name, "operator")
        await web.service.store.write(principals.revoke, web.clock.now(), operator.id, revoked_by=operator.id)

        async def gone() -> bool | None:
            return True if listener.answer.is_closed else None

        await until(gone)


async def test_the_service_ends_while_somebody_listens_and_tells_them(db: Path) -> None:
    async with httpx.AsyncClient(timeout=30) as client:
        async with served(db) as web:
            case = str((await web.post("/cases", CHAIRS, status=201))["label"])
            address = f"http://127.0.0.1:{web.port}/api/v1/cases/{case}/live"
            bearer = {"Authorization": f"Bearer {web.service.api_token}"}
            answer = await client.send(client.build_request("GET", address, headers=bearer), stream=True)
            listener = Listener(answer)
            reading = asyncio.create_task(listener.read())

            async def begun() -> bool | None:
                return True if listener.events else None

            await until(begun)
        await reading  # a whole end: one that is cut off raises
        await answer.aclose()
