"""What stands in front of Discord answers with a page of its own: that is no word of Discord's, and nothing is lost."""

from __future__ import annotations

import pytest

from tests.discord.household import Household
from tests.discord.reading import read
from tests.loop.scripted import says

_TRIED = "SELECT id FROM outbox WHERE attempts > 0 AND state IN ('due', 'dead')"


@pytest.mark.parametrize("status", [403, 429])
async def test_what_is_turned_away_by_a_page_is_said_later(home: Household, status: int) -> None:
    home.answers(says("Hello."), says("Once."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    home.discord.fail_next("create_message", status=status, body="<html>You have been blocked</html>")
    home.ann.says(thread, "again?")

    async def tried() -> bool:
        return bool(await home.service.store.read(lambda tx: tx.column(_TRIED)))

    await home.until_so(tried)
    home.clock.ms += 60_000
    home.service.delivery.wake()
    await home.shows(thread, "Once.")
    assert [read(said) for said in home.discord.posts(thread)] == ["Hello.", "Once."]
