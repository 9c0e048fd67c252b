"""Every copy of a gate's card, on every surface, comes to show the same final state (R28)."""

import pytest

from casestore import bindings, gates, outbox, recovery, spending, steps
from casestore.db import Store
from casestore.models import Gate, OutboxRow
from casestore.states import OutboxKind, Verb
from casestore.tx import Tx
from tests.conftest import BOOT, DAY, HOUR, MINUTE, Asked, World

HERE, THERE = "memory:S/R/1", "memory:S/R/2"


async def deliver(world: World) -> list[OutboxRow]:
    """Send what is due, round after round, each card as its gate looks at that moment; what was sent."""
    sent: list[OutboxRow] = []

    def look_of(tx: Tx, row: OutboxRow) -> str | None:
        return None if row.gate_id is None else outbox.look_of(tx, row.gate_id)

    while rows := await world.store.write(outbox.take_due, world.now, ("memory",), boot=BOOT, most=10):
        for row in rows:
            shown = await world.store.read(look_of, row)
            await world.store.write(outbox.mark_sent, world.now, row, row.target or f"m{row.id}", shown=shown)
            sent.append(row)
    return sent


async def shown(world: World, gate: Gate) -> dict[str, str]:
    """What each copy shows, by address and id."""
    rows = await world.store.read(
        Tx.column, "SELECT address || ' ' || platform_id || '=' || shown FROM cards WHERE gate_id = :id", id=gate.id
    )  # fmt: skip
    return dict(str(row).split("=", 1) for row in rows)


async def asked_in_two_threads(world: World) -> Asked:
    case = await world.case(address=HERE)
    await world.store.write(bindings.bind, world.now, case, THERE, actor="t")
    return await world.ask(await world.working(case=case))


async def assert_converged(world: World, gate: Gate, copies: int) -> None:
    look = await world.store.read(outbox.look_of, gate.id)
    assert list((await shown(world, gate)).values()) == [look] * copies
    assert await deliver(world) == [], "and nothing more is to be done"


async def end(world: World, asked: Asked, how: str) -> None:
    store = world.store
    if how in ("approve", "deny"):
        await world.decide(asked.gate, world.people.kim, Verb(how))
    elif how == "expire":
        await store.write(gates.expire_due, world.now + DAY)
    elif how == "withdraw":
        await store.write(gates.withdraw, world.now, asked.gate, by="t", reason="r")
    elif how == "extend":
        await store.write(
            gates.extend, world.now, asked.gate, world.people.kim, expires_at=world.now + 2 * DAY, reminders=()
        )  # fmt: skip
    else:
        await world.decide(asked.gate, world.people.kim)
        await store.write(gates.void, world.now, asked.gate, by="t", reason="r")


ENDS = ["approve", "deny", "expire", "withdraw", "void", "extend"]


@pytest.mark.parametrize("how", ENDS)
async def test_when_a_gate_moves_on_every_copy_is_edited_once(world: World, how: str) -> None:
    asked = await asked_in_two_threads(world)
    cards = await deliver(world)
    assert [(row.kind, row.address) for row in cards] == [(OutboxKind.CARD, HERE), (OutboxKind.CARD, THERE)]
    await end(world, asked, how)
    edits = await deliver(world)
    assert [(row.kind, row.address, row.target) for row in edits] == [
        (OutboxKind.EDIT, HERE, f"m{cards[0].id}"),
        (OutboxKind.EDIT, THERE, f"m{cards[1].id}"),
    ]
    await assert_converged(world, asked.gate, 2)


async def test_an_approval_that_becomes_void_is_shown_as_void(world: World, store: Store) -> None:
    asked = await world.ask(await world.working(case=await world.case(address=HERE)))
    await world.decide(asked.gate, world.people.kim)
    await deliver(world)
    await store.write(gates.void, world.now, await world.gate(asked.gate.id), by="t", reason="taken over")
    assert [row.kind for row in await deliver(world)] == [OutboxKind.EDIT]
    await assert_converged(world, asked.gate, 1)


@pytest.mark.parametrize("how", ENDS)
async def test_a_card_that_was_still_under_way_is_put_right_when_it_has_arrived(
    world: World, store: Store, how: str
) -> None:
    asked = await world.ask(await world.working(case=await world.case(address=HERE)))
    (card,) = await store.write(outbox.take_due, world.now, ("memory",), boot=BOOT, most=10)
    rendered = await store.read(outbox.look_of, asked.gate.id)
    await end(world, asked, how)
    await store.write(outbox.mark_sent, world.now, card, "m1", shown=rendered)
    (edit,) = await deliver(world)
    assert (edit.kind, edit.target) == (OutboxKind.EDIT, "m1")
    await assert_converged(world, asked.gate, 1)


async def test_a_card_that_was_not_sent_yet_is_rendered_as_the_gate_is_by_then(world: World) -> None:
    asked = await world.ask(await world.working(case=await world.case(address=HERE)))
    await end(world, asked, "deny")
    assert [row.kind for row in await deliver(world)] == [OutboxKind.CARD]
    await assert_converged(world, asked.gate, 1)


async def test_several_changes_before_an_edit_was_sent_are_one_edit(world: World) -> None:
    asked = await world.ask(await world.working(case=await world.case(address=HERE)))
    await deliver(world)
    for how in ("extend", "void"):
        await end(world, asked, how)
    assert [row.kind for row in await deliver(world)] == [OutboxKind.EDIT]
    await assert_converged(world, asked.gate, 1)


async def test_a_change_while_an_edit_is_being_sent_is_a_further_edit(world: World, store: Store) -> None:
    asked = await world.ask(await world.working(case=await world.case(address=HERE)))
    await deliver(world)
    await end(world, asked, "extend")
    (edit,) = await store.write(outbox.take_due, world.now, ("memory",), boot=BOOT, most=10)
    rendered = await store.read(outbox.look_of, asked.gate.id)
    await end(world, asked, "deny")
    await store.write(outbox.mark_sent, world.now, edit, None, shown=rendered)
    assert [row.kind for row in await deliver(world)] == [OutboxKind.EDIT]
    await assert_converged(world, asked.gate, 1)


async def test_a_press_on_a_copy_we_did_not_know_registers_it(world: World, store: Store) -> None:
    asked = await world.ask()
    stale = await store.read(outbox.look_of, asked.gate.id)
    await end(world, asked, "approve")
    for _ in range(2):
        await store.write(outbox.remember_card, world.now, asked.case.id, asked.gate.id, THERE, "m9", stale)
    (edit,) = await deliver(world)
    assert (edit.kind, edit.address, edit.target) == (OutboxKind.EDIT, THERE, "m9")
    await assert_converged(world, asked.gate, 1)


async def test_a_copy_that_shows_how_it_stands_needs_no_edit(world: World, store: Store) -> None:
    asked = await world.ask()
    look = await store.read(outbox.look_of, asked.gate.id)
    await store.write(outbox.remember_card, world.now, asked.case.id, asked.gate.id, THERE, "m9", look)
    assert await deliver(world) == []


async def test_a_card_comes_to_show_what_became_of_the_call_too(world: World, store: Store) -> None:
    asked = await world.approved(await world.ask(await world.working(case=await world.case(address=HERE))))
    looks = [await store.read(outbox.look_of, asked.gate.id)]
    await store.write(
        spending.spend, world.now, asked.lease, asked.run.id, asked.gate, tool_version="v1",
        deadline=world.now + MINUTE,
    )  # fmt: skip
    looks.append(await store.read(outbox.look_of, asked.gate.id))
    await store.write(steps.finish_tool, world.now + HOUR, asked.step.id, ok=True, result="{}")
    looks.append(await store.read(outbox.look_of, asked.gate.id))
    assert len(set(looks)) == 3
    await deliver(world)
    await assert_converged(world, asked.gate, 1)


@pytest.mark.parametrize("became", ["finished", "failed", "unknown", "told"])
async def test_when_it_is_known_what_became_of_the_call_its_card_is_edited(
    world: World, store: Store, became: str
) -> None:
    asked = await world.approved(await world.ask(await world.working(case=await world.case(address=HERE))))
    await store.write(
        spending.spend, world.now, asked.lease, asked.run.id, asked.gate, tool_version="v1",
        deadline=world.now + MINUTE,
    )  # fmt: skip
    await deliver(world)
    step = await store.read(steps.by_id, asked.step.id)
    if became in ("unknown", "told"):
        await store.write(recovery.mark_unknown, world.now, step)
    else:
        await store.write(steps.finish_tool, world.now, step.id, ok=became == "finished", result="{}")
    if became == "told":
        await deliver(world)
        await store.write(recovery.settle_unknown, world.now, step, happened=True, result="{}", actor="kim")
    assert [row.kind for row in await deliver(world)] == [OutboxKind.EDIT]
    await assert_converged(world, asked.gate, 1)
