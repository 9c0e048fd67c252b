"""A model that cannot be used is not a secret of the log: `/readyz` says what to do until it answers again."""

from pathlib import Path
from typing import cast

from casestore.models import CaseId
from tests.api.rig import Json, Served, served, until
from tests.loop.rig import HOUR
from tests.models.rig import settings_for
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
            "why": f"The model cannot be used: the provider answered {provider.wrong_key} "
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

        assert await until(lambda: _amiss(web)) == "The model did not answer: the provider answered 429."

        provider.then(words("I am here."))
        web.clock.ahead = HOUR
        web.service.engine.wake(CaseId(cast("int", opened["id"])))
        assert await until(lambda: _well(web))


async def _amiss(web: Served) -> str | None:
    return cast("str | None", (await _model(web)).get("why"))


async def _well(web: Served) -> bool | None:
    return (await _model(web))["ok"] is True or None


async def _model(web: Served) -> Json:
    told = cast("Json", (await web.anybody.get("/readyz")).json())
    return cast("Json", cast("Json", told["parts"])["model"])
