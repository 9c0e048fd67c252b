"""What arrives, and when: each message once, none lost, and a second one never waits for the first (R11, R29)."""

import asyncio
from collections.abc import Callable

import pytest

from bot.inbound import intake
from bot.settings import Settings
from bot.settings.sections import Access
from bot.turns import advance
from casestore import bindings, cases, leases, principals
from casestore.models import Case
from casestore.scope import System
from casestore.states import Origin, Outcome, Role
from casestore.tx import Tx
from channels.messages import Account
from tests.loop.conftest import MakeRig
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import Held, Waits, calls, said, says

ELSEWHERE = THREAD.model_copy(update={"thread": "t2"})


async def all_cases(rig: Rig) -> list[Case]:
    return await rig.store.read(cases.listing, System())


async def test_one_message_delivered_many_times_is_stored_once_and_answered_once(rig: Rig) -> None:
    rig.model.then(says("Yes?"))

    case = await rig.say("Hello", platform_id="1710.003")
    for _ in range(3):
        await rig.say("Hello", platform_id="1710.003")
    await rig.work()
    await rig.say("Hello", platform_id="1710.003")
    await rig.work()

    assert [message.text for message in await rig.messages(case)] == ["Hello", "Yes?"]
    assert len(rig.model.sent) == 1


async def test_twenty_simultaneous_first_messages_make_one_case(rig: Rig) -> None:
    rig.model.then(says("One at a time."))

    await asyncio.gather(*(rig.say(f"message {number}") for number in range(20)))
    await rig.work()

    (case,) = await all_cases(rig)
    stored = [message.text for message in await rig.messages(case)]
    assert sorted(stored[:-1]) == sorted(f"message {number}" for number in range(20))
    assert said(rig.model.sent[0]) == [f"ann (requester): {text}" for text in stored[:-1]]


async def test_a_message_during_a_run_is_answered_by_the_same_holder_after_it(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("First.")), says("Second, and third."))

    case = await rig.say("one")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    await rig.say("two")
    await rig.say("three")
    held.release.set()
    await working
    await rig.deliver()

    assert rig.posted() == ["First.", "Second, and third."]
    assert [said(sent)[-1] for sent in rig.model.sent] == ["ann (requester): one", "ann (requester): three"]
    assert {run.fence for run in await rig.runs(case)} == {1}
    assert [run.outcome for run in await rig.runs(case)] == [Outcome.ANSWERED, Outcome.ANSWERED]
    assert len(await rig.turns(case)) == 2


async def test_a_second_worker_finds_the_case_taken_and_leaves(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("Done.")))

    case = await rig.say("one")
    working = rig.start(rig.conductor.work(case.id))
    await held.reached.wait()
    assert await rig.conductor.work(case.id) is None
    assert await rig.store.read(leases.ready, rig.clock.now(), 10) == []
    held.release.set()
    await working

    assert len(await rig.runs(case)) == 1


def in_the_instant_of(rig: Rig, fn: Callable[..., object], text: str, *, first: bool) -> None:
    """Have somebody say `text` in one commit with the next run of `fn`: right before it, or right after it."""
    write = rig.store.write

    async def together(called: Callable[..., object], *args: object, **kwargs: object) -> object:
        if called is not fn:
            return await write(called, *args, **kwargs)
        setattr(rig.store, "write", write)  # noqa: B010 - see Rig.die
        arrives = rig.start(rig.say(text)) if first else None
        own = rig.start(write(called, *args, **kwargs))
        arrives = arrives or rig.start(rig.say(text))
        await asyncio.wait([arrives, own])
        return own.result()

    setattr(rig.store, "write", together)  # noqa: B010 - see Rig.die


@pytest.mark.parametrize("first", [True, False])
async def test_a_message_in_the_very_instant_of_settling_is_not_lost(rig: Rig, first: bool) -> None:
    rig.model.then(says("First."), says("Second."))

    case = await rig.say("one")
    in_the_instant_of(rig, advance.respond, "two", first=first)
    await rig.conductor.work(case.id)

    answered_by_the_same_holder = [run.fence for run in await rig.runs(case)] == [1, 1]
    assert answered_by_the_same_holder is first
    assert await rig.store.read(leases.ready, rig.clock.now(), 10) == ([] if first else [case.id])
    await rig.work()
    assert rig.posted() == ["First.", "Second."]


@pytest.mark.parametrize("first", [True, False])
async def test_the_engine_answers_a_message_of_that_instant_without_being_asked_again(rig: Rig, first: bool) -> None:
    rig.model.then(says("First."), says("Second."))
    rig.woken = rig.engine.wake

    in_the_instant_of(rig, advance.respond, "two", first=first)
    await rig.say("one")  # the engine is at work before this returns
    await rig.engine.idle()
    await rig.deliver()

    assert rig.posted() == ["First.", "Second."]


@pytest.mark.parametrize("first", [True, False])
async def test_a_message_in_the_very_instant_of_parking_is_kept_for_when_the_turn_goes_on(
    rig: Rig, first: bool
) -> None:
    rig.model.then(calls(("svc.restart", {"service": "nginx"})), says("Restarted."))

    case = await rig.say("one")
    in_the_instant_of(rig, advance.respond, "two", first=first)
    await rig.work()
    assert len(rig.model.sent) == 1
    await rig.decide(case)
    await rig.work()

    assert said(rig.model.sent[1]) == ["ann (requester): one", "ann (requester): two"]
    assert rig.posted()[-1] == "Restarted."


async def test_a_case_that_hangs_does_not_keep_another_waiting(rig: Rig) -> None:
    held = Held()
    rig.model.then(Waits(held, says("At last.")), says("At once."))
    rig.woken = rig.engine.wake

    slow = await rig.say("slow")
    await held.reached.wait()
    quick = await rig.say("quick", at=ELSEWHERE, by="ben")
    for task in [task for task in asyncio.all_tasks() if task.get_name() == f"case-{quick.id}"]:
        await task  # it may be done already
    assert await rig.texts(quick) == ["At once."]
    assert await rig.texts(slow) == []

    held.release.set()
    await rig.engine.idle()
    assert await rig.texts(slow) == ["At last."]


async def test_a_message_to_a_closed_case_opens_a_new_one_that_follows_it_in_the_same_thread(rig: Rig) -> None:
    rig.model.then(says("One."), says("Two."))

    old = await rig.say("first")
    await rig.work()
    await rig.close(old)
    new = await rig.say("second")
    await rig.work()

    assert (new.id, new.follows) == (old.id + 1, old.id)
    assert (await rig.case(old)).state == "closed"
    assert [binding.case_id for binding in await rig.store.read(bindings.of_case, new.id)] == [new.id]
    assert await rig.store.read(bindings.of_case, old.id) == []
    assert said(rig.model.sent[1]) == ["ann (requester): second"]


async def test_from_an_account_nobody_knows_comes_nothing_at_all(rig: Rig) -> None:
    """R20: no case, no reply, no model call."""
    stranger = Account(channel="memory", space="S", account_id="U-nobody", display_name="ann")

    await rig.channel.say("Let me in", address=THREAD, account=stranger)
    await rig.work()

    assert await all_cases(rig) == []
    assert (rig.posted(), rig.model.sent, rig.woken_for) == ([], [], [])


async def test_the_settings_may_let_unknown_accounts_in_as_requesters(make_rig: MakeRig) -> None:
    rig = await make_rig(says("Welcome."), settings=Settings(access=Access(unknown="requester")))
    stranger = Account(channel="memory", space="S", account_id="U-77", display_name="root")

    await rig.channel.say("Hello", address=THREAD, account=stranger)
    await rig.work()

    (case,) = await all_cases(rig)
    (hello, _) = await rig.messages(case)
    assert (hello.provenance, hello.author_account) == ("requester", "memory/S/U-77")
    assert said(rig.model.sent[0]) == [f"{intake.name_of(stranger)} (requester): Hello"]
    assert intake.name_of(stranger).startswith("root@memory-")
    assert rig.posted() == ["Welcome."]


async def test_who_was_let_in_by_the_settings_and_then_revoked_stays_out_by_their_account_not_by_a_name(
    make_rig: MakeRig,
) -> None:
    """R20."""
    rig = await make_rig(says("Welcome."), settings=Settings(access=Access(unknown="requester")))
    revoked, other = (Account(channel="memory", space="S", account_id=account_id) for account_id in ("U-1", "U-2"))
    now = rig.clock.now()
    await rig.channel.say("Hello", address=THREAD, account=revoked)
    admitted = await rig.store.read(principals.by_account, *revoked.identity)
    assert admitted is not None
    await rig.store.write(principals.revoke, now, admitted.id, revoked_by=rig.people["kim"].id)
    await rig.store.write(Tx.run, "UPDATE principals SET name = 'gone' WHERE id = :id", id=admitted.id)
    named_alike = "memory-S-U-2"
    await rig.store.write(principals.add, now, tenant="local", name=named_alike, role=Role.REQUESTER)
    await rig.channel.say("Hello again", address=ELSEWHERE, account=revoked)
    assert len(await all_cases(rig)) == 1
    await rig.channel.say("Me too", address=ELSEWHERE, account=other)
    assert len(await all_cases(rig)) == 2
    assert rig.channel.unacknowledged == []


ALIKE = [("S", "a-b"), ("S-a", "b"), ("", "S-a-b"), ("S", "a b"), ("S", "a_b"), ("S", "a\nb"), ("S", "a" * 300)]


async def test_whatever_an_account_is_called_on_its_platform_it_is_let_in_under_a_name_of_its_own(
    make_rig: MakeRig,
) -> None:
    rig = await make_rig(settings=Settings(access=Access(unknown="requester")))
    accounts = [Account(channel="memory", space=space, account_id=account_id) for space, account_id in ALIKE]
    for number, account in enumerate(accounts):
        at = THREAD.model_copy(update={"thread": f"t{number}"})
        await rig.channel.say("Hello", address=at, account=account)
    assert rig.channel.unacknowledged == []
    known = [await rig.store.read(principals.by_account, *account.identity) for account in accounts]
    assert len({one.name for one in known if one is not None}) == len(ALIKE)


async def test_talk_that_is_not_for_us_opens_no_case(rig: Rig) -> None:
    await rig.channel.say("Lunch?", address=THREAD, account=rig.account("ann"), addressed=False)

    assert await all_cases(rig) == []


async def test_in_the_thread_of_a_case_everything_said_belongs_to_it(rig: Rig) -> None:
    rig.model.then(says("Yes?"), says("I see."))

    case = await rig.say("Hello")
    await rig.work()
    await rig.say("It is the blue one.", addressed=False)
    await rig.say("I have it too!", by="ben", addressed=False)
    await rig.work()

    assert said(rig.model.sent[1])[1:] == [
        "ann (requester): It is the blue one.",
        "ben (bystander): I have it too!",
    ]
    assert len(await rig.turns(case)) == 2


async def test_a_turn_has_an_operators_permissions_only_when_every_message_of_it_is_theirs(rig: Rig) -> None:
    """R11."""
    rig.model.then(says("1"), says("2"), says("3"))

    case = await rig.say("Help")
    await rig.work()
    await rig.say("Do it", by="kim")
    await rig.work()
    await rig.say("And that", by="kim")
    await rig.say("Please", by="ann")
    await rig.work()

    who = [turn.acts_for for turn in await rig.turns(case)]
    assert who == [rig.people["ann"].id, rig.people["kim"].id, rig.people["ann"].id]


async def test_a_case_opened_without_any_thread_is_worked_all_the_same(rig: Rig) -> None:
    """R1."""
    rig.model.then(says("Looked at."))

    now, ann = rig.clock.now(), rig.people["ann"]
    case = await rig.store.write(intake.open_by, now, ann, Origin.CLI, "The disk is full.\nReally.")
    await rig.work()

    assert case.title == "The disk is full."
    assert await rig.texts(case) == ["Looked at."]
    assert await rig.outbox(case) == []
