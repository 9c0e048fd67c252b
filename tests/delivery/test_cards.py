"""Every copy of a card shows the same in the end, wherever the answer came from (R28)."""

from bot.gates import gating
from casestore import bindings, gates
from casestore.models import Case
from casestore.states import Verb
from channels.errors import Undeliverable
from channels.messages import Address, Card
from tests.loop.rig import HOUR, THREAD, Rig
from tests.loop.scripted import calls, says

ROOM = Address(channel="memory", space="S", room="approvals", thread="a1")
RESTART = ("svc.restart", {"service": "nginx"})


def cards(rig: Rig, at: Address) -> dict[str, Card]:
    """The cards that stand at an address, by the platform's id."""
    return {key: card for key, card in rig.channel.standing(at).items() if isinstance(card, Card)}


async def asked(rig: Rig) -> Case:
    """A case in two threads, whose card stands in both."""
    rig.model.then(calls(RESTART, text="It hangs."), says("Restarted."))
    case = await rig.say("nginx hangs")
    await rig.store.write(bindings.bind, rig.clock.now(), case, str(ROOM), actor="test")
    await rig.work()
    assert len(cards(rig, THREAD)) == len(cards(rig, ROOM)) == 1
    return case


async def test_a_decision_from_elsewhere_changes_every_copy_and_then_what_came_of_it(rig: Rig) -> None:
    case = await asked(rig)
    await rig.decide(case, reason="ok, go")
    await rig.deliver()
    for at in (THREAD, ROOM):
        (card,) = cards(rig, at).values()
        assert card.verbs == ()
        assert card.outcome[0].startswith("Approved by kim via the command line")
        assert '"ok, go"' in card.outcome[0]

    await rig.work()
    for at in (THREAD, ROOM):
        (card,) = cards(rig, at).values()
        assert len(card.outcome) == 2
        assert "restart nginx: done" in card.outcome[1]


async def test_a_thread_that_is_bound_while_a_gate_is_open_gets_its_card_too(rig: Rig) -> None:
    rig.model.then(calls(RESTART))
    case = await rig.say("nginx hangs")
    await rig.work()
    await rig.store.write(bindings.bind, rig.clock.now(), case, str(ROOM), actor="test")
    await rig.deliver()
    (card,) = cards(rig, ROOM).values()
    assert card.verbs == ("approve", "deny", "revise", "withdraw")


async def test_a_restart_between_the_decision_and_the_edit_changes_nothing(rig: Rig) -> None:
    case = await asked(rig)
    await rig.decide(case, Verb.DENY)
    await rig.restart()
    await rig.delivery.reconcile()
    await rig.work()
    for at in (THREAD, ROOM):
        (card,) = cards(rig, at).values()
        assert card.outcome[0].startswith("Denied by kim via the command line")


async def test_a_card_that_was_still_on_its_way_arrives_decided(rig: Rig) -> None:
    rig.model.then(calls(RESTART), says("Restarted."))
    case = await rig.say("nginx hangs")
    await rig.work(deliver=False)
    await rig.decide(case, Verb.DENY)
    await rig.deliver()
    (card,) = cards(rig, THREAD).values()
    assert card.verbs == ()
    assert card.outcome[0].startswith("Denied by kim")


async def test_a_press_on_a_copy_nobody_knew_decides_and_the_copy_ends_up_right(rig: Rig) -> None:
    case = await asked(rig)
    (key,), (shown,) = cards(rig, THREAD), cards(rig, THREAD).values()
    gate = await rig.gate(case)
    await rig.store.write(_forget_cards)
    said = await rig.channel.press(THREAD, key, "approve", rig.account("kim"), seen=shown)
    assert said == f"Approved: {gate.statement}"
    await rig.work()
    assert cards(rig, THREAD)[key].verbs == ()


async def test_people_who_may_not_decide_hear_so_alone_and_the_gate_stays_open(rig: Rig) -> None:
    case = await asked(rig)
    (key,) = cards(rig, THREAD)
    before = len(rig.posted())
    for who, heard in (
        ("ann", "You may not decide gate 1; an operator, not the requester may"),
        ("ben", "There is no gate 1 here that you may decide"),
        ("a stranger", "I do not know you"),
    ):
        assert heard in await rig.channel.press(THREAD, key, "approve", rig.account(who))
    assert (await rig.gate(case)).state == "open"
    assert rig.effects.made == []
    await rig.deliver()
    assert len(rig.posted()) == before


async def test_the_second_press_hears_who_was_first(rig: Rig) -> None:
    await asked(rig)
    (key,), (shown,) = cards(rig, THREAD), cards(rig, THREAD).values()
    await rig.channel.press(THREAD, key, "deny", rig.account("kim"))
    said = await rig.channel.press(THREAD, key, "approve", rig.account("lee"), seen=shown)
    assert "already decided" in said
    assert "Denied by kim via memory" in said


async def test_a_press_on_a_stale_card_decides_nothing(rig: Rig) -> None:
    case = await asked(rig)
    (key,), (shown,) = cards(rig, THREAD), cards(rig, THREAD).values()
    stale = shown.model_copy(update={"digest8": "0" * 8})
    assert "out of date" in await rig.channel.press(THREAD, key, "approve", rig.account("kim"), seen=stale)
    assert (await rig.gate(case)).state == "open"


async def test_an_expired_and_a_withdrawn_gate_say_so_on_the_card(rig: Rig) -> None:
    case = await asked(rig)
    rig.clock.pass_by(25 * HOUR)
    await rig.store.write(gates.expire_due, rig.clock.now())
    await rig.deliver()
    (card,) = cards(rig, THREAD).values()
    assert "nobody decided by" in card.outcome[0]
    assert "counts as a denial" in card.outcome[0]

    rig.model.script[:] = [says("I leave it."), calls(RESTART), says("Fine.")]
    await rig.work()
    await rig.say("Try again")
    await rig.work()
    gate = await rig.gate(case)
    await rig.store.write(
        gating.withdraw, rig.clock.now(), rig.people["kim"], gate.id, "fixed by hand", via="cli", zone=None
    )  # fmt: skip
    await rig.work()
    assert list(cards(rig, THREAD).values())[-1].outcome[0].startswith("Withdrawn")
    assert "fixed by hand" in list(cards(rig, THREAD).values())[-1].outcome[0]


async def test_a_copy_that_is_gone_is_not_edited_again_and_again(rig: Rig) -> None:
    """R3: its thread was deleted; the other copy goes on."""
    case = await asked(rig)
    await rig.channel.lose(ROOM, "the thread was deleted")
    await rig.decide(case)
    await rig.deliver()
    await rig.work()
    assert len(next(iter(cards(rig, THREAD).values())).outcome) == 2
    assert [row.address for row in await rig.outbox(case) if row.kind == "edit" and row.address == str(ROOM)] == []
    assert "outbox.dead" not in await rig.trail(case)


async def test_a_copy_that_somebody_deleted_is_given_up_once(rig: Rig) -> None:
    case = await asked(rig)
    rig.channel.fail(Undeliverable("there is no such message"), on="edit")
    await rig.decide(case)
    await rig.deliver()
    await rig.work()
    assert (await rig.trail(case)).count("outbox.dead") == 1
    edits = [row.address for row in await rig.outbox(case) if row.kind == "edit"]
    assert sorted(edits.count(str(at)) for at in (THREAD, ROOM)) == [1, 2]


def _forget_cards(tx: object) -> None:
    getattr(tx, "run")("DELETE FROM cards")  # noqa: B009 - a transaction, as any
