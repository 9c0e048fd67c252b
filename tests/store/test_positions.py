"""How far a channel has been heard: from its first start, and never back (R29)."""

from casestore import positions
from casestore.db import Store


async def test_a_channel_is_heard_from_its_first_start_and_later_ones_change_nothing(store: Store) -> None:
    assert await store.read(positions.heard_until, "slack") is None
    await store.write(positions.hear, "slack", 5)
    assert await store.read(positions.heard_until, "slack") is None, "it was never started"
    for now in (1_000, 2_000):
        await store.write(positions.listen, "slack", now)
    assert await store.read(positions.heard_until, "slack") == 1_000


async def test_the_time_up_to_which_all_is_heard_never_moves_back(store: Store) -> None:
    """Also where a clock has jumped, and compared as a number: 900 is before 1,000."""
    await store.write(positions.listen, "slack", 1_000)
    for until, then in ((900, 1_000), (10_000, 10_000), (9_999, 10_000)):
        await store.write(positions.hear, "slack", until)
        assert await store.read(positions.heard_until, "slack") == then


async def test_it_is_no_place_that_is_read(store: Store) -> None:
    await store.write(positions.listen, "slack", 1_000)
    await store.write(positions.begin, "slack:T/D1", "17.1")
    assert await store.read(positions.on, "slack") == ["slack:T/D1"]
