"""Several models: each is asked when those before it do not answer, and the histories of one are taken by the next."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.models.chain import Chain
from bot.models.provider import provided
from bot.settings import Settings
from casestore.states import Outcome, TurnState
from tests.loop.rig import HOUR, MINUTE
from tests.loop.scripted import Held, ScriptedModel, Waits, says
from tests.models.rig import TRIES, Asked, answering, settings_for
from tests.wire.anthropic.server import AnthropicServer
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import KEY, Answer, Fault, calls, words

SECOND = "openai:gpt-other"


def models(asked: Asked) -> list[object]:
    """Which model each request was for."""
    return [body["model"] for body in asked.server.sent]


@pytest.fixture
async def two(db: Path) -> AsyncIterator[Asked]:
    """Two models of one provider, one behind the other."""
    async with OpenAIServer() as server, answering(db, settings_for(server, fallback=(SECOND,))) as rig:
        yield Asked(rig, server)


@pytest.mark.parametrize("fault", [Fault(500), Fault(429, retry_after="600"), Fault(401), Fault(404)], ids=str)
async def test_when_the_first_does_not_answer_the_second_does_at_once(two: Asked, fault: Fault) -> None:
    case = await two.say("Help!", fault, words("Here I am."))

    assert two.rig.posted() == ["Here I am."]
    assert models(two) == ["gpt-test", "gpt-other"]
    assert two.rig.waited == []
    await two.goes_on(case)
    assert models(two)[-1] == "gpt-test"


async def test_a_first_that_refuses_is_said_to_whoever_runs_it_until_it_answers_again(two: Asked) -> None:
    case = await two.say("Help!", Fault(401), words("Here I am."))

    assert two.rig.conductor.model_trouble == (
        f"The model openai:gpt-test at {two.server.address}/v1 cannot be used: the provider answered 401 (it does not "
        "accept the key). Correct [model] in the settings and restart."
    )
    await two.goes_on(case)
    assert two.rig.conductor.model_trouble is None


async def test_a_first_that_is_silent_is_logged_once_and_once_more_when_it_answers(
    two: Asked, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "casebound.models")

    def logged() -> list[tuple[str, object]]:
        return [(one.message, vars(one)["fields"]) for one in caplog.records if one.name == "casebound.models"]

    why = 'the provider answered 500, and says: "It went wrong for ***"'
    who = f"openai:gpt-test at {two.server.base_url}"
    silent = ("model.silent", {"model": who, "why": why, "instead": SECOND})
    case = await two.say("Help!", Fault(500), words("Here I am."))
    assert logged() == [silent]
    assert two.rig.conductor.silent_models == {"openai:gpt-test": why}
    assert two.rig.conductor.model_trouble is None

    await two.say("Still?", Fault(500), words("Still."))
    assert logged() == [silent]

    await two.goes_on(case)
    assert logged() == [silent, ("model.answers_again", {"model": "openai:gpt-test"})]
    assert two.rig.conductor.silent_models == {}


async def test_a_model_that_refuses_to_answer_has_answered_and_another_is_not_asked(two: Asked) -> None:
    case = await two.say("Forbidden.", Answer(None, finish="content_filter"))

    assert (await two.rig.runs(case))[0].outcome is Outcome.REFUSED
    assert models(two) == ["gpt-test"]
    await two.goes_on(case)


async def test_when_none_answers_it_goes_on_when_the_first_of_them_may(two: Asked) -> None:
    case = await two.say("Help!", Fault(429, retry_after="1200"), Fault(429, retry_after="600"))

    (turn,) = await two.rig.turns(case)
    assert (turn.state, turn.not_before) == (TurnState.QUEUED, two.rig.clock.now() + 10 * MINUTE)
    two.rig.clock.pass_by(HOUR)
    two.server.then(words("Here I am."))
    await two.rig.work()
    await two.goes_on(case)


@pytest.mark.parametrize("faults", [(Fault(401), Fault(500)), (Fault(500), Fault(404))], ids=str)
async def test_as_long_as_one_may_answer_yet_the_case_is_not_handed_over(
    two: Asked, faults: tuple[Fault, Fault]
) -> None:
    case = await two.say("Help!", *faults * TRIES)

    assert [turn.state for turn in await two.rig.turns(case)] == [TurnState.QUEUED]
    two.rig.clock.pass_by(HOUR)
    two.server.then(words("Here I am."))
    await two.rig.work()
    await two.goes_on(case)


async def test_when_all_refuse_the_case_is_handed_over(two: Asked) -> None:
    case = await two.say("Help!", Fault(401), Fault(404))

    assert two.rig.posted() == [f"I am handing {case.label} to an operator: the assistant's model refuses to work."]
    await two.goes_on(case)


async def test_a_first_that_stalls_leaves_the_second_its_part_of_the_time(db: Path) -> None:
    first = ScriptedModel(Waits(Held(), says("Never.")))
    chain = Chain({"a:first": first, "b:second": ScriptedModel(says("In time."))}, 2)
    async with answering(db, Settings(), chain) as rig:
        await rig.say("Help!")
        await rig.work()
        assert rig.posted() == ["In time."]


async def test_each_of_several_that_stall_has_its_part_of_the_time_and_no_more(db: Path) -> None:
    stalled = [ScriptedModel(*[Waits(Held(), says("Never."))] * TRIES) for _ in range(2)]
    async with answering(db, Settings(), Chain({"a:first": stalled[0], "b:second": stalled[1]}, 4)) as rig:
        case = await rig.say("Help!")
        await rig.work()
        (run,) = await rig.runs(case)
        assert run.error == "The model a:first did not answer: no answer within 2ms."


async def test_playbooks_answer_when_no_model_does_and_the_model_goes_on_from_what_they_said(
    db: Path, tmp_path: Path
) -> None:
    async with OpenAIServer() as server:
        settings = _with_playbook(tmp_path, settings_for(server, fallback=("playbook",)))
        async with answering(db, settings) as rig:
            asked = Asked(rig, server)
            case = await asked.say("Please look.", Fault(500), Fault(500))
            assert rig.posted() == ["I looked."]
            assert rig.effects.made == ["look /"]
            await asked.goes_on(case)
            assert server.results() == [(server.results()[0][0], "| look /: done")]


async def test_what_playbooks_match_costs_no_model_and_the_rest_is_the_models(db: Path, tmp_path: Path) -> None:
    async with OpenAIServer() as server:
        settings = _with_playbook(tmp_path, settings_for(server, playbooks_first=True))
        async with answering(db, settings) as rig:
            asked = Asked(rig, server)
            case = await asked.say("Please look.")
            assert rig.posted() == ["I looked."]
            assert server.sent == []
            await asked.say("Tell me a story.", words("Once upon a time."))
            assert rig.posted() == ["I looked.", "Once upon a time."]
            await asked.goes_on(case)


async def test_a_turn_stays_with_the_model_that_began_it_whatever_words_are_said_meanwhile(
    db: Path, tmp_path: Path
) -> None:
    async with OpenAIServer() as server:
        settings = _with_playbook(tmp_path, settings_for(server, playbooks_first=True))
        async with answering(db, settings) as rig:
            asked = Asked(rig, server)
            case = await asked.say("It hangs.", calls(("svc__restart", '{"service": "nginx"}')))
            await rig.say("Please look.")
            await rig.decide(case)
            server.then(words("It runs."))
            await rig.work()
            assert "It runs." in rig.posted()
            assert server.results() != []
            await asked.goes_on(case)


async def test_what_one_provider_said_is_taken_by_another_that_takes_less(db: Path) -> None:
    """Arguments that are no JSON, names and ids of OpenAI's model, in the requests to Anthropic's."""
    async with OpenAIServer() as first, AnthropicServer() as second:
        chain = Chain(
            {server.name: provided(server.name, KEY, server.base_url) for server in (first, second)}, 120_000
        )  # fmt: skip
        async with answering(db, Settings(), chain) as rig:
            odd = calls(
                ("look", '{"at": '), ("no.such tool", "{}"), ("look", '{"at": "/"}'), ids=("a b", "a b", "x" * 64)
            )
            first.then(odd, Fault(500))
            second.then(words("I see."))
            case = await rig.say("Look.")
            await rig.work()
            assert rig.posted() == ["I see."]
            assert second.refused == []
            assert len(second.results()) == 3
            await Asked(rig, first).goes_on(case)


def _with_playbook(folder: Path, settings: Settings) -> Settings:
    path = folder / "look.toml"
    path.write_text(
        'name = "looking"\ntitle = "Look"\n[match]\nany = ["please look"]\n\n'
        '[[step]]\ncall = "look"\nargs = { at = "/" }\n\n[[step]]\nsay = "I looked."\n'
    )
    playbooks = settings.playbooks.model_copy(update={"paths": (path,)})
    return settings.model_copy(update={"playbooks": playbooks})
