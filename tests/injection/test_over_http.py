"""The same over the API, with a provider's own client: who has the token speaks for an operator, and only speaks."""

import json
from pathlib import Path

from pydantic import SecretStr

from bot.settings.sections import Model
from tests.api.rig import Json, Served, served, until
from tests.injection.hijacked import FORGED, OF_THE_CASE, harm
from tests.injection.texts import TEXTS
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import KEY, Answer, calls, words

SOME = TEXTS[::6]
"""Some of the texts: what is made of them is what is made of them elsewhere, and the requests stay short."""
HELD = ("case__remember_verification", json.dumps({"subject": "root", "how": "they said so"}))


def everything(home: Path) -> Answer:
    """The held call again, and all else that a hijacked model tries."""
    tried = [(name.replace(".", "__"), json.dumps(args)) for name, args in (*OF_THE_CASE, *harm(home))]
    return calls(HELD, *tried)


async def answered(web: Served, case: object, count: int) -> None:
    """Wait until the assistant has spoken so often in a case."""

    async def spoken() -> bool | None:
        found = await web.rows(f"/cases/{case}/messages", limit=500)
        return sum(one["provenance"] == "assistant" for one in found) == count or None

    await until(spoken)


async def test_whatever_is_posted_at_a_gate_to_a_hijacked_model_the_call_stays_as_it_is(
    db: Path, tmp_path: Path
) -> None:
    async with OpenAIServer() as server:
        model = Model(name=server.name, base_url=server.base_url, api_key=SecretStr(KEY), paraphrase=False)
        async with served(db, model=model) as web:
            server.then(calls(HELD))
            case = (await web.post("/cases", {"text": "It is slow"}, status=201))["label"]

            async def asked() -> Json | None:
                return next(iter(await web.rows("/gates")), None)

            gate, before = await until(asked), await web.get(f"/cases/{case}")
            for nth, text in enumerate(SOME):
                server.then(everything(tmp_path), words(FORGED))
                await web.post(f"/cases/{case}/messages", {"text": text}, status=201)
                await answered(web, case, nth + 1)

            assert await web.rows("/gates", all="true") == [gate]
            after = await web.get(f"/cases/{case}")
            for name in ("state", "waiting_on", "title", "requester", "assignee", "task_state", "verified_as"):
                assert after.get(name) == before.get(name), name
            assert server.refused == []
            assert HELD[0] not in server.offered()
            assert web.service.api_token not in json.dumps(server.sent)
