"""What a model says, through its provider's own client: each sort of answer does what design section 5 says of it."""

import pytest

from bot.tools.results import CallResult
from casestore.states import Outcome, WaitingOn
from tests.models.rig import Asked
from tests.wire.scripted import Answer, calls, words


async def test_a_question_is_answered_and_the_run_records_who_answered_and_what_it_used(asked: Asked) -> None:
    case = await asked.say("Is the disk full?", words("It is half full."))

    assert asked.rig.posted() == ["It is half full."]
    assert asked.server.said() == ["ann (requester): Is the disk full?"]
    (run,) = await asked.rig.runs(case)
    assert (run.outcome, run.model_calls, run.input_tokens, run.output_tokens) == (Outcome.ANSWERED, 1, 100, 10)
    (step,) = await asked.rig.steps(case, tools_only=False)
    assert (step.model_reported, step.provider_response_id) == (asked.server.reported, asked.server.response_id(1))
    await asked.goes_on(case)


async def test_the_tools_are_offered_under_names_that_the_provider_takes(asked: Asked) -> None:
    await asked.say("Hello.", words("Hello."))

    assert {"look", "note", "svc__restart"} <= set(asked.server.offered())
    assert asked.server.refused == []


async def test_several_calls_of_one_response_are_made_in_order_and_each_gets_its_own_result(asked: Asked) -> None:
    wanted = calls(
        ("look", '{"at": "/"}'), ("note", '{"text": "full"}'), ("look", '{"at": "/srv"}'), ids=("a", "b", "c")
    )
    case = await asked.say("Look around.", wanted, words("Both are full."))

    assert sorted(asked.rig.effects.made) == ["look /", "look /srv", "note full"]
    assert asked.server.results() == [("a", "| look /: done"), ("b", "| note full: done"), ("c", "| look /srv: done")]
    assert asked.rig.posted() == ["Both are full."]
    await asked.goes_on(case)


async def test_what_has_consequences_waits_for_a_person_and_its_result_reaches_the_model(asked: Asked) -> None:
    case = await asked.say("It hangs.", calls(("svc__restart", '{"service": "nginx"}'), ids=("held",)))
    assert asked.rig.effects.made == []

    await asked.rig.decide(case)
    asked.server.then(words("It runs."))
    await asked.rig.work()

    assert asked.rig.effects.made == ["restart nginx"]
    assert asked.server.results() == [("held", "| restart nginx: done")]
    assert asked.rig.posted()[-1] == "It runs."
    await asked.goes_on(case)


@pytest.mark.parametrize("arguments", ['{"at": 3}', "{}", '{"at": "/", "more": 1}'])
async def test_arguments_that_do_not_fit_are_an_error_for_the_model_and_nothing_is_made(
    asked: Asked, arguments: str
) -> None:
    case = await asked.say("Look.", calls(("look", arguments)), words("I see."))

    assert asked.rig.effects.made == []
    (step,) = await asked.rig.steps(case)
    assert CallResult.load(step.result or "").kind == "invalid"
    assert len(asked.server.results()) == 1
    assert asked.rig.posted() == ["I see."]
    await asked.goes_on(case)


@pytest.mark.parametrize("name", ["no_such_tool", "svc.restart", "look at this", "", "x" * 300, "näh"])
async def test_a_tool_that_is_not_there_is_an_error_for_the_model_which_the_provider_takes_back(
    asked: Asked, name: str
) -> None:
    case = await asked.say("Look.", calls((name, "{}"), ("look", '{"at": "/"}')), words("I see."))

    assert asked.rig.effects.made == ["look /"]
    assert len(asked.server.results()) == 2
    assert asked.rig.posted() == ["I see."]
    await asked.goes_on(case)


async def test_calls_that_never_work_hand_the_case_over_and_it_can_be_gone_on_with(asked: Asked) -> None:
    nothing = calls(("no_such_tool", "{}"))
    case = await asked.say("Look.", nothing, nothing, nothing)

    assert "kept calling tools in ways that do not work" in asked.rig.posted()[-1]
    assert (await asked.rig.case(case)).waiting_on is WaitingOn.OPERATOR
    await asked.goes_on(case)


@pytest.mark.parametrize("ids", [("same", "same"), ("x" * 64, "y" * 64), ("a b", "c/d")])
async def test_ids_that_a_provider_would_not_take_back_still_pair_each_call_with_its_result(
    asked: Asked, ids: tuple[str, str]
) -> None:
    case = await asked.say(
        "Look.", calls(("look", '{"at": "/a"}'), ("look", '{"at": "/b"}'), ids=ids), words("I see.")
    )  # fmt: skip

    assert [result for _, result in asked.server.results()] == ["| look /a: done", "| look /b: done"]
    assert len({call_id for call_id, _ in asked.server.results()}) == 2
    await asked.goes_on(case)


@pytest.mark.parametrize("begun", [None, "I won't, becau"])
async def test_a_refusal_is_said_in_our_words_and_the_case_stays_open(asked: Asked, begun: str | None) -> None:
    case = await asked.say("Something forbidden.", Answer(begun, finish="content_filter"))

    assert asked.rig.posted() == [f"I cannot help with this here. An operator can: {case.label} stays open."]
    (run,) = await asked.rig.runs(case)
    assert run.outcome is Outcome.REFUSED
    await asked.goes_on(case)


async def test_what_a_refused_answer_was_about_to_do_is_not_done(asked: Asked) -> None:
    case = await asked.say("Forbidden.", Answer(None, (("note", '{"text": "x"}'),), "content_filter"))

    assert asked.rig.effects.made == []
    await asked.goes_on(case)


async def test_an_answer_that_is_cut_off_is_continued_once_and_said_as_one(asked: Asked) -> None:
    case = await asked.say("How?", words("First you ", "length"), words("open the lid."))

    assert asked.rig.posted() == ["First you open the lid."]
    assert "go on exactly where it stopped" in asked.server.said()[-1]
    await asked.goes_on(case)


async def test_an_answer_that_is_cut_off_twice_is_said_as_it_is_and_marked(asked: Asked) -> None:
    case = await asked.say("How?", words("First you ", "length"), words("open ", "length"))

    assert asked.rig.posted() == ["First you open \n[cut off: the answer was too long]"]
    await asked.goes_on(case)


async def test_a_call_that_was_cut_off_is_not_made_and_the_case_can_be_gone_on_with(asked: Asked) -> None:
    case = await asked.say("Look.", Answer(None, (("look", '{"at": "/"'),), "length"), words("I see."))

    assert asked.rig.effects.made == []
    await asked.goes_on(case)


@pytest.mark.parametrize("nothing", [None, "", " \n"])
async def test_an_empty_answer_is_asked_for_once_more(asked: Asked, nothing: str | None) -> None:
    case = await asked.say("Help!", Answer(nothing), words("Here."))

    assert asked.rig.posted() == ["Here."]
    assert "your answer was empty" in asked.server.said()[-1]
    await asked.goes_on(case)


async def test_two_empty_answers_hand_the_case_over_and_it_can_be_gone_on_with(asked: Asked) -> None:
    case = await asked.say("Help!", Answer(), Answer(""))

    assert asked.rig.posted() == [f"I am handing {case.label} to an operator: the assistant had no answer."]
    assert len(asked.server.sent) == 2
    await asked.goes_on(case)


async def test_the_next_process_sends_what_was_sent_before_and_goes_on_from_there(asked: Asked) -> None:
    case = await asked.say("Look.", calls(("look", '{"at": "/"}')), words("I see."))
    await asked.say("Again.", words("Still so."))
    before = list(asked.server.history())
    await asked.rig.restart()
    await asked.say("And then?", words("As ever."))

    assert list(asked.server.history())[: len(before)] == before
    assert len(asked.server.history()) == len(before) + 2
    await asked.goes_on(case)
