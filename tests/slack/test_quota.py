"""How fast the past is read: never more calls of a method in a minute than Slack surely allows."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from channels.slack.quota import Quota


@given(sixteenths=st.lists(st.integers(0, 160), min_size=60, max_size=150))
def test_no_minute_has_more_than_its_share_and_nobody_waits_for_nothing(sixteenths: list[int]) -> None:
    """https://docs.slack.dev/apis/web-api/rate-limits: tier 3 is 50 a minute, and others want some of them."""
    now, called = 0.0, list[float]()
    quota = Quota(lambda: now)
    for pause in sixteenths:
        now += pause / 16  # which adds up exactly
        while (wait := quota.wait_s("conversations.replies")) > 0:
            now += wait
        called.append(now)
    for at in called:
        assert sum(at - 60 < other <= at for other in called) <= 40
    assert all(later - earlier <= 70 for earlier, later in pairwise(called))


def test_the_first_calls_go_at_once_and_one_method_does_not_keep_another_waiting() -> None:
    quota = Quota(lambda: 7.0)
    assert [quota.wait_s("conversations.replies") for _ in range(40)] == [0.0] * 40
    assert quota.wait_s("conversations.replies") == 60.0
    assert quota.wait_s("conversations.history") == 0.0
