"""What a provider fails at, through its own client: what passes is asked again, what does not is handed over."""

from pathlib import Path
from typing import cast

import pytest
from aiohttp import web

from casestore.states import Outcome, StepState, TurnState, WaitingOn
from channels.memory import MemoryChannel
from tests.loop.rig import HOUR, MINUTE
from tests.models.rig import TRIES, Asked, answering, settings_for
from tests.wire.scripted import Cut, Elsewhere, Fault, Line, ModelServer, Page, Stall, words

OVERLOADED = "The assistant's model does not answer just now. Your message is stored; I try again by myself."
PASSING = [Fault(429), Fault(500), Fault(502), Fault(503), Fault(529), Fault(408), Cut(), Page()]
REFUSING = [Fault(400), Fault(401), Fault(403), Fault(404), Fault(422)]


@pytest.mark.parametrize("fault", PASSING, ids=str)
async def test_what_passes_is_asked_again_as_often_as_we_say_and_not_as_the_client_would(
    asked: Asked, fault: Line
) -> None:
    case = await asked.say("Help!", fault, fault, words("Here I am."))

    assert asked.rig.posted() == ["Here I am."]
    assert asked.server.sent[0] == asked.server.sent[1] == asked.server.sent[2]
    tried = await asked.rig.steps(case, tools_only=False)
    assert [step.state for step in tried] == [StepState.FAILED, StepState.FAILED, StepState.FINISHED]
    assert asked.rig.conductor.model_trouble is None
    await asked.goes_on(case)


@pytest.mark.parametrize("fault", PASSING, ids=str)
async def test_what_does_not_pass_in_time_is_put_off_the_person_is_told_and_it_goes_on_by_itself(
    asked: Asked, fault: Line
) -> None:
    case = await asked.say("Help!", *[fault] * TRIES)

    assert len(asked.server.sent) == TRIES
    assert asked.rig.posted() == [OVERLOADED]
    (turn,) = await asked.rig.turns(case)
    assert (turn.state, turn.not_before) == (TurnState.QUEUED, asked.rig.clock.now() + MINUTE)

    asked.rig.clock.pass_by(HOUR)
    asked.server.then(words("Here I am."))
    await asked.rig.work()
    assert asked.rig.posted() == [OVERLOADED, "Here I am."]
    await asked.goes_on(case)


async def test_a_provider_that_asks_for_a_few_seconds_is_given_them(asked: Asked) -> None:
    case = await asked.say("Help!", Fault(429, retry_after="7"), words("Here I am."))

    assert asked.rig.waited == [7.0]
    assert asked.rig.posted() == ["Here I am."]
    await asked.goes_on(case)


async def test_a_provider_that_asks_for_minutes_is_asked_when_they_have_passed_and_not_before(asked: Asked) -> None:
    case = await asked.say("Help!", Fault(429, retry_after="600"))

    assert (len(asked.server.sent), asked.rig.waited) == (1, [])
    assert asked.rig.posted() == [OVERLOADED]
    (turn,) = await asked.rig.turns(case)
    assert turn.not_before == asked.rig.clock.now() + 10 * MINUTE
    asked.rig.clock.pass_by(10 * MINUTE)
    asked.server.then(words("Here I am."))
    await asked.rig.work()
    assert asked.rig.posted() == [OVERLOADED, "Here I am."]
    await asked.goes_on(case)


async def test_a_provider_that_asks_for_a_day_is_asked_after_an_hour(asked: Asked) -> None:
    case = await asked.say("Help!", Fault(429, retry_after="86400"))

    (turn,) = await asked.rig.turns(case)
    assert turn.not_before == asked.rig.clock.now() + HOUR


@pytest.mark.parametrize("fault", REFUSING, ids=str)
async def test_what_does_not_pass_is_asked_once_handed_over_and_said_to_whoever_runs_it(
    asked: Asked, fault: Fault
) -> None:
    case = await asked.say("Help!", fault)

    assert len(asked.server.sent) == 1
    assert asked.rig.posted() == [f"I am handing {case.label} to an operator: the assistant's model refuses to work."]
    assert (await asked.rig.case(case)).waiting_on is WaitingOn.OPERATOR
    (run,) = await asked.rig.runs(case)
    assert (run.outcome, run.escalated) == (Outcome.ERROR, True)
    assert asked.rig.conductor.model_trouble is not None
    assert "Correct [model] in the settings and restart." in asked.rig.conductor.model_trouble

    await asked.goes_on(case)
    assert asked.rig.conductor.model_trouble is None


@pytest.mark.parametrize("named", [True, False])
async def test_a_quota_that_is_used_up_is_not_waited_for(asked: Asked, named: bool) -> None:
    case = await asked.say("Help!", asked.server.used_up if named else Fault(402))

    assert len(asked.server.sent) == 1
    assert asked.rig.conductor.model_trouble is not None
    trouble = asked.rig.conductor.model_trouble
    assert "cannot be used: the provider says that its quota or credit is used up" in trouble
    assert trouble.endswith("Look at the plan and the billing of that account; nothing has to be restarted.")
    await asked.goes_on(case)


async def test_a_model_that_stalls_has_not_answered_and_the_case_goes_on_when_it_does(
    provider: ModelServer, db: Path
) -> None:
    room = MemoryChannel()
    async with answering(db, settings_for(provider, timeout="200ms"), channel=room) as rig:
        stalled = Asked(rig, provider)
        case = await stalled.say("Help!", *[Stall()] * TRIES)
        assert rig.posted() == [OVERLOADED]
        (run,) = await rig.runs(case)
        assert run.error is not None
        assert "no answer within" in run.error
    provider.script.clear()  # on a slow machine the time may be over before the server was reached
    async with answering(db, settings_for(provider), channel=room) as rig:
        rig.clock.pass_by(HOUR)
        provider.then(words("Here I am."))
        await rig.work()
        assert [turn.state for turn in await rig.turns(case)] == [TurnState.SETTLED]
        assert provider.said() == ["ann (requester): Help!"]
        await Asked(rig, provider).goes_on(case)


async def test_a_wrong_key_hands_the_case_over_and_with_the_right_one_the_next_process_goes_on(
    provider: ModelServer, db: Path
) -> None:
    room = MemoryChannel()
    async with answering(db, settings_for(provider, key="sk-wrong"), channel=room) as rig:
        case = await Asked(rig, provider).say("Help!")
        assert rig.conductor.model_trouble is not None
        assert f"{provider.wrong_key} (it does not accept the key)" in rig.conductor.model_trouble
    async with answering(db, settings_for(provider), channel=room) as rig:
        await Asked(rig, provider).goes_on(case)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault(401), "the provider answered 401 (it does not accept the key)"),
        (
            Fault(404, says="Pull it first. "),
            "the provider answered 404 (it knows no such model, or the address is wrong), and says: "
            '"Pull it first. It went wrong for ***"',
        ),
        (
            Fault(429, retry_after="600", says="Slow down. "),
            'the provider answered 429, and says: "Slow down. It went wrong for ***"',
        ),
    ],
    ids=str,
)
async def test_the_log_says_which_case_which_model_left_without_an_answer_and_why(
    asked: Asked, caplog: pytest.LogCaptureFixture, fault: Fault, why: str
) -> None:
    case = await asked.say("Help!", fault)

    told = [vars(record)["fields"] for record in caplog.records if record.message == "model.no_answer"]
    assert told == [{"case": case.label, "model": f"{asked.server.name} at {asked.server.base_url}", "why": why}]


async def test_what_a_server_says_of_a_model_is_read_by_whoever_runs_it_and_by_nobody_who_asked(openai: Asked) -> None:
    said = "registry.ollama.ai/library/gemma:2b does not support tools"
    case = await openai.say("Help!", Fault(400, says=f"{said}. "))

    (run,) = await openai.rig.runs(case)
    assert run.error is not None
    assert f'and says: "{said}.' in run.error
    assert openai.rig.posted() == [f"I am handing {case.label} to an operator: the assistant's model refuses to work."]
    await openai.goes_on(case)


@pytest.mark.parametrize("body", ["", "{}", "[]", "null", '{"choices"', '"words"', "{]"])
async def test_a_server_that_is_something_else_is_put_off_and_the_case_goes_on(asked: Asked, body: str) -> None:
    case = await asked.say("Help!", *[Page(body)] * TRIES)

    assert asked.rig.posted() == [OVERLOADED]
    assert [turn.state for turn in await asked.rig.turns(case)] == [TurnState.QUEUED]
    asked.rig.clock.pass_by(HOUR)
    asked.server.then(words("Here I am."))
    await asked.rig.work()
    assert asked.rig.posted() == [OVERLOADED, "Here I am."]
    await asked.goes_on(case)


async def test_neither_the_key_nor_the_words_go_where_a_server_would_send_them(asked: Asked) -> None:
    met: list[str] = []

    async def meet(request: web.Request) -> web.Response:
        met.append(f"{dict(request.headers)} {await request.text()}")
        return web.Response(status=500)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", meet)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        port = cast("tuple[str, int]", runner.addresses[0])[1]
        case = await asked.say("Help!", *[Elsewhere(f"http://127.0.0.1:{port}")] * TRIES)
    finally:
        await runner.cleanup()
    assert met == []
    (run,) = await asked.rig.runs(case)
    assert str(run.error).endswith("did not answer: it cannot be reached, or the connection broke off.")
    asked.rig.clock.pass_by(HOUR)
    asked.server.then(words("Here I am."))
    await asked.rig.work()
    await asked.goes_on(case)


async def test_a_login_in_the_address_of_a_server_is_not_shown(
    openai: Asked, db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_for(openai.server, base_url=openai.server.base_url.replace("://", "://kim:letmein@"))
    async with answering(db.with_name("other.db"), settings) as rig:
        case = await Asked(rig, openai.server).say("Help!", Fault(404))
        (run,) = await rig.runs(case)
        assert f"openai:gpt-test at {openai.server.base_url.replace('://', '://***@')}" in str(run.error)
        assert "letmein" not in f"{run}{rig.conductor.model_trouble}{caplog.text}{rig.posted()}"


async def test_a_key_is_nowhere_whatever_the_provider_says_of_it(
    asked: Asked, db: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "casebound")
    case = await asked.say("Help!", *[Fault(500)] * TRIES)
    asked.rig.clock.pass_by(HOUR)
    await asked.say("Anybody?", Fault(401))

    shown = f"{asked.rig.posted()}{asked.rig.conductor.model_trouble}{await asked.rig.runs(case)}{caplog.text}"
    assert "do-not-show-this" not in shown
    stored = b"".join(path.read_bytes() for path in db.parent.iterdir() if path.is_file())
    assert b"Anybody?" in stored
    assert b"do-not-show-this" not in stored
