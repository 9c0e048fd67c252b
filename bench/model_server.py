"""The OpenAI of the tests, in a process of its own: it takes its time for each answer, as a model does.

`python -m bench.model_server` prints where it listens, and ends when its input does.
"""

import asyncio
import json
import sys
from typing import cast

from aiohttp import web

from bench.workload import ARGUMENTS, REPLY, filler
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import Answer, Body, calls, words

CALL_MS = 50
"""How long one answer takes, at least."""
CHARACTERS_OF_A_TOKEN = 4
"""About as many as in English; there is no tokenizer here."""


class TakingItsTime(OpenAIServer):
    """Wants to look first, then says the final text; strict as ever, and counts what it was sent in tokens."""

    async def _asked(self, request: web.Request) -> web.StreamResponse:
        body = cast("dict[str, list[Body]]", await request.json())
        around = len(json.dumps({"what": ""}))
        looks = calls(("bench__look", json.dumps({"what": filler(ARGUMENTS - around)})))
        self.sent.clear()
        self.script[:] = [words(filler(REPLY)) if body["messages"][-1]["role"] == "tool" else looks]
        await asyncio.sleep(CALL_MS / 1_000)
        return await super()._asked(request)

    def answer(self, answer: Answer, number: int) -> Body:
        """The answer, with what was sent and said in tokens."""
        told = dict(super().answer(answer, number))
        read, said = (len(json.dumps(one)) // CHARACTERS_OF_A_TOKEN for one in (self.sent[-1], told["choices"]))
        told["usage"] = {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}
        return told


async def serve() -> None:
    """Answer until the other side has gone."""
    gone = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(gone), sys.stdin)
    async with TakingItsTime() as server:
        print(server.base_url, flush=True)
        await gone.read()


if __name__ == "__main__":
    asyncio.run(serve())
