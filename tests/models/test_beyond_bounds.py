"""What a provider says that none should: figures, names and nesting out of all bounds. The case goes on."""

import json
from decimal import Decimal
from typing import Any, cast

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from bot.errors import ModelUnavailable
from bot.models.question import ask_model, parameters, usage_of
from casestore.states import Outcome
from tests.loop.scripted import ScriptedModel
from tests.models.rig import Asked
from tests.wire.scripted import Answer, Body, calls, words


@pytest.mark.parametrize("depth", [150, 250, 500])
async def test_arguments_nested_too_deeply_are_refused_and_the_case_goes_on(asked: Asked, depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    case = await asked.say("Look.", calls(("look", f'{{"at": {nested}}}'), ("look", '{"at": "/"}')), words("I see."))

    assert asked.rig.effects.made == ["look /"]
    assert asked.rig.posted() == ["I see."]
    await asked.goes_on(case)


@pytest.mark.filterwarnings("ignore::pydantic_ai._warnings.UsageExtractionFailedWarning")
@pytest.mark.parametrize("figure", [-5, 10**23, 2**62])
async def test_a_count_of_tokens_out_of_all_bounds_is_neither_an_error_nor_what_the_next_request_is_measured_by(
    asked: Asked, figure: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R16, R19: it says more than was ever said, as it does where it counts what a model only thought."""
    answer = asked.server.answer

    def boasting(line: Answer, number: int) -> Body:
        body = cast("dict[str, Any]", json.loads(json.dumps(answer(line, number))))
        body[asked.server.usage] = dict.fromkeys(body[asked.server.usage], figure)
        return body

    with monkeypatch.context() as during:
        during.setattr(asked.server, "answer", boasting)
        case = await asked.say("Hello.", words("Hello to you."))

    assert asked.rig.posted() == ["Hello to you."]
    await asked.goes_on(case)


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "", "x" * 100_000])
async def test_the_run_is_recorded_whatever_the_provider_calls_itself_and_its_answers(
    asked: Asked, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R16."""

    def told(_: int) -> str:
        return name

    with monkeypatch.context() as during:
        during.setattr(asked.server, "reported", name)
        during.setattr(asked.server, "response_id", told)
        case = await asked.say("Hello.", words("Hello to you."))

    assert asked.rig.posted() == ["Hello to you."]
    (run,) = await asked.rig.runs(case)
    assert run.outcome is Outcome.ANSWERED
    assert len(run.model_reported or "") <= 200
    await asked.goes_on(case)


@pytest.mark.parametrize("told", [float("inf"), float("nan")])
def test_a_cost_that_is_no_number_counts_as_none(told: float) -> None:
    """It is summed up into that of a run, which would never be a number again."""
    answered = ModelResponse([TextPart("Hello.")], usage=RequestUsage(cost=cast("Decimal", told)), model_name="m")
    assert usage_of(answered).cost_usd == 0.0


async def test_an_answer_that_is_nested_out_of_all_bounds_is_one_that_cannot_be_read() -> None:
    model = ScriptedModel()
    model.then(RecursionError())
    with pytest.raises(ModelUnavailable, match=r"its answer could not be read \(RecursionError\)"):
        await ask_model(model, [ModelRequest.user_text_prompt("Hello.")], parameters(), 1_000)
