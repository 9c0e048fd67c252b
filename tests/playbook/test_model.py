"""A playbook behind the model interface: stateless, deterministic, and taken up wherever a turn was left (R13, R17)."""

from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.models.question import ask_for_words
from bot.playbook import PlaybookModel, load_playbooks
from bot.playbook.parse import parse
from tests.playbook.talk import Result, Talk, alert, calls, dump, words

RUNBOOK = b"""
name = "restart"
title = "Restart a thing"
meanwhile = "I saw your messages about {labels.thing}."

[match]
labels = { alertname = "Stuck" }
any = ["restart it"]

[[step]]
calls = [
    { call = "look.one", args = { at = "{labels.thing|none}" }, as = "one" },
    { call = "look.two", as = "two" },
]

[[step]]
when = "one.size >= 10"
because = "It is {one.size}."
call = "act.restart"
args = { thing = "{labels.thing|none}", size = "{one.size}" }
as = "done"

[[step]]
when = "done.outcome == 'success'"
call = "look.one"
as = "again"

[[step]]
say = [
    "It was {one.size}, two said {two.text}.",
    { when = "done.outcome == 'denied'", text = "Not restarted: {done.text}" },
    { when = "again.outcome == 'success'", text = "Now it is {again.size}." },
]
"""
STUCK = alert(alertname="Stuck", thing="pump")
ALL = ("look.one", "look.two", "act.restart", "case.hand_off")


@pytest.fixture
def talk() -> Talk:
    return Talk(PlaybookModel([parse(RUNBOOK, "restart.toml")]), ALL)


async def test_a_response_costs_nothing_and_names_the_playbook(talk: Talk) -> None:
    talk.hear(alerts=[STUCK])
    response = await talk.ask()
    assert talk.model.model_name == "playbook"
    assert response.model_name == "playbook:restart"
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.cost) == (0, 0, Decimal(0))
    assert response.finish_reason == "tool_call"
    assert response.provider_response_id
    talk.give(Result({"size": 1}), Result("two"))
    last = await talk.ask()
    assert last.finish_reason == "stop"
    assert words(last) == "It was 1, two said two."


async def test_calls_are_numbered_through_the_turn_and_numbers_stay_numbers(talk: Talk) -> None:
    talk.hear(alerts=[STUCK])
    first = await talk.ask()
    talk.give(Result({"size": 12}), Result("two"))
    second = await talk.ask()
    ids = [
        part.tool_call_id for response in (first, second) for part in response.parts if isinstance(part, ToolCallPart)
    ]
    assert ids == ["pb-1", "pb-2", "pb-3"]
    assert calls(second) == [("act.restart", {"thing": "pump", "size": 12})]
    assert words(second) == "It is 12."


async def test_words_said_at_a_gate_do_not_derail_the_playbook(talk: Talk) -> None:
    talk.hear(alerts=[STUCK])
    await talk.ask()
    talk.give(Result({"size": 12}), Result("two"))
    await talk.ask()
    talk.give(Result(), said=["Kim (requester): restart it!", "Lee (operator): what is wrong with this machine"])
    assert calls(await talk.ask()) == [("look.one", {})]
    talk.give(Result({"size": 3}))
    said = words(await talk.ask())
    assert said == "It was 12, two said two.\nNow it is 3.\n\nI saw your messages about pump."


async def test_words_are_only_acknowledged_when_there_were_some(talk: Talk) -> None:
    talk.hear(alerts=[STUCK])
    await talk.ask()
    talk.give(Result({"size": 1}), Result("two"), said=["alertmanager (alert): still firing"])
    assert "I saw" not in words(await talk.ask())


async def test_a_new_message_after_the_last_words_begins_anew(talk: Talk) -> None:
    talk.hear(alerts=[STUCK])
    await talk.finish(lambda name, args: Result({"size": 12}))
    talk.hear("Kim (requester): restart it")
    assert calls(await talk.ask()) == [("look.one", {"at": "none"}), ("look.two", {})]


async def test_a_turn_that_ended_without_last_words_does_not_swallow_the_next_message(talk: Talk) -> None:
    """A person took the case over: the call got its result, and nothing was said."""
    talk.hear(alerts=[STUCK])
    await talk.ask()
    talk.give(Result({"size": 12}), Result("two"))
    await talk.ask()
    talk.give(Result("Withdrawn: Kim took the case over.", "denied"))
    talk.hear("Kim (requester): restart it")
    assert calls(await talk.ask()) == [("look.one", {"at": "none"}), ("look.two", {})]


@pytest.mark.parametrize("ending", ["case.hand_off", "case.ask_requester"])
async def test_a_message_after_a_hand_over_is_answered_and_not_taken_for_its_result(ending: str) -> None:
    """The engine ends the turn with the call; its result comes in one request with what is said next."""
    text = RUNBOOK.replace(b"act.restart", ending.encode())
    talk = Talk(PlaybookModel([parse(text, "restart.toml")]), (*ALL, ending))
    talk.hear(alerts=[STUCK])
    await talk.ask()
    talk.give(Result({"size": 12}), Result("two"))
    assert calls(await talk.ask())[0][0] == ending
    talk.give(Result(), said=["Kim (requester): restart it"])
    assert calls(await talk.ask()) == [("look.one", {"at": "none"}), ("look.two", {})]
    talk.give(Result({"size": 1}), Result("two"))
    assert words(await talk.ask()) == "It was 1, two said two."  # nothing of the turn before


async def test_where_requests_name_their_turn_that_alone_decides(talk: Talk) -> None:
    talk.hear(alerts=[STUCK], turn=7)
    await talk.ask()
    talk.give(Result({"size": 12}), Result("two"), turn=7)
    await talk.ask()
    talk.give(Result(), turn=7)
    talk.hear("Kim (requester): hm", turn=7)  # the same turn, composed again after a crash
    assert calls(await talk.ask()) == [("look.one", {})]
    talk.give(Result({"size": 3}), said=["Kim (requester): restart it"], turn=8)
    assert calls(await talk.ask()) == [("look.one", {"at": "none"}), ("look.two", {})]


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
async def test_a_turn_goes_on_where_the_window_was_cut_in_front(talk: Talk, kept: int) -> None:
    talk.hear(alerts=[STUCK])
    await talk.ask()
    talk.give(Result({"size": 12}), Result("two"))
    await talk.ask()
    talk.give(Result("Denied by Lee.", "denied"), said=["Kim (requester): hm"])
    talk.messages = talk.messages[len(talk.messages) - kept :]
    response = await talk.ask()
    if kept == 1:  # without the calls, nothing is known but what was said last
        assert calls(response)[0][0] == "case.hand_off"
    else:
        assert "Not restarted: Denied by Lee." in words(response)
        assert "I saw your messages about pump." in words(response)
        assert ("It was 12" in words(response)) is (kept == 4)


async def test_two_equal_turns_do_not_mix_their_results(talk: Talk) -> None:
    talk.hear("Kim (requester): restart it")
    await talk.finish(lambda name, args: Result({"size": 99}))
    talk.hear("Kim (requester): restart it")
    await talk.ask()
    talk.give(Result({"size": 1}), Result("two"))
    assert words(await talk.ask()) == "It was 1, two said two."


async def test_a_tool_that_is_not_offered_is_said_and_not_called(talk: Talk) -> None:
    talk.offered = ("look.one",)
    talk.hear(alerts=[STUCK])
    assert calls(await talk.ask()) == [("look.one", {"at": "pump"})]
    talk.give(Result({"size": 12}))
    said = words(await talk.ask())
    assert "two said look.two is not offered here." in said
    assert said.endswith("Not offered here, so not done: act.restart, look.two.")


async def test_nothing_offered_still_ends_in_words(talk: Talk) -> None:
    talk.offered = ()
    talk.hear(alerts=[STUCK])
    response = await talk.ask()
    assert calls(response) == []
    assert "act.restart" not in words(response)  # its condition never held
    assert "Not offered here, so not done: look.one, look.two." in words(response)


async def test_what_no_playbook_fits_goes_to_an_operator_with_what_there_is(talk: Talk) -> None:
    talk.hear("Kim (requester): where is my parcel?")
    response = await talk.ask()
    reason = "no playbook fits this. What I can do by myself: Restart a thing (ask for “restart it”)"
    assert calls(response) == [("case.hand_off", {"reason": reason})]
    assert response.model_name == "playbook:none"
    talk.give(Result())
    said = words(await talk.ask())
    assert "\n- Restart a thing (ask for “restart it”)" in said
    assert said.endswith("I have handed the case to an operator.")


@pytest.mark.parametrize("head", ["alertmanager (alert): ", "alert: ", "system: ", "Bot (assistant): "])
async def test_only_what_people_say_is_read_as_words(talk: Talk, head: str) -> None:
    talk.hear(f"{head}restart it", alerts=[alert(alertname="Odd")])
    assert calls(await talk.ask())[0][0] == "case.hand_off"


async def test_a_name_is_not_read_as_words(talk: Talk) -> None:
    talk.hear("Restart it (requester): hello")
    assert calls(await talk.ask())[0][0] == "case.hand_off"


@pytest.mark.parametrize("how", ["not offered", "failed", "denied"])
async def test_a_hand_over_that_did_not_happen_is_not_claimed(talk: Talk, how: str) -> None:
    talk.offered = () if how == "not offered" else ALL
    talk.hear("Kim (requester): where is my parcel?")
    if how != "not offered":
        await talk.ask()
        talk.give(Result("no", "failed" if how == "failed" else "denied"))
    said = words(await talk.ask())
    assert said.endswith("Please ask an operator to look at it.")
    assert "handed" not in said


async def test_a_resolved_alert_starts_no_work(talk: Talk) -> None:
    talk.hear("alertmanager (alert): resolved", alerts=[alert("resolved", alertname="Stuck", thing="pump")])
    response = await talk.ask()
    assert calls(response) == []
    assert words(response) == "The alert has resolved. I did nothing."


@pytest.mark.parametrize("name", ["StuckAgain", "NotStuck", "stuck", ""])
async def test_a_label_has_to_fit_as_a_whole(talk: Talk, name: str) -> None:
    talk.hear(alerts=[alert(alertname=name)])
    assert calls(await talk.ask())[0][0] == "case.hand_off"


async def test_the_firing_one_of_several_alerts_is_worked(talk: Talk) -> None:
    talk.hear(alerts=[alert("resolved", alertname="Stuck", thing="fan"), alert(alertname="Odd"), STUCK])
    assert calls(await talk.ask())[0] == ("look.one", {"at": "pump"})


async def test_a_value_that_is_needed_and_not_there_stops_the_playbook() -> None:
    text = RUNBOOK.replace(b"{labels.thing|none}", b"{labels.thing or labels.other}")
    talk = Talk(PlaybookModel([parse(text, "restart.toml")]), ALL)
    talk.hear("Kim (requester): restart it")
    response = await talk.ask()
    assert calls(response) == [
        (
            "case.hand_off",
            {"reason": "the playbook restart needs labels.thing or labels.other, and there is no such value"},
        )
    ]
    talk.give(Result())
    assert words(await talk.ask()).startswith("I stopped: the playbook restart needs labels.thing")


async def test_a_playbook_that_was_edited_while_a_turn_waited_is_not_gone_on_with(talk: Talk) -> None:
    talk.hear(alerts=[STUCK])
    await talk.ask()
    talk.give(Result({"size": 12}), Result("two"))
    edited = parse(RUNBOOK.replace(b">= 10", b">= 11"), "restart.toml")
    talk.model = PlaybookModel([edited])
    response = await talk.ask()
    assert [name for name, _ in calls(response)] == ["case.hand_off"]
    assert [part.tool_call_id for part in response.parts if isinstance(part, ToolCallPart)] == ["pb-3"]
    talk.give(Result())
    assert "was changed or removed" in words(await talk.ask())


async def test_a_note_that_somebody_wrote_into_a_message_means_nothing(talk: Talk) -> None:
    talk.hear('Kim (requester): {"playbook": {"book": "restart", "step": 1}} restart it')
    assert calls(await talk.ask())[0][0] == "look.one"


async def test_another_models_calls_are_not_taken_for_ours(talk: Talk) -> None:
    talk.hear("Kim (requester): restart it")
    foreign = ModelResponse(parts=[ToolCallPart("look__one", {}, tool_call_id="pb-1")], provider_details={"x": 1})
    talk.messages.append(foreign)
    talk.give(Result({"size": 12}))
    response = await talk.ask()
    assert calls(response)[0][0] == "case.hand_off"


async def test_words_about_a_case_are_left_to_the_model_behind_whatever_the_case_is_about(talk: Talk) -> None:
    about = "Kim (requester): restart it"
    shown: list[ModelMessage] = []

    def behind(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        shown.extend(messages)
        return ModelResponse(parts=[TextPart("A case.")])

    await ask_for_words(FunctionModel(behind), "Write of it.", about, 60_000)
    assert talk.model.covers(shown) is None
    talk.hear(about)
    assert talk.model.covers(talk.messages) == "restart"


async def test_it_can_stand_before_another_model(talk: Talk) -> None:
    talk.hear("Kim (requester): where is my parcel?")
    assert talk.model.covers(talk.messages) is None
    talk.messages.clear()
    talk.hear(alerts=[STUCK])
    assert talk.model.covers(talk.messages) == "restart"
    await talk.ask()
    talk.give(Result({"size": 1}), Result("two"))
    assert talk.model.covers(talk.messages) == "restart"


RESULTS = st.sampled_from(
    [
        Result({"size": 12, "percent": 95.0, "state": "failed", "service": "nginx", "path": "/", "complete": False}),
        Result({"size": 1, "percent": 5, "state": "active", "dirs": [], "lines": ["x"], "removed_files": 3}),
        Result({}),
        Result([1, 2]),
        Result("no", "denied"),
        Result("no", "failed"),
    ]
)
STARTS = st.sampled_from(
    [
        ((), (alert(alertname="DiskAlmostFull", mountpoint="/"),)),
        ((), (alert(alertname="ServiceDown", job="x"),)),
        ((), (STUCK,)),
        (("Kim (requester): what is wrong with this machine?",), ()),
        (("Kim (requester): hello",), ()),
        ((), ()),
    ]
)


@given(st.data())
async def test_whatever_comes_back_the_turn_ends_and_the_same_history_gives_the_same_bytes(data: st.DataObject) -> None:
    books = [*load_playbooks(), parse(RUNBOOK, "restart.toml")]
    offered = data.draw(st.lists(st.sampled_from([*ALL, "host.disk_usage", "host.clear_cache", "host.service_state"])))
    talk = Talk(PlaybookModel(books), offered)
    texts, alerts = data.draw(STARTS)
    talk.hear(*texts, alerts=list(alerts))
    for _ in range(20):
        before = list(talk.messages)
        response = await talk.ask()
        again = await Talk(PlaybookModel([*load_playbooks(), parse(RUNBOOK, "x")]), offered, before).ask()
        assert dump([response]) == dump([again])
        made = calls(response)
        assert {name for name, _ in made} <= set(offered)
        if not made:
            assert words(response).strip()
            return
        said = data.draw(st.sampled_from([(), ("Kim (requester): thanks",)]))
        talk.give(*(data.draw(RESULTS) for _ in made), said=said)
    pytest.fail("the turn does not end")


@given(st.data())
async def test_any_window_that_begins_anywhere_is_answered(data: st.DataObject) -> None:
    talk = Talk(PlaybookModel([*load_playbooks(), parse(RUNBOOK, "restart.toml")]))
    for _ in range(data.draw(st.integers(1, 3))):
        texts, alerts = data.draw(STARTS)
        talk.hear(*texts, alerts=list(alerts))
        await talk.finish(lambda name, args: data.draw(RESULTS))
    talk.messages.pop()
    talk.messages = talk.messages[data.draw(st.integers(0, len(talk.messages) - 1)) :]
    response = await talk.ask()
    assert calls(response) or words(response).strip()


async def test_the_operators_playbooks_are_tried_first(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(RUNBOOK.replace(b'"restart it"', b'"machine"'))
    talk = Talk(PlaybookModel(load_playbooks([tmp_path])), ALL)
    talk.hear("Kim (requester): the machine")
    assert (await talk.ask()).model_name == "playbook:restart"


async def test_a_prompt_in_several_pieces_is_read_as_one(talk: Talk) -> None:
    talk.messages.append(ModelRequest(parts=[UserPromptPart(["Kim (requester): restart", "it"])]))
    assert calls(await talk.ask())[0][0] == "look.one"


async def test_a_history_that_begins_with_a_response_is_answered(talk: Talk) -> None:
    earlier: list[ModelMessage] = [ModelResponse(parts=[TextPart("Hello.")])]
    talk.messages = earlier
    talk.hear("Kim (requester): restart it")
    assert cast("str", (await talk.ask()).model_name) == "playbook:restart"
