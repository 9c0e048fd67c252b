"""What a provider says that none should: figures, names and nesting out of all bounds. The case goes on."""

import json
from typing import Any, cast

import pytest

from casestore.states import Outcome
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
        body["usage"] = dict.fromkeys(body["usage"], figure)
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
