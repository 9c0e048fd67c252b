"""What only OpenAI's client meets: arguments that are no JSON, a refusal beside the answer, a server without a key."""

from pathlib import Path

import pytest

from bot.tools.results import CallResult
from casestore.states import Outcome
from tests.models.rig import Asked, answering, settings_for
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import Answer, calls, words


@pytest.mark.parametrize("arguments", ['{"at": ', "", "at /", "[1, 2]", "null", '{"at": NaN}', '"/"'])
async def test_arguments_that_are_no_json_are_an_error_for_the_model_which_openai_takes_back(
    openai: Asked, arguments: str
) -> None:
    case = await openai.say("Look.", calls(("look", arguments)), words("I see."))

    assert openai.rig.effects.made == []
    (step,) = await openai.rig.steps(case)
    assert CallResult.load(step.result or "").kind == "invalid"
    assert openai.rig.posted() == ["I see."]
    await openai.goes_on(case)


async def test_a_refusal_that_openai_says_beside_the_answer_is_one(openai: Asked) -> None:
    case = await openai.say("Forbidden.", Answer(None, refusal="I'm sorry, I cannot."))

    assert (await openai.rig.runs(case))[0].outcome is Outcome.REFUSED
    await openai.goes_on(case)


async def test_a_server_of_ones_own_needs_no_key_and_gets_none_of_another_program(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-program")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    async with OpenAIServer() as server:
        server.key = "none"
        async with answering(db, settings_for(server, key=None)) as rig:
            await Asked(rig, server).say("Hello.", words("Hello."))
            assert rig.posted() == ["Hello."]
