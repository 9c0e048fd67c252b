"""Times and spans as people and scripts read them. `ms` is always integer milliseconds."""

from datetime import UTC, datetime, timedelta, tzinfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Not `strftime`, which speaks whatever language some library has set for the whole process.
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


def iso(ms: int) -> str:
    """A time for scripts and logs: `2026-11-30T19:45:00.000Z`. Raises `OverflowError` outside the years 1 to 9999."""
    return (EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def at_text(ms: int, zone: tzinfo | None, now: int, *, seconds: bool = False) -> str:
    """A time for people, in their zone (None: the machine's): `Tue 14:05 CET`; with its seconds: `Tue 14:05:07 CET`.

    More than six days from `now` a weekday would be ambiguous, so the date is added, and the year when it is
    another one: `Tue 8 Dec 14:05 CET`, `Tue 12 Jan 2027 14:05 CET`.
    """
    at = (EPOCH + timedelta(milliseconds=ms)).astimezone(zone)
    today = (EPOCH + timedelta(milliseconds=now)).astimezone(zone).date()
    words = [DAYS[at.weekday()]]
    if abs((at.date() - today).days) > 6:
        words += [str(at.day), MONTHS[at.month - 1]]
        if at.year != today.year:
            words.append(str(at.year))
    return " ".join([*words, f"{at:%H:%M:%S}" if seconds else f"{at:%H:%M}", _zone_text(at)])


def span_text(ms: int) -> str:
    """How long something took or will take, never more than is left: `23 h 40 min`, `25 min`, `2.4 s`, `20 ms`.

    Rounded down, at most two units, days from 48 hours on, seconds below ten minutes. Less than nothing is `0 ms`:
    a clock may have jumped.
    """
    if ms < SECOND:
        return f"{max(ms, 0)} ms"
    if ms < MINUTE:
        return f"{ms // 100 / 10:g} s"
    if ms < 10 * MINUTE:
        return _two(ms // MINUTE, "min", ms % MINUTE // SECOND, "s")
    if ms < HOUR:
        return f"{ms // MINUTE} min"
    if ms < 2 * DAY:
        return _two(ms // HOUR, "h", ms % HOUR // MINUTE, "min")
    return _two(ms // DAY, "d", ms % DAY // HOUR, "h")


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit} {small} {small_unit}" if small else f"{large} {large_unit}"


def _zone_text(at: datetime) -> str:
    """`CET`; for a zone whose short name is a bare offset, `UTC-03`."""
    name = at.tzname() or "UTC"
    return f"UTC{name}" if name[0] in "+-" else name
