"""Every copy of a card comes to its end, whoever decides, and whatever became of the other copies (R8, R28)."""

from __future__ import annotations

import asyncio

import pytest

from bot.people import closing
from casestore import outbox
from casestore.states import GateState
from casestore.tx import Tx
from tests.cli.command_line import Ended, call
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read, texts
from tests.wire.slack.rooms import Message, Room

RESTART = calls(("svc.restart", {"service": "shop"}))


@pytest.fixture
async def desk(office: Office) -> Room:
    """A room for approvals, which the settings name from now on."""
    room = office.slack.room("approvals", office.kim, office.lee)
    slack = office.settings.slack.model_copy(update={"approvals_room": room.id})
    office.settings = office.settings.model_copy(update={"slack": slack})
    await office.restart()
    await office.slack.connected()
    return room


async def asked(office: Office, desk: Room) -> tuple[Message, Message, Message]:
    """A thread in which a restart waits for a decision, its card, and the copy in the room for approvals."""
    office.answers(RESTART, says("Done with it."))
    thread = await office.asks()
    card = await office.card(thread)
    return thread, card, await office.until(lambda: next(iter(office.slack.posts(desk)), None), "a copy")


async def command(office: Office, *arguments: str) -> Ended:
    """A command of an operator, in a process of its own, while the service runs in this one."""
    return await asyncio.to_thread(call, office.db.parent, *arguments, "--db", str(office.db))


async def edits_of(office: Office, message: Message) -> int:
    """How often Slack has been asked to change a message, once nothing more is to be said."""
    await office.until_so(lambda: nothing_due(office))
    return sum(1 for one in office.slack.calls("chat.update") if one.args["ts"] == message.ts)


async def nothing_due(office: Office) -> bool:
    counts = await office.service.store.read(outbox.counts)
    return counts["due"] == counts["sending"] == 0


async def test_an_approval_by_another_process_ends_both_copies_with_who_when_and_from_where(
    office: Office, desk: Room
) -> None:
    thread, card, copy = await asked(office, desk)
    ended = await command(office, "gate", "approve", "1", "--reason", "go ahead", "--as", "lee")
    assert (ended.code, ended.err) == (0, "")
    await office.shows(thread, "Done with it.")
    await office.until(lambda: "Ran " in read(card) and "Ran " in read(copy), "what came of it")
    assert office.effects.made == ["restart shop"]
    for one in (card, copy):
        assert buttons(one) == []
        said = next(line for line in read(one).split("\n") if line.startswith("Approved by lee via the command line, "))
        assert '"go ahead"' in said
        assert "UTC" in said
    copy.versions.append(copy.versions[0])  # a screen that has seen none of it
    await office.kim.presses(copy, "gate_approve", stale=True)
    await office.whispered(office.kim, "already decided: Approved by lee via the command line")
    assert office.effects.made == ["restart shop"]


async def test_a_denial_by_another_process_is_on_both_copies(office: Office, desk: Room) -> None:
    thread, card, copy = await asked(office, desk)
    assert (await command(office, "gate", "deny", "1", "--reason", "not now", "--as", "lee")).code == 0
    await office.shows(thread, "Done with it.")
    await office.until(lambda: buttons(card) == buttons(copy) == [] or None, "two cards without buttons")
    assert "Denied by lee via the command line" in read(card)
    assert read(card) == read(copy)
    assert office.effects.made == []


async def test_a_deleted_copy_is_tried_once_for_each_press_and_the_gate_lives_on_elsewhere(
    office: Office, desk: Room
) -> None:
    thread, card, copy = await asked(office, desk)
    await office.slack.acked(*await office.kim.deletes(card))
    assert (await office.gate()).state is GateState.OPEN
    assert buttons(copy), "it is asked in the room"
    await office.lee.opens_home()
    page = await office.until(lambda: office.lee.home, "a page")
    assert any("Restart" in line for line in texts(page.blocks)), "and on the own page of who may decide"
    await office.ann.presses(card, "gate_approve", stale=True)  # who may not: its screen still shows it
    await office.whispered(office.ann, "You may not decide")
    assert await edits_of(office, card) == 1
    held = office.effects.hold("restart")
    await office.kim.presses(card, "gate_approve", stale=True)
    await held.reached.wait()
    assert await edits_of(office, card) == 2
    held.release.set()
    await office.shows(thread, "Done with it.")
    await office.until(lambda: "Ran " in read(copy), "the end of the copy that stands")
    assert await edits_of(office, card) == 2
    for _ in range(3):
        office.clock.ms += 3_600_000
        await office.service.delivery.deliver_due()
    assert await edits_of(office, card) == 2
    assert office.effects.made == ["restart shop"]


async def test_of_several_changes_of_a_deleted_copy_only_the_first_is_tried(office: Office, desk: Room) -> None:
    thread, card, copy = await asked(office, desk)
    await office.kim.deletes(card)
    held = office.slack.hold("chat.update")
    await office.kim.presses(copy, "gate_approve")
    await held.arrived()
    await office.until_so(lambda: worked(office))
    held.release()
    await office.shows(thread, "Done with it.")
    await office.until(lambda: "Ran " in read(copy), "the end of the copy that stands")
    assert await edits_of(office, card) == 1


async def worked(office: Office) -> bool:
    return bool(office.effects.made) and office.service.engine.working == 0


async def test_a_press_on_a_copy_that_we_did_not_know_makes_it_one_of_ours(office: Office, desk: Room) -> None:
    thread, card, copy = await asked(office, desk)
    workspace = office.slack.workspace
    stray = workspace.put(Message(office.ops, workspace.clock.ts(), workspace.bot, "Approve?", card.blocks))
    await office.ann.presses(stray, "gate_approve")
    await office.whispered(office.ann, "You may not decide")
    await office.until(lambda: stray.versions or None, "a stray copy as it is now")
    assert buttons(stray) == buttons(copy)
    await office.kim.presses(copy, "gate_approve")
    await office.shows(thread, "Done with it.")
    await office.until(lambda: all("Ran " in read(one) for one in (stray, card, copy)), "the end of every copy")
    assert buttons(stray) == []
    assert read(stray) == read(card) == read(copy)


@pytest.mark.parametrize("end", ["resolve", "close", "take"])
async def test_a_press_after_the_case_was_resolved_closed_or_taken_over_hears_so_and_nothing_is_done(
    office: Office, desk: Room, end: str
) -> None:
    _, card, copy = await asked(office, desk)
    if end == "close":
        case = await office.only_case()

        def close(tx: Tx) -> None:
            closing.close(tx, office.clock.now(), case, by="operator", why="a duplicate")

        await office.service.store.write(close)
        office.service.delivery.wake()
    else:
        await office.lee.runs("/case", f"{end} C-1001", room=office.ops)
    await office.until(lambda: buttons(card) == buttons(copy) == [] or None, "two cards without buttons")
    assert "Withdrawn" in read(card)
    assert read(card) == read(copy)
    await office.kim.presses(copy, "gate_approve", stale=True)
    await office.whispered(office.kim, "already decided: Withdrawn")
    assert (await office.gate()).state is GateState.WITHDRAWN
    assert office.effects.made == []


async def test_a_reason_written_while_somebody_else_decided_decides_nothing(office: Office, desk: Room) -> None:
    thread, card, copy = await asked(office, desk)
    await office.kim.presses(card, "gate_deny")
    modal = await office.modal(office.kim)
    await office.lee.presses(copy, "gate_approve")
    await office.shows(thread, "Done with it.")
    await office.kim.submits(modal, reason="no, not at night")
    await office.whispered(office.kim, "already decided: Approved by lee")
    assert office.effects.made == ["restart shop"]
    assert "not at night" not in read(card)


async def test_a_modal_sent_off_twice_counts_once_and_one_that_is_cancelled_not_at_all(
    office: Office, desk: Room
) -> None:
    thread, card, _ = await asked(office, desk)
    await office.kim.presses(card, "gate_revise")
    await office.kim.closes(await office.modal(office.kim))
    assert (await office.gate()).state is GateState.OPEN
    await office.kim.presses(card, "gate_revise")
    modal = await office.modal(office.kim)
    await asyncio.gather(*(office.kim.submits(modal, reason="the blue one") for _ in range(2)))
    await office.whispered(office.kim, "Sent back for revision")
    await office.whispered(office.kim, "already decided: Sent back for revision by kim")
    await office.shows(thread, "Done with it.")
    assert str(office.model.sent[-1]).count("the blue one") == 1
    assert office.effects.made == []


async def test_a_reason_of_three_thousand_characters_reaches_the_assistant_whole(office: Office, desk: Room) -> None:
    thread, card, copy = await asked(office, desk)
    reason = f"first {'x' * 2_989} last"
    await office.kim.presses(card, "gate_revise")
    await office.kim.submits(await office.modal(office.kim), reason=reason)
    await office.shows(thread, "Done with it.")
    assert reason in str(office.model.sent[-1])
    await office.until(lambda: "first xxx" in read(card) and "first xxx" in read(copy), "the reason on both")


async def test_what_is_long_is_opened_by_each_who_approves_on_each_copy_and_after_a_restart(
    office: Office, desk: Room
) -> None:
    office.answers(calls(("svc.restart", {"service": "x" * 5_000})), says("Done with it."))
    thread = await office.asks()
    card = await office.card(thread)
    copy = await office.until(lambda: next(iter(office.slack.posts(desk)), None), "a copy")
    await office.kim.presses(card, "gate_view")
    await office.kim.closes(await office.modal(office.kim))
    await office.restart()
    await office.slack.connected()
    decide = ["gate_view", "gate_deny", "gate_revise"]
    assert [buttons(one) for one in (card, copy)] == [[*decide, "gate_withdraw"], decide]
    await office.lee.presses(copy, "gate_view")
    modal = await office.modal(office.lee)
    assert "x" * 5_000 in "".join(texts(modal.blocks)[2:]).replace("(the same line) … ", "")
    assert (await office.gate()).state is GateState.OPEN
    await office.lee.submits(modal)
    await office.shows(thread, "Done with it.")
    await office.until(lambda: buttons(card) == buttons(copy) == [] or None, "two cards without buttons")
    assert "Approved by lee" in read(card)
