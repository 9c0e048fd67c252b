"""The Slack of the tests in a process of its own, told by lines of JSON what the people in it do.

`python -m bench.slack_server`: its first line says where it is; then it answers each line, until there are no more.
Its clock is `time.perf_counter`, which the processes of one machine share.
"""

import asyncio
import json
import sys
import time
from collections.abc import Mapping

from tests.wire.slack.clock import Clock
from tests.wire.slack.member import Member, Said
from tests.wire.slack.server import APP_TOKEN, AT, BOT_TOKEN, SlackServer

_GIVE_UP_S = 60.0


class Ticking(Clock):
    """Time that goes on by itself."""

    def now(self) -> float:
        return time.perf_counter()


class Town:
    """One person, so many rooms, and a thread in each once she has begun it."""

    def __init__(self, slack: SlackServer, rooms: int) -> None:
        self._slack = slack
        self._ann: Member = slack.member("ann")
        self._rooms = [slack.room(f"ops-{number}", self._ann) for number in range(rooms)]
        self._threads: list[Said] = []

    def where(self) -> Mapping[str, object]:
        """What an app has to know to connect."""
        return {
            "api_url": self._slack.api_url, "team": self._slack.team, "person": self._ann.id,
            "bot_token": BOT_TOKEN, "app_token": APP_TOKEN,
        }  # fmt: skip

    async def begin(self, text: str) -> Mapping[str, object]:
        """She mentions the app once in each room; where these threads are."""
        self._threads = [await self._ann.mentions(room, text) for room in self._rooms]
        await self._acked(self._threads)
        return {"threads": [[said.message.room.id, said.ts] for said in self._threads]}

    async def say(self, times: int, text: str, together: bool) -> Mapping[str, object]:
        """She writes in the threads by turns, once the last was acknowledged or all together.

        `seconds`: from when an envelope was sent until it was acknowledged; together, from the first to the last.
        """
        said: list[Said] = []
        for number in range(times):
            thread = self._threads[number % len(self._threads)]
            said.append(await self._ann.says(thread.message.room, text, thread=thread))
            if not together:
                await self._acked(said[-1:])
        await self._acked(said)
        took = [
            (delivery.attempts[0].at, delivery.acks[0].acked_at or 0) for one in said for delivery in one.deliveries
        ]
        self._forget()
        if together:
            return {"seconds": [max(acked for _, acked in took) - min(at for at, _ in took)]}
        return {"seconds": [acked - at for at, acked in took]}

    async def heard(self, times: int) -> Mapping[str, object]:
        """When each post came in, once there are so many."""
        posts = await self._slack.until(
            lambda: found if len(found := self._slack.calls("chat.postMessage")) >= times else [], within=_GIVE_UP_S
        )
        if refused := [call.answer for call in posts if call.status and not call.ok]:
            raise RuntimeError(f"a post was refused: {refused[0]}")
        return {"at": [call.at for call in posts]}

    async def forget(self) -> Mapping[str, object]:
        """What was said and done is gone, but for where the threads begin: looking it through is not to take longer."""
        self._forget()
        return {}

    async def _acked(self, said: list[Said]) -> None:
        await self._slack.until(lambda: all(one.acked for one in said), within=_GIVE_UP_S, what="acknowledged")

    def _forget(self) -> None:
        self._slack.workspace.calls.clear()
        self._slack.deliveries.all.clear()
        for thread in self._threads:
            thread.message.room.messages = {thread.ts: thread.message}


async def serve(rooms: int) -> None:
    """Answer until the other side has gone."""
    asked = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(asked), sys.stdin)
    async with SlackServer(echo=False) as slack:
        slack.workspace.clock = Ticking(AT)
        town = Town(slack, rooms)
        _answer(town.where())
        while line := await asked.readline():
            order = json.loads(line)
            _answer(await getattr(town, order.pop("do"))(**order))


def _answer(answer: Mapping[str, object]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
