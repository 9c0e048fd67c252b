"""Discord tells of nothing twice: what cannot be stored when it happens is stored once the store is back."""

from __future__ import annotations

import pytest

from channels.address import Address
from channels.discord.again import Again
from channels.messages import Changed
from tests.channel_contract.recorder import Recorder
from tests.degraded.broken import read_only
from tests.discord.household import Household
from tests.loop.scripted import says


async def test_a_deletion_during_an_outage_is_stored_once_the_store_is_back(
    home: Household, caplog: pytest.LogCaptureFixture
) -> None:
    home.answers(says("I see."), says("I see that too."))
    thread = await home.asks()
    await home.shows(thread, "I see.")
    said = home.ann.says(thread, "my password is swordfish")
    await home.shows(thread, "I see that too.")

    async def noticed() -> bool:
        return "discord.change_not_stored" in caplog.messages

    async def taken_away() -> bool:
        found = await home.service.store.read(lambda tx: tx.column("SELECT body FROM messages"))
        return "swordfish" not in str(found)

    async with read_only(home.service.store):
        home.ann.deletes(said)
        await home.until_so(noticed)
    await home.until_so(taken_away)


async def test_what_is_edited_twice_around_an_outage_is_told_in_its_order() -> None:
    recorder = Recorder()
    again = Again(recorder)
    recorder.refusing = True
    await again.changed(edited("first"))
    recorder.refusing = False
    await again.changed(edited("second"))
    await recorder.until_changed(2)
    await again.stop()
    assert [changed.text for changed in recorder.changes] == ["first", "second"]


def edited(text: str) -> Changed:
    """Of one message in one thread."""
    return Changed(address=Address(channel="discord", space="1", room="2", thread="3"), platform_id="4", text=text)
