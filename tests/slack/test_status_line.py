"""While a run works a case its thread says so; whatever becomes of that line, the run goes on."""

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
    await office.until(lambda: len(office.slack.calls("assistant.threads.setStatus")) == 2 or None, "shown and cleared")
    await office.until(lambda: office.slack.status(asked) == "" or None, "no status line")


async def test_a_line_that_slack_refuses_is_left_alone_and_the_case_goes_on(office: Office) -> None:
    office.slack.fail_next("assistant.threads.setStatus", error="missing_scope")
    office.answers(says("Done."), says("Again."))
    await office.shows(await office.asks(), "Done.")
    await office.shows(await office.asks("once more"), "Again.")
    assert len(office.slack.calls("assistant.threads.setStatus")) == 1
