"""What the service says on Discord arrives once, in order, and pings nobody (R27)."""

from __future__ import annotations

import pytest

from tests.discord.household import Household
from tests.discord.reading import read
from tests.loop.scripted import says

_PUT_OFF = "SELECT id FROM outbox WHERE state = 'due' AND attempts > 0"


@pytest.mark.parametrize("cut", [False, True])
async def test_a_post_that_failed_after_it_was_accepted_is_one_message(home: Household, cut: bool) -> None:
    home.answers(says("Hello."), says("Once."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    home.discord.fail_next("create_message", after_accepting=True, cut=cut)
    home.ann.says(thread, "again?")
    await home.shows(thread, "Once.")
    if cut:  # nobody knows then, and it is posted again after a while, which Discord answers with the first

        async def put_off() -> bool:
            return bool(await home.service.store.read(lambda tx: tx.column(_PUT_OFF)))

        await home.until_so(put_off)
        home.clock.ms += 60_000
        home.service.delivery.wake()
    home.answers(says("Then."))
    home.ann.says(thread, "and then?")
    await home.shows(thread, "Then.")
    assert [read(said) for said in home.discord.posts(thread)] == ["Hello.", "Once.", "Then."]


async def test_a_post_that_never_arrived_is_posted_again_as_if_it_were_the_first(home: Household) -> None:
    home.answers(says("Hello."), says("Once."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    home.discord.fail_next("create_message", cut=True)
    home.ann.says(thread, "again?")

    async def put_off() -> bool:
        return bool(await home.service.store.read(lambda tx: tx.column(_PUT_OFF)))

    await home.until_so(put_off)
    home.clock.ms += 60_000
    home.service.delivery.wake()
    await home.shows(thread, "Once.")
    assert [read(said) for said in home.discord.posts(thread)] == ["Hello.", "Once."]


@pytest.mark.parametrize("everywhere", [False, True])
async def test_429_is_waited_for_and_nothing_is_lost(home: Household, everywhere: bool) -> None:
    home.answers(says("Hello."), says("Later."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    if everywhere:
        home.discord.limit_everything(0.2)
    else:
        home.discord.fail_next("create_message", retry_after=0.2)
    home.ann.says(thread, "again?")
    await home.shows(thread, "Later.")
    assert [read(said) for said in home.discord.posts(thread)] == ["Hello.", "Later."]


async def test_nobody_is_pinged_and_nothing_hides_where_it_leads(home: Household) -> None:
    hostile = f"@everyone @here <@{home.kim.id}> ||boo|| [bank](https://evil.example) <t:0:R>"
    home.answers(says(hostile))
    thread = await home.asks()
    said = await home.shows(thread, "bank")
    assert not said.pings
    assert "](" not in said.content
    assert "||" not in said.content
    assert "evil.example" in said.content


@pytest.mark.parametrize("length", [1_999, 2_000, 2_001, 9_000])
async def test_a_long_answer_comes_whole_in_as_many_messages_as_it_takes(home: Household, length: int) -> None:
    text = " ".join(f"word{number}" for number in range(length))[:length]
    home.answers(says(text))
    thread = await home.asks()
    await home.shows(thread, text[-20:])
    assert "".join(said.content for said in home.discord.posts(thread)) == text


async def test_a_fence_that_is_never_closed_stays_code_in_every_piece(home: Household) -> None:
    text = "Look:\n```\n" + "\n".join(f"line {number}" for number in range(500))
    home.answers(says(text))
    thread = await home.asks()
    await home.shows(thread, "line 499")
    pieces = [said.content for said in home.discord.posts(thread)]
    assert len(pieces) > 1
    assert all(piece.count("```") == 2 for piece in pieces[:-1])


async def test_a_revoked_token_makes_health_red_and_loses_nothing(home: Household) -> None:
    home.answers(says("Hello."), says("Afterwards."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    home.discord.fail_next("create_message", status=401, times=None)
    home.ann.says(thread, "again?")
    await home.until(lambda: home.service.delivery.refused.get("discord"), "health that is red")
    assert "token" in home.service.delivery.refused["discord"]
    asked = len(home.discord.calls("create_message"))
    home.discord.heal("create_message")
    home.clock.ms += 61_000
    home.service.delivery.wake()
    await home.shows(thread, "Afterwards.")
    assert len(home.discord.calls("create_message")) <= asked + 1
    await home.until(lambda: home.service.delivery.refused == {} or None, "health that is well")
