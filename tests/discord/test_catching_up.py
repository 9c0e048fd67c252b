"""Discord says nothing twice: what was said while nobody listened is read afterwards, each message once (R29)."""

from __future__ import annotations

from casestore import cases, messages
from casestore.models import Message as Stored
from casestore.scope import System
from casestore.states import Direction
from tests.discord.household import Household
from tests.loop.scripted import says
from tests.wire.discord.places import Thread


async def heard(home: Household) -> list[str]:
    """What people have said, in all cases, in the order in which it was stored."""
    found: list[Stored] = []
    for case in await home.service.store.read(cases.listing, System()):
        found += await home.service.store.read(messages.of_case, System(), case.id)
    return [one.text for one in sorted(found, key=lambda one: one.id) if one.direction is Direction.IN]


async def begun(home: Household) -> Thread:
    """A thread with a case in it."""
    home.answers(says("Hello."))
    thread = await home.asks("the oven is off")
    await home.shows(thread, "Hello.")
    return thread


async def test_thirty_messages_that_were_said_while_the_service_was_down_are_stored_each_once(home: Household) -> None:
    thread = await begun(home)
    await home.close()
    said = [f"message {number}" for number in range(30)]
    for text in said:
        home.ann.says(thread, text)
    home.answers(*[says("Yes.")] * 30)
    await home.open()
    await home.shows(thread, "Yes.")
    assert await heard(home) == ["the oven is off", *said]
    await home.restart()
    assert await heard(home) == ["the oven is off", *said]


async def test_a_mention_in_a_room_while_the_service_was_down_opens_its_case_and_talk_there_does_not(
    home: Household,
) -> None:
    await begun(home)
    await home.close()
    home.discord.advance(60)
    home.ann.says(home.kitchen, "what a day")
    home.ann.mentions(home.kitchen, "the tap drips")
    home.answers(says("I see."))
    await home.open()
    (_, thread) = await home.discord.threads(home.kitchen, 2)
    await home.shows(thread, "I see.")
    assert await heard(home) == ["the oven is off", "the tap drips"]


async def test_a_new_installation_answers_nothing_that_was_said_before_it(home: Household) -> None:
    await home.close()
    home.db.unlink()
    for companion in home.db.parent.glob(f"{home.db.name}-*"):
        companion.unlink()
    home.ann.mentions(home.kitchen, "long ago")
    home.clock.ms += 3_600_000
    await home.open()
    await home.restart()
    assert await heard(home) == []
    assert home.discord.world.threads_of(home.kitchen) == []


async def test_a_drop_that_is_resumed_loses_nothing_and_doubles_nothing(home: Household) -> None:
    thread = await begun(home)
    home.answers(says("One."), says("Two."))
    home.discord.gateway.drop()
    home.ann.says(thread, "meanwhile")
    await home.shows(thread, "One.")
    home.ann.says(thread, "afterwards")
    await home.shows(thread, "Two.")
    assert await heard(home) == ["the oven is off", "meanwhile", "afterwards"]


async def test_a_drop_after_which_the_session_is_gone_loses_nothing_and_doubles_nothing(home: Household) -> None:
    thread = await begun(home)
    home.answers(says("One."), says("Two."))
    home.discord.gateway.forget()
    home.discord.gateway.drop()
    home.ann.says(thread, "meanwhile")
    await home.shows(thread, "One.")
    home.ann.says(thread, "afterwards")
    await home.shows(thread, "Two.")
    assert await heard(home) == ["the oven is off", "meanwhile", "afterwards"]
