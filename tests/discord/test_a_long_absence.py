"""Much was said while nobody listened, and more is said while that is read (R29)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.discord.household import Household
from tests.discord.test_catching_up import begun
from tests.loop.scripted import says

_HEARD = "SELECT json_extract(body, '$[0].text') FROM messages WHERE direction = 'in' ORDER BY seq"

MISSED = 250
PAGE = 100


async def heard(home: Household) -> list[str]:
    """What people have said in the one case, in the order in which it is read."""
    return [str(text) for text in await home.service.store.read(lambda tx: tx.column(_HEARD))]


async def test_250_missed_messages_over_several_pages_are_stored_in_their_order_before_what_is_said_meanwhile(
    home: Household,
) -> None:
    thread = await begun(home)
    await home.close()
    said = [f"message {number}" for number in range(MISSED)]
    live = [f"live {number}" for number in range(5)]
    for text in said:
        home.ann.says(thread, text)
    home.answers(*[says("Yes.")] * (MISSED + len(live)))
    before = len(home.discord.calls("get_messages"))

    def speak_up() -> None:
        for text in live:
            home.ann.says(thread, text)

    await opened_while(home, speak_up)

    async def all_heard() -> bool:
        return len(await heard(home)) >= 1 + MISSED + len(live)

    await home.until_so(all_heard)
    assert len(home.discord.calls("get_messages")) - before >= MISSED / PAGE
    assert await heard(home) == ["the oven is off", *said, *live]
    await home.restart()
    assert await heard(home) == ["the oven is off", *said, *live]


async def test_what_is_taken_back_or_changed_while_it_is_being_caught_up_on_is_not_kept_as_it_was(
    home: Household,
) -> None:
    thread = await begun(home)
    await home.close()
    taken_back, changed = home.ann.says(thread, "my password is hunter2"), home.ann.says(thread, "restart the oven")
    home.answers(says("I see."), says("I see."))

    def think_better() -> None:
        home.ann.deletes(taken_back)
        home.ann.edits(changed, "restart nothing")

    await opened_while(home, think_better)

    async def followed() -> bool:
        return (await heard(home))[2:] == ["restart nothing"]

    await home.until_so(followed)
    assert "hunter2" not in str(await heard(home))


async def opened_while(home: Household, then: Callable[[], None]) -> None:
    """Start the service; `then` happens when Discord has read the first page for it, which is not yet there."""
    held = home.discord.hold("get_messages", answer=True)

    async def meanwhile() -> None:
        await held.arrived()
        then()
        home.kim.runs("gate list", where=home.kitchen)  # what we were told before has reached us once this is answered
        await home.whispered(home.kim, "Nothing")
        held.release()

    async with asyncio.TaskGroup() as both:
        both.create_task(home.open())
        both.create_task(meanwhile())
