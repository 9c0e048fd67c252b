"""While a run works a case its thread says so; whatever becomes of that line, the run goes on."""

import pytest

from tests.loop.scripted import Held, Waits, calls, says
from tests.slack.office import Office


async def test_a_thread_shows_that_it_is_worked_on_until_the_run_ends(office: Office) -> None:
    held = Held()
    office.answers(Waits(held, says("Done.")))
    asked = await office.asks()
    await office.until(lambda: office.slack.status(asked) == "is working on it…" or None, "the status line")
    held.release.set()
    await office.shows(asked, "Done.")
    await office.until(lambda: office.slack.status(asked) == "" or None, "no status line")
    said = [call for call in office.slack.calls("assistant.threads.setStatus") if call.ok]
    assert len(said) == 2, "once at the start, once at the end"


async def test_nothing_is_shown_while_a_gate_waits(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})))
    asked = await office.asks()
    await office.card(asked)
    await office.until_so(lambda: at_rest(office))
    await office.until(lambda: shown_in(office)[1:] or None, "shown and cleared")
    assert shown_in(office) == ["is working on it…", ""]
    assert office.slack.status(asked) == ""
    assert (await office.gate()).state == "open"


async def test_each_of_several_runs_in_a_row_shows_it_and_clears_it(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), says("It is back."), says("Once more."))
    asked = await office.asks()
    await office.kim.presses(await office.card(asked), "gate_approve")
    await office.shows(asked, "It is back.")
    await office.ann.says(office.ops, "and now?", thread=asked)
    await office.shows(asked, "Once more.")
    await office.until(lambda: shown_in(office)[5:] or None, "three times shown and cleared")
    assert shown_in(office) == ["is working on it…", ""] * 3


@pytest.mark.parametrize("how", ["hangs", "has to wait"])
async def test_a_line_that_cannot_be_shown_now_delays_no_reply(
    office: Office, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.outbound.status_line._PATIENCE_S", 60)
    held = office.slack.hold("assistant.threads.setStatus") if how == "hangs" else None
    office.slack.fail_next("assistant.threads.setStatus", retry_after=600, times=None)
    office.answers(says("Done."), says("Again."))
    asked = await office.asks()
    await office.shows(asked, "Done.")
    await office.ann.says(office.ops, "and now?", thread=asked)
    await office.shows(asked, "Again.")
    if held is not None:
        held.release()
    assert len(office.slack.calls("assistant.threads.setStatus")) == 1


def shown_in(office: Office) -> list[str]:
    """What the status line was set to, one after the other."""
    return [str(call.args["status"]) for call in office.slack.calls("assistant.threads.setStatus") if call.ok]


async def at_rest(office: Office) -> bool:
    return office.service.engine.working == 0


async def test_a_line_that_slack_refuses_is_left_alone_and_the_case_goes_on(office: Office) -> None:
    office.slack.fail_next("assistant.threads.setStatus", error="missing_scope")
    office.answers(says("Done."), says("Again."))
    await office.shows(await office.asks(), "Done.")
    await office.shows(await office.asks("once more"), "Again.")
    assert len(office.slack.calls("assistant.threads.setStatus")) == 1
