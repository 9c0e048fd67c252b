"""What a card shows, and that every copy comes to show the same (R8, R28; presses are in tests/delivery)."""

import pytest

from bot.tools.declare import ToolFailed
from casestore import bindings, gates
from casestore.models import Case
from casestore.principals import actor
from casestore.states import GateState, Verb
from channels.errors import RetryLater
from channels.messages import Address, Card, Outbound
from tests.loop.rig import HOUR, THREAD, Rig
from tests.loop.scripted import calls, says

RESTART = ("svc.restart", {"service": "a"})
DIRS = [{"gb": gb, "path": path} for gb, path in ((8.5, "/opt"), (4, "/usr"), (1, "/var"), (0, "/srv"))]
ROOM = Address(channel="memory", space="S", room="approvals")


async def asked(rig: Rig, *, rooms: tuple[Address, ...] = (ROOM,)) -> Case:
    """A case that waits for a decision, shown in its thread and elsewhere."""
    rig.model.then(says("Yes?"), calls(RESTART, ("note", {"text": "x"}), text="It is stuck.\nReally."))
    case = await rig.say("It hangs")
    await rig.work()
    for room in rooms:
        await rig.store.write(bindings.bind, rig.clock.now(), case, str(room), actor="kim")
    await rig.say("Please restart it")
    await rig.work()
    return case


def cards(rig: Rig, at: Address) -> list[tuple[str, Card]]:
    """The cards at a place, with their platform ids."""
    standing = rig.channel.standing(at).items()
    return [(platform_id, content) for platform_id, content in standing if isinstance(content, Card)]


def outcomes(rig: Rig) -> set[tuple[str, ...]]:
    """What the cards show in place of their buttons."""
    shown = [card for at in (THREAD, ROOM) for _, card in cards(rig, at)]
    assert len(shown) >= 2
    assert all(not card.verbs for card in shown)
    return {card.outcome for card in shown}


async def test_the_card_says_what_will_happen_to_what_because_of_whom_and_what_if_nobody_does_anything(
    rig: Rig,
) -> None:
    await asked(rig)

    (_, card) = cards(rig, ROOM)[0]
    assert card.verbs == ("approve", "deny", "revise", "withdraw")
    assert (card.statement, card.tool, card.tier_note) == (
        'Restart "a"', "svc.restart", "consequential, not reversible"
    )  # fmt: skip
    assert card.asked_by == "the assistant, for ann (not verified)"
    assert card.because == "It is stuck.\nReally."
    assert card.waiting == "1 more call waits behind this one"
    assert card.decides == "an operator, not the requester"
    assert card.if_nobody.endswith("(in 24 h): denied; the requester is told")
    assert [(argument.name, argument.value) for argument in card.arguments] == [("service", "a")]


async def test_what_was_looked_at_is_told_in_words_and_a_failure_as_one(rig: Rig) -> None:
    rig.effects.answer("look", {"percent": 94, "at": "/", "dirs": DIRS, "bad": []}, ToolFailed("the disk is gone"))
    rig.model.then(calls(("look", {"at": "/"}), ("look", {"at": "/var"})), calls(RESTART))
    await rig.say("It hangs")
    await rig.work()

    ((_, card),) = cards(rig, THREAD)
    assert card.looked_at == (
        "look(/) → bad none, dirs 8.5 /opt; 4 /usr; 1 /var; …, percent 94",
        "look(/var) → failed: the disk is gone",
    )


async def test_while_the_effect_is_under_way_the_card_says_so(rig: Rig) -> None:
    case = await asked(rig)
    held = rig.effects.hold("restart")
    await rig.decide(case)
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.deliver()
    ((_, running),) = outcomes(rig)
    assert running.startswith("Running since ")

    rig.model.then(says("Restarted."))
    held.release.set()
    await working
    await rig.deliver()
    ((_, ran),) = outcomes(rig)
    assert ran.startswith("Ran ")


@pytest.mark.parametrize(
    ("how", "shown"),
    [
        ("deny", "Denied by kim via the command line, "),
        ("revise", "Sent back for revision by kim via the command line, "),
        ("expire", "Expired: nobody decided by "),
        ("withdraw", "Withdrawn "),
        ("take over", "Withdrawn "),
        ("resolve", "Withdrawn "),
    ],
)
async def test_however_a_gate_ends_every_copy_says_so_also_after_a_restart(rig: Rig, how: str, shown: str) -> None:
    case = await asked(rig)
    gate = await rig.gate(case)
    rig.model.then(says("I see."))
    match how:
        case "expire":
            rig.clock.pass_by(25 * HOUR)
            await rig.store.write(gates.expire_due, rig.clock.now())
        case "withdraw":
            kim = rig.people["kim"]
            await rig.store.write(gates.withdraw, rig.clock.now(), gate, by=actor(kim), reason="no", who=kim)
        case "take over":
            await rig.take(case)
        case "resolve":
            await rig.resolve(case)
        case verb:
            await rig.decide(case, Verb(verb))
    await rig.restart()
    await rig.delivery.reconcile()
    await rig.work()

    ((line, *_),) = outcomes(rig)
    assert line.startswith(shown)
    heading = {"Expired": "Expired", "Withdrawn": "Withdrawn"}.get(shown.rstrip().partition(":")[0], "Decided")
    assert {card.heading for _, card in cards(rig, THREAD)} == {heading}, "nobody decided what was taken back"


async def test_a_gate_decided_while_its_card_is_being_sent_is_edited_right_after(rig: Rig) -> None:
    rig.model.then(calls(RESTART))
    case = await rig.say("It hangs")
    await rig.work(deliver=False)
    send = rig.channel.send

    async def decided_meanwhile(outbound: Outbound) -> str:
        platform_id = await send(outbound)
        setattr(rig.channel, "send", send)  # noqa: B010 - as below
        await rig.decide(case, Verb.DENY)
        return platform_id

    setattr(rig.channel, "send", decided_meanwhile)  # noqa: B010 - the platform takes its time
    await rig.deliver()

    ((_, card),) = cards(rig, THREAD)
    assert (card.verbs, card.outcome[0][:6]) == ((), "Denied")


async def test_an_edit_that_the_platform_puts_off_is_made_later_with_what_is_true_then(rig: Rig) -> None:
    case = await asked(rig)
    rig.channel.fail(*[RetryLater(1_000)] * 2, on="edit")
    rig.model.then(says("Restarted."))
    await rig.decide(case)
    await rig.work()
    for _ in range(3):
        rig.clock.pass_by(1_000)
        await rig.deliver()

    ((_, ran),) = outcomes(rig)
    assert ran.startswith("Ran ")


async def test_a_deleted_card_is_no_decision(rig: Rig) -> None:
    case = await asked(rig, rooms=())
    (platform_id, _) = cards(rig, THREAD)[0]
    await rig.channel.delete(THREAD, platform_id)
    assert (await rig.gate(case)).state is GateState.OPEN
    rig.model.then(says("Restarted."))
    await rig.decide(case)
    await rig.work()

    assert rig.effects.count("restart") == 1
    assert rig.posted()[-1] == "Restarted."


async def test_two_gates_of_one_turn_have_a_card_each(rig: Rig) -> None:
    rig.model.then(calls(RESTART, ("svc.restart", {"service": "b"})), says("Both."))
    case = await rig.say("It hangs")
    await rig.work()
    await rig.decide(case)
    await rig.work()
    await rig.decide(case, Verb.DENY)
    await rig.work()

    first, second = (card for _, card in cards(rig, THREAD))
    assert (first.outcome[0][:8], second.outcome[0][:6]) == ("Approved", "Denied")
    assert len(first.outcome) == 2
    assert second.looked_at == ("restart(a) → restart a: done",)
