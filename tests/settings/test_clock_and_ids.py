"""The two places that a test replaces: where the time comes from, and where randomness does."""

import re
from datetime import UTC, datetime

import time_machine

from bot import ids
from bot.clock import Clock, SystemClock


def test_the_clock_tells_whole_milliseconds_utc() -> None:
    clock: Clock = SystemClock()
    with time_machine.travel(datetime(2026, 11, 30, 19, 45, 0, 7_900, tzinfo=UTC), tick=False):
        assert clock.now() == 1_796_067_900_007


def test_ids_have_their_shape_and_never_repeat() -> None:
    for make, shape in [
        (ids.nonce, r"[0-9a-f]{32}"),
        (ids.boot_id, r"boot-[0-9a-f]{16}"),
        (ids.token, r"[A-Za-z0-9_-]{43}"),
    ]:
        made = {make() for _ in range(100)}
        assert len(made) == 100
        assert all(re.fullmatch(shape, one) for one in made)
