"""Whoever asked takes back what waits with one word, wherever the case is talked about (design, section 6)."""

from collections.abc import Awaitable, Callable

import pytest

from bot.inbound import intake
from casestore import principals
from casestore.models import Case
from casestore.states import GateState, Outcome, Role
from casestore.tx import Tx
from channels.messages import Account, Inbound
from tests.beside.gate import at_a_gate
from tests.loop.cut_off import unknown
from tests.loop.ended import how_they_ended, kinds
from tests.loop.rig import THREAD, Killed, Rig
from tests.loop.scripted import calls, returned, said, says

Say = Callable[[Rig, Case, str, str], Awaitable[None]]

WITHDRAWN = 'Withdrawn, and not run: Restart "a"'


async def in_the_thread(rig: Rig, case: Case, text: str, by: str) -> None:
    assert (await rig.say(text, by=by)).id == case.id


async def from_the_command_line(rig: Rig, case: Case, text: str, by: str) -> None:
    await rig.speak(case, text, by=by)


@pytest.mark.parametrize("talks", [True, False], ids=["with a model", "with playbooks"])
@pytest.mark.parametrize(
    ("say", "via"), [(in_the_thread, "memory"), (from_the_command_line, "cli")], ids=["thread", "command line"]
)
@pytest.mark.parametrize(
    ("by", "text"), [("ann", "withdraw"), ("ann", " Withdraw.\n"), ("kim", "withdraw!")],
    ids=["whoever asked", "as a sentence", "an operator"],
)  # fmt: skip
async def test_the_call_is_not_made_and_the_turn_goes_on_as_after_a_denial(
    rig: Rig, talks: bool, say: Say, via: str, by: str, text: str
) -> None:
    rig.model.talks = talks
    await rig.restart()
    case = await at_a_gate(rig)
    rig.model.then(says("Then I leave it."))

    await say(rig, case, text, by)
    await rig.work()

    (gate,) = await rig.gates(case)
    assert (gate.state, gate.decided_by, gate.decided_via) == (GateState.WITHDRAWN, rig.people[by].id, via)
    assert rig.effects.made == ["look /"]
    assert await kinds(rig, case) == ["ok", "withdrawn", "not_asked"]
    assert returned(rig.model.sent[-1])[1] == f"withdrawn by {by}, not run"
    assert said(rig.model.sent[-1])[-1].startswith(f"{by} ")
    assert rig.posted()[-2:] == [WITHDRAWN, "Then I leave it."]
    assert await how_they_ended(rig, case) == [Outcome.PARKED, Outcome.ANSWERED]


@pytest.mark.parametrize(
    ("by", "text"),
    [("ben", "withdraw"), ("ann", "withdraw it, please"), ("ann", "Should I withdraw?"), ("ann", "approve"),
     ("ann", "> withdraw"), ("ann", "no, do not withdraw")],
)  # fmt: skip
async def test_anything_else_and_anybody_else_is_talk(rig: Rig, by: str, text: str) -> None:
    case = await at_a_gate(rig)
    gate = await rig.gate(case)
    rig.model.then(says("It still waits."))

    await rig.say(text, by=by)
    await rig.work()

    assert await rig.gates(case) == [gate]
    assert rig.posted()[-1] == "It still waits."


async def test_what_somebody_quotes_takes_nothing_back(rig: Rig) -> None:
    case = await at_a_gate(rig)
    gate = await rig.gate(case)
    zoe = Account(channel="memory", space="S", account_id="U-zoe", display_name="ann")
    other = THREAD.model_copy(update={"thread": "t9"})

    theirs = await rig.channel.say("withdraw", address=other, account=zoe, addressed=False)
    rig.model.then(says("What is it about?"))
    await rig.channel.quote(theirs, by=rig.account("ann"))
    await rig.work()

    assert await rig.gate(case) == gate


def of_another_tenant(tx: Tx, now: int) -> None:
    """An operator elsewhere, with an account here."""
    eve = principals.add(tx, now, tenant="elsewhere", name="eve", role=Role.OPERATOR)
    principals.bind(tx, now, eve.id, channel="memory", space="S", account_id="U-eve", bound_by=None)


async def test_nobody_of_another_tenant_nor_anybody_who_was_revoked_takes_anything_back(rig: Rig) -> None:
    case = await at_a_gate(rig)
    gate = await rig.gate(case)
    now = rig.clock.now()
    await rig.store.write(of_another_tenant, now)

    for address in (THREAD, THREAD.model_copy(update={"thread": "t2"})):
        eve = Account(channel="memory", space="S", account_id="U-eve", display_name="ann")
        await rig.channel.deliver(
            Inbound(address=address, account=eve, platform_id=f"e{address.thread}", text="withdraw", addressed=True,
                    at=now)
        )  # fmt: skip
    await rig.store.write(principals.revoke, now, rig.people["ann"].id, revoked_by=rig.people["root"].id)
    await rig.say("withdraw", by="ann")

    assert await rig.gate(case) == gate


async def test_what_became_of_a_call_is_left_open_by_operators_alone(rig: Rig) -> None:
    case = await unknown(rig)
    gate = await rig.gate(case)
    rig.model.then(says("An operator has to say."), says("Then it stays open."))

    await rig.say("withdraw")
    await rig.work()
    assert await rig.gate(case) == gate
    assert rig.posted()[-1] == "An operator has to say."
    assert "waiting for a decision" in str(returned(rig.model.sent[-1])[-1])
    assert "withdraw" not in str(returned(rig.model.sent[-1])), "nor is the model told that it could be"
    assert not [text for text in rig.posted() if "may not" in text]

    await rig.say("withdraw", by="kim")
    assert (await rig.gates(case))[-1].state is GateState.WITHDRAWN


async def test_too_late_hears_that_it_is_and_the_expiry_is_written(rig: Rig) -> None:
    """R6: judged by the clock, whatever has swept."""
    case = await at_a_gate(rig)
    gate = await rig.gate(case)
    rig.model.then(says("Nobody decided."))
    rig.clock.ms = gate.expires_at

    await rig.say("withdraw")
    await rig.work()

    assert [one.state for one in await rig.gates(case)] == [GateState.EXPIRED]
    assert [text for text in rig.posted() if text.startswith(f"Too late for gate {gate.id}. Expired:")]
    assert rig.posted()[-1] == "Nobody decided."


@pytest.mark.parametrize("kill", [None, "before", "after"])
@pytest.mark.parametrize("first", ["the word", "the decision", "the expiry"])
async def test_with_a_decision_or_the_expiry_in_either_order_the_first_counts(
    rig: Rig, first: str, kill: str | None
) -> None:
    """Killed while the word is being stored: it comes again, as the platform was not told that we have it (R29)."""
    case = await at_a_gate(rig)
    gate = await rig.gate(case)
    rig.model.then(says("Well."), says("As you say."))

    if first == "the decision":
        assert (await rig.decide(case)).taken
    elif first == "the expiry":
        rig.clock.ms = gate.expires_at
    if kill is not None:
        rig.die(**{kill: intake.receive})
        with pytest.raises(Killed):
            await rig.say("withdraw", platform_id="w1")
        await rig.restart()
    await rig.say("withdraw", platform_id="w1")
    late = None if first == "the decision" else await rig.decide(case, gate=gate)
    await rig.work()

    assert late is None or not late.taken
    state = {"the word": "withdrawn", "the decision": "approved", "the expiry": "expired"}[first]
    assert [str(one.state) for one in await rig.gates(case)] == [state]
    assert rig.effects.count("restart") == (first == "the decision")
    assert [message.text for message in await rig.messages(case)].count("withdraw") == 1
    assert "ann (requester): withdraw" in said(rig.model.sent[-1])


async def test_takes_back_what_waits_now_and_nothing_that_is_asked_later(rig: Rig) -> None:
    case = await at_a_gate(rig)
    rig.model.then(calls(("svc.restart", {"service": "b"})), says("I would rather restart b."))

    await rig.say("withdraw")
    await rig.work()

    assert (await rig.gate(case)).statement == 'Restart "b"'
    assert [str(one.state) for one in await rig.gates(case)] == ["withdrawn", "open"]
