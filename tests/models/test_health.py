"""A model that cannot be used is not a secret of the log: `/readyz` says what to do until it answers again."""

from pathlib import Path
from typing import cast

from bot.settings.tools import Mcp
from casestore.models import CaseId
from tests.api.rig import Json, Served, served, until
from tests.loop.rig import HOUR
from tests.models.rig import settings_for
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import KEY, Fault, ModelServer, words


async def test_a_wrong_key_turns_health_red_and_says_what_to_do_until_the_model_answers_again(
    provider: ModelServer, db: Path
) -> None:
    provider.key = "sk-another"
    async with served(db, model=settings_for(provider).model) as web:
        opened = await web.post("/cases", {"text": "The disk is full."}, status=201)
        await web.case_is(opened["label"], waiting_on="operator")

        ready = await web.anybody.get("/readyz")
        assert ready.status_code == 503
        assert await _model(web) == {
            "ok": False,
            "why": f"The model {provider.name} at {provider.base_url} cannot be used: the provider answered "
            f"{provider.wrong_key} "
            "(it does not accept the key). Correct [model] in the settings and restart.",
        }
        assert "sk-" not in ready.text

        provider.key = KEY
        provider.then(words("I am here."))
        await web.post(f"/cases/{opened['label']}/messages", {"text": "And now?"}, status=201)
        await web.case_is(opened["label"], waiting_on="")
        assert await _model(web) == {"ok": True}


async def test_a_model_that_does_not_answer_turns_health_red_until_it_does(provider: ModelServer, db: Path) -> None:
    provider.then(Fault(429, retry_after="600"))
    async with served(db, model=settings_for(provider).model) as web:
        opened = await web.post("/cases", {"text": "The disk is full."}, status=201)

        assert await until(lambda: _amiss(web)) == (
            f"The model {provider.name} at {provider.base_url} did not answer: the provider answered 429, and says: "
            '"It went wrong for ***".'
        )

        provider.then(words("I am here."))
        web.clock.ahead = HOUR
        web.service.engine.wake(CaseId(cast("int", opened["id"])))
        assert await until(lambda: _well(web))


async def test_a_model_that_another_stands_in_for_is_shown_and_does_not_turn_health_red(db: Path) -> None:
    async with OpenAIServer() as server:
        server.then(Fault(500), words("Here I am."))
        model = settings_for(server, fallback=("openai:gpt-other",), playbooks_first=True).model
        async with served(db, model=model) as web:
            opened = await web.post("/cases", {"text": "Tell me a story."}, status=201)
            await web.case_is(opened["label"], waiting_on="")

            assert await _part(web, "model.openai:gpt-test") == {
                "ok": False, "needed": False, "why": 'the provider answered 500, and says: "It went wrong for ***"',
            }  # fmt: skip
            assert await _part(web, "model") == {"ok": True}

            server.then(words("I am back."))
            await web.post(f"/cases/{opened['label']}/messages", {"text": "And now?"}, status=201)
            await until(lambda: _gone(web, "model.openai:gpt-test"))


async def test_a_server_of_tools_that_is_down_is_shown_and_does_not_turn_health_red(db: Path) -> None:
    async with served(db, mcp={"crm": Mcp(command="no-such-program --with this")}) as web:
        part = await _part(web, "mcp.crm")
        assert part == {
            "ok": False, "needed": False,
            "why": "its command no-such-program --with this cannot be started (no such file or directory): it is "
            "looked for on the PATH, and what follows a blank belongs in args",
        }  # fmt: skip


async def _gone(web: Served, name: str) -> bool | None:
    return name not in cast("Json", cast("Json", (await web.anybody.get("/readyz")).json())["parts"]) or None


async def _amiss(web: Served) -> str | None:
    return cast("str | None", (await _model(web)).get("why"))


async def _well(web: Served) -> bool | None:
    return (await _model(web))["ok"] is True or None


async def _model(web: Served) -> Json:
    told = cast("Json", (await web.anybody.get("/readyz")).json())
    return cast("Json", cast("Json", told["parts"])["model"])


async def _part(web: Served, name: str) -> Json:
    """A part of a service that is ready."""
    ready = await web.anybody.get("/readyz")
    assert ready.status_code == 200
    return cast("Json", cast("Json", cast("Json", ready.json())["parts"])[name])
