"""Durations are written with units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.words.durations import LONGEST_MS, duration, duration_text


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("24h", 86_400_000),
        ("10m", 600_000),
        ("90d", 7_776_000_000),
        ("1h30m", 5_400_000),
        ("45s", 45_000),
        ("250ms", 250),
        ("1m250ms", 60_250),
        ("1d2h3m4s5ms", 93_784_005),
        ("90m", 5_400_000),
    ],
)
def test_a_duration_is_read(text: str, ms: int) -> None:
    assert duration(text) == ms


@pytest.mark.parametrize(
    "text",
    ["", "24", "h", "24 h", " 24h", "24h\n", "24H", "1.5h", "-1h", "30m1h", "1h1h", "1h30", "1w", "1mss", "\u0662h"],
)
def test_other_text_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match='is not a duration; write it like "24h", "10m"'):
        duration(text)


@pytest.mark.parametrize("value", [24, 24.0, True, None, ["24h"]])
def test_a_bare_number_is_refused_since_it_does_not_say_of_what(value: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        duration(value)


@pytest.mark.parametrize("text", ["0s", "0h0m"])
def test_no_time_at_all_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no time at all"):
        duration(text)


@pytest.mark.parametrize("text", ["3651d", "9" * 5000 + "h"])
def test_more_than_ten_years_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^'.{1,40} is longer than ten years"):
        duration(text)


@given(st.integers(min_value=1, max_value=LONGEST_MS))
def test_what_is_written_reads_back_the_same(ms: int) -> None:
    assert duration(duration_text(ms)) == ms
