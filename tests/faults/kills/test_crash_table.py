"""The table "Crash points" of the design: a real process is killed exactly there, for each kind of step (R13, R14)."""

import pytest

from tests.faults.kills.conftest import Install
from tests.faults.kills.crashes import Installation
from tests.faults.kills.planned import plan

pytestmark = [pytest.mark.kill, pytest.mark.timeout(120)]

REST = ("rest",)
APPROVE = ("decide", "approve")
DONE = "All that was planned is done, after 3 messages."
AT_ONCE = "All that was planned is done, after 1 messages."


def say(tool: str = "") -> tuple[str, str, str]:
    """Ann asks for one call of a tool, or just asks."""
    return ("say", f"please {plan([(tool, 'k')]) if tool else ''}", "p1")


# Messages and model calls


def test_before_the_inbound_commit_nothing_is_stored_and_the_redelivery_is_new(installation: Installation) -> None:
    installation.killed("within intake.receive", say(), REST)
    assert installation.received == 0
    installation.runs(say(), REST)
    assert (installation.received, installation.posted) == (1, [AT_ONCE])


def test_after_the_inbound_commit_the_redelivery_is_a_duplicate(installation: Installation) -> None:
    installation.killed("after intake.receive", say(), REST)
    assert installation.received == 1
    installation.runs(say(), REST, say(), REST)
    assert (installation.received, installation.posted) == (1, [AT_ONCE])


@pytest.mark.parametrize("dies", ["during a model call", "within advance.respond"])
def test_without_a_stored_response_the_model_is_asked_again(installation: Installation, dies: str) -> None:
    installation.killed(dies, say(), REST)
    assert (installation.model_calls, installation.posted) == (["started"], [])
    installation.runs(REST)
    assert (installation.model_calls, installation.posted) == (["failed", "finished"], [AT_ONCE])
    assert installation.holds()


def test_after_the_response_commit_it_is_not_asked_for_again(installation: Installation) -> None:
    installation.killed("after advance.respond", say(), REST)
    assert (installation.model_calls, installation.outbox) == (["finished"], ["message due"])
    installation.runs(REST)
    assert (installation.model_calls, installation.posted) == (["finished"], [AT_ONCE])


# Calls that nobody has to allow


@pytest.mark.parametrize("tool", ["look", "note"])
def test_a_call_of_a_response_that_was_not_stored_is_made_once(installation: Installation, tool: str) -> None:
    installation.killed("within advance.respond", say(tool), REST)
    assert (installation.calls, installation.happened()) == ([], 0)
    installation.runs(REST)
    assert (installation.calls, installation.happened(), installation.posted) == (["finished ok"], 1, [DONE])


STARTED = {
    "after advance.respond": 0,
    "before the effect of {}": 0,
    "after the effect of {}": 1,
    "within advance.all_finished": 1,
}
"""Where a started call can be killed, and how often it has happened by then."""


@pytest.mark.parametrize("dies", STARTED)
def test_a_started_read_only_call_is_made_again(installation: Installation, dies: str) -> None:
    installation.killed(dies.format("look"), say("look"), REST)
    assert (installation.calls, installation.happened()) == (["started"], STARTED[dies])
    installation.runs(REST)
    assert (installation.calls, installation.happened()) == (["finished ok"], STARTED[dies] + 1)
    assert (installation.gates, installation.posted) == ([], [DONE])
    assert installation.holds()


@pytest.mark.parametrize("dies", STARTED)
def test_a_started_routine_call_is_never_repeated_and_a_person_is_asked(installation: Installation, dies: str) -> None:
    installation.killed(dies.format("note"), say("note"), REST)
    _never_again_by_itself(installation, happened=STARTED[dies], gates=[])


def _never_again_by_itself(installation: Installation, *, happened: int, gates: list[str]) -> None:
    """Started on disk; nothing before its deadline; then asked about, and closed by the true answer."""
    assert (installation.calls, installation.happened(), installation.gates) == (["started"], happened, gates)
    installation.runs(REST)
    assert (installation.calls, installation.happened(), installation.gates) == (["started"], happened, gates)
    installation.later()
    installation.runs(REST)
    assert (installation.calls, installation.gates) == (["unknown"], [*gates, "outcome open"])
    assert installation.happened() == happened
    installation.runs(("decide", "happened" if happened else "not_happened"), REST)
    assert installation.calls == ["finished ok" if happened else "failed failed"]
    assert installation.happened() == happened
    assert installation.gates == [*gates, "outcome approved"]
    assert DONE in installation.posted
    assert installation.holds()


@pytest.mark.parametrize("dies", ["before the effect of note", "after the effect of note"])
def test_run_it_again_makes_it_once_more_and_no_more(installation: Installation, dies: str) -> None:
    """Killed again after it was let run again, it is asked about again."""
    installation.killed(dies, say("note"), REST)
    before = installation.happened()
    installation.later()
    installation.runs(REST)
    installation.killed("after the effect of note", ("decide", "rerun"), REST)
    assert (installation.calls, installation.happened()) == (["unknown", "started"], before + 1)
    installation.later()
    installation.runs(REST)
    assert (installation.calls, installation.gates) == (["unknown", "unknown"], ["outcome approved", "outcome open"])
    installation.runs(("decide", "happened"), REST)
    assert installation.happened() == before + 1
    assert installation.calls == ["unknown", "finished ok"]


@pytest.mark.parametrize("tool", ["look", "note"])
def test_after_finished_the_turn_goes_on_with_the_result(installation: Installation, tool: str) -> None:
    installation.killed("after advance.all_finished", say(tool), REST)
    assert (installation.calls, installation.happened()) == (["finished ok"], 1)
    installation.runs(REST)
    assert (installation.calls, installation.happened(), installation.posted) == (["finished ok"], 1, [DONE])
    assert installation.gates == []


@pytest.mark.parametrize("dies", ["within advance.begin", "after advance.begin"])
def test_a_case_tool_that_acts_in_the_store_happens_with_its_record_or_not_at_all(
    installation: Installation, dies: str
) -> None:
    installation.killed(dies, say("case.set_title"), REST)
    installation.killed("within advance.respond", REST)
    assert installation.calls == []
    installation.killed("after advance.respond", REST)
    assert installation.calls == ["finished ok"]
    installation.runs(REST)
    assert (installation.calls, installation.posted) == (["finished ok"], [DONE])


# Calls that wait at a gate; a tool that says it is idempotent is not run twice either

GATED = pytest.mark.parametrize("tool", ["wipe", "sync"])


@GATED
def test_before_the_park_commit_nothing_is_asked_yet(installation: Installation, tool: str) -> None:
    installation.killed("within advance.respond", say(tool), REST)
    assert (installation.gates, installation.outbox) == ([], [])
    installation.runs(REST, APPROVE, REST)
    assert (installation.gates, installation.happened()) == (["approval approved"], 1)


@GATED
def test_after_the_park_commit_the_card_comes_from_the_outbox(installation: Installation, tool: str) -> None:
    installation.killed("after advance.respond", say(tool), REST)
    assert (installation.gates, installation.outbox) == (["approval open"], ["card due"])
    assert installation.posted == []
    installation.runs(REST)
    assert installation.posted[0].startswith(f'Approve?  {tool.capitalize()} "k"')
    installation.runs(APPROVE, REST)
    assert installation.happened() == 1


@GATED
def test_before_the_decision_commit_the_gate_is_still_open(installation: Installation, tool: str) -> None:
    installation.runs(say(tool), REST)
    installation.killed("within gating.decide", APPROVE, REST)
    assert (installation.gates, installation.happened()) == (["approval open"], 0)
    installation.runs(("decide", "deny"), REST)
    assert (installation.gates, installation.calls, installation.happened()) == (
        ["approval denied"], ["refused denied"], 0
    )  # fmt: skip


@GATED
@pytest.mark.parametrize("dies", ["after gating.decide", "within advance.begin"])
def test_after_the_decision_and_before_the_effect_it_is_spent_once(
    installation: Installation, tool: str, dies: str
) -> None:
    installation.runs(say(tool), REST)
    installation.killed(dies, APPROVE, REST)
    assert (installation.gates, installation.calls) == (["approval approved"], ["waiting"])
    installation.runs(REST)
    installation.runs(REST)
    assert (installation.calls, installation.happened()) == (["finished ok"], 1)
    assert DONE in installation.posted


SPENT = {
    "after advance.begin": 0,
    "before the effect of {}": 0,
    "after the effect of {}": 1,
    "within advance.all_finished": 1,
}
"""The same for a call that a person allowed: the approval is spent with the beginning of its run."""


@GATED
@pytest.mark.parametrize("dies", SPENT)
def test_a_spent_approval_is_not_spent_again_and_a_person_is_asked(
    installation: Installation, tool: str, dies: str
) -> None:
    installation.runs(say(tool), REST)
    installation.killed(dies.format(tool), APPROVE, REST)
    _never_again_by_itself(installation, happened=SPENT[dies], gates=["approval approved"])


@GATED
def test_after_finished_an_approved_call_is_over(installation: Installation, tool: str) -> None:
    installation.runs(say(tool), REST)
    installation.killed("after advance.all_finished", APPROVE, REST)
    assert (installation.calls, installation.happened()) == (["finished ok"], 1)
    installation.runs(REST)
    assert (installation.happened(), installation.gates) == (1, ["approval approved"])
    assert DONE in installation.posted


# What is said


@pytest.mark.parametrize(
    ("dies", "sent"),
    [
        ("within outbox.take_due", 0),
        ("after outbox.take_due", 0),
        ("before a text is sent", 0),
        ("after a text is sent", 1),
        ("within threads.posted", 1),
        ("after threads.posted", 1),
    ],
)
@pytest.mark.parametrize("can_find", [True, False], ids=["a platform that can say", "one that cannot"])
def test_around_a_send_nothing_is_lost_and_what_may_be_double_says_so(
    install: Install, dies: str, sent: int, can_find: bool
) -> None:
    """R27: in doubt the platform is asked; where it cannot say, it is said once more, marked."""
    installation = install(can_find=can_find)
    installation.killed("after advance.respond", say(), REST)
    installation.killed(dies, REST)
    assert len(installation.posted) == sent
    in_doubt = installation.outbox == ["message sending"]
    installation.runs(REST)
    installation.later()
    installation.runs(REST)
    assert installation.outbox == ["message sent"]
    repeated = in_doubt and not can_find
    assert len(installation.posted) == (sent + 1 if repeated else 1)
    assert [AT_ONCE in text for text in installation.posted] == [True] * len(installation.posted)
    assert ["possible duplicate" in text.lower() or "twice" in text.lower() for text in installation.posted][-1] is (
        repeated
    )


@pytest.mark.parametrize("dies", ["after a card is sent", "within threads.posted", "after a card is edited"])
def test_around_a_card_there_is_one_copy_that_shows_the_end(installation: Installation, dies: str) -> None:
    """R28: also where the process was killed before it knew which message the card is."""
    if dies == "after a card is edited":
        installation.runs(say("wipe"), REST)
        installation.killed(dies, APPROVE, REST)
    else:
        installation.killed(dies, say("wipe"), REST)
        installation.runs(REST, APPROVE, REST)
    installation.runs(REST)
    installation.later()
    installation.runs(REST)
    # its edit and the effect go on side by side: where the kill meets the effect, what became of that is asked too
    cards = [text for text in installation.posted if 'Wipe "k"' in text and "[ It happened ]" not in text]
    assert len(cards) == 1
    assert "Approved by kim" in cards[0]
    assert "Ran " in cards[0] or "Outcome unknown; asked in the next card" in cards[0]
