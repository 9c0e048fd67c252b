"""A model that cannot be used is not a secret of the log: `/readyz` says what to do until it answers again."""

from pathlib import Path
from typing import cast

from tests.api.rig import Json, Served, served
from tests.models.rig import settings_for
from tests.wire.scripted import KEY, ModelServer, words


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
            "why": "The model cannot be used: the provider answered 401. Correct [model] in the settings and restart.",
        }
        assert "sk-" not in ready.text

        provider.key = KEY
        provider.then(words("I am here."))
        await web.post(f"/cases/{opened['label']}/messages", {"text": "And now?"}, status=201)
        await web.case_is(opened["label"], waiting_on="")
        assert await _model(web) == {"ok": True}


async def _model(web: Served) -> Json:
    told = cast("Json", (await web.anybody.get("/readyz")).json())
    return cast("Json", cast("Json", told["parts"])["model"])
