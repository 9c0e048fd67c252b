"""A person reads when something happens, in their own zone."""

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.words.when import at_text, iso, span_text

BERLIN = ZoneInfo("Europe/Berlin")


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


NOW = ms("2026-11-30T19:45:00Z")


def test_scripts_read_iso_8601_in_utc_with_milliseconds() -> None:
    assert iso(NOW) == "2026-11-30T19:45:00.000Z"
    assert iso(NOW + 7) == "2026-11-30T19:45:00.007Z"
    assert iso(-1) == "1969-12-31T23:59:59.999Z"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-12-01T13:05:00Z", "Tue 14:05 CET"),
        ("2026-12-06T22:59:00Z", "Sun 23:59 CET"),
        ("2026-12-06T23:00:00Z", "Mon 7 Dec 00:00 CET"),
        ("2026-11-24T12:00:00Z", "Tue 13:00 CET"),
        ("2026-11-23T12:00:00Z", "Mon 23 Nov 13:00 CET"),
        ("2027-01-12T13:05:00Z", "Tue 12 Jan 2027 14:05 CET"),
        ("2027-07-13T12:05:00Z", "Tue 13 Jul 2027 14:05 CEST"),
    ],
)
def test_a_date_is_added_as_soon_as_a_weekday_could_be_mistaken(at: str, said: str) -> None:
    assert at_text(ms(at), BERLIN, NOW) == said


def test_two_readers_see_the_same_time_each_in_their_zone() -> None:
    at = ms("2026-12-01T23:30:00Z")
    assert at_text(at, UTC, NOW) == "Tue 23:30 UTC"
    assert at_text(at, ZoneInfo("Asia/Tokyo"), NOW) == "Wed 08:30 JST"


def test_a_zone_without_a_short_name_is_told_by_its_offset() -> None:
    assert at_text(NOW, ZoneInfo("America/Sao_Paulo"), NOW) == "Mon 16:45 UTC-03"


def test_without_a_zone_it_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert at_text(NOW, None, NOW) == "Mon 14:45 EST"
        assert at_text(ms("2026-07-07T12:00:00Z"), None, NOW) == "Tue 7 Jul 08:00 EDT"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (-5, "0 ms"),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (2_460, "2.4 s"),
        (59_999, "59.9 s"),
        (60_000, "1 min"),
        (90_999, "1 min 30 s"),
        (599_999, "9 min 59 s"),
        (600_999, "10 min"),
        (25 * 60_000 + 30_000, "25 min"),
        (3_600_000, "1 h"),
        (23 * 3_600_000 + 40 * 60_000 + 59_000, "23 h 40 min"),
        (36 * 3_600_000, "36 h"),
        (48 * 3_600_000 - 1, "47 h 59 min"),
        (48 * 3_600_000, "2 d"),
        (76 * 3_600_000 + 59 * 60_000, "3 d 4 h"),
    ],
)
def test_a_span_is_told_in_two_units_and_never_as_more_than_is_left(span: int, said: str) -> None:
    assert span_text(span) == said
