"""Somebody reads the log: each line says one thing that happened, is genuine, and holds no secret."""

import asyncio
import io
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot import logs
from bot.redaction import Redaction
from bot.settings import load
from bot.words.durations import duration

LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR|CRITICAL) [\w.]+ ")

log = logging.getLogger("bot.engine")


class Written:
    """What stands in the log, without the time."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    def start(self, *secrets: str, debug: bool = False) -> Redaction:
        """Write from now on, and only here: what listens on behalf of the tests would raise."""
        logging.getLogger().handlers.clear()
        return logs.set_up(secrets, debug, self.stream)

    def lines(self) -> list[str]:
        found = self.stream.getvalue().splitlines()
        assert all(LINE.match(line) for line in found), found
        return [line.partition(" ")[2] for line in found]


@pytest.fixture
def written() -> Iterator[Written]:
    """The log of this process, put back as it was afterwards."""
    root = logging.getLogger()
    handlers, levels = list(root.handlers), {name: logging.getLogger(name).level for name in ["", *logs.LOGGERS]}
    yield Written()
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def failing(raiser: Callable[[], object]) -> BaseException:
    try:
        raiser()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_an_event_is_one_line_of_time_level_place_name_and_fields(written: Written) -> None:
    written.start()
    logs.event(log, "turn.settled", case="C-1001", turn=3, parked=False, gate=None, cost=0.25)
    assert written.lines() == ["INFO engine turn.settled case=C-1001 turn=3 parked=false gate=none cost=0.25"]


def test_an_event_may_have_another_level(written: Written) -> None:
    written.start()
    logs.event(log, "lease.lost", logging.WARNING, level=2)
    assert written.lines() == ["WARNING engine lease.lost level=2"]


def test_the_log_goes_to_stderr_and_nothing_to_stdout(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    del written
    logs.set_up()
    logs.event(log, "service.started")
    out, err = capsys.readouterr()
    assert (out, err.partition(" ")[2]) == ("", "INFO engine service.started\n")


def test_setting_up_again_does_not_double_the_lines(written: Written) -> None:
    logs.set_up(stream=written.stream)
    logs.set_up(stream=written.stream)
    logs.event(log, "service.started")
    assert len(written.lines()) == 1


FORGED = "hello\n2026-11-30T19:45:00.000Z INFO engine gate.approved by=kim"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_nobody_can_forge_a_line(written: Written, end: str) -> None:
    written.start()
    forged = FORGED.replace("\n", end)
    logs.event(log, "message.received", text=forged)
    log.warning("from %s", forged)
    log.warning("it failed", exc_info=ValueError(forged))
    logs.event(log, forged)
    assert len(written.lines()) == 4
    assert all("hello\\" in line for line in written.lines())


def test_nobody_can_forge_a_line_in_a_traceback_either(written: Written) -> None:
    written.start(debug=True)
    log.error("it failed", exc_info=failing(lambda: duration(FORGED)))
    log.error("it failed", exc_info=ValueError(FORGED))
    lines = written.stream.getvalue().split("\n")
    assert [line for line in lines if LINE.match(line)] == [line for line in lines if line and line[0] != " "]
    assert sum(bool(LINE.match(line)) for line in lines) == 2


def test_nobody_can_forge_a_field(written: Written) -> None:
    written.start()
    logs.event(log, "message.received", text='x" by=kim', name="a=b", path="a\\b", empty="")
    assert written.lines() == [
        r'INFO engine message.received text="x\" by=kim" name="a=b" path="a\\b" empty=""',
    ]


def test_terminal_codes_and_invisible_marks_are_shown(written: Written) -> None:
    written.start()
    logs.event(log, "message.received", text="\x1b[2J\u202egpj.exe\u200b", name="Zürich")
    assert written.lines() == [
        r'INFO engine message.received text="\x1b[2J\u202egpj.exe\u200b" name="Zürich"',
    ]


SECRET = 'xoxb/1+2 "q'


@pytest.mark.parametrize("debug", [False, True])
def test_a_secret_is_masked_wherever_it_stands(written: Written, debug: bool) -> None:
    written.start(SECRET, debug=debug)
    logs.event(log, f"event {SECRET}", text=SECRET, many=[SECRET], cause=ValueError(SECRET))
    log.warning("calling %s", f"https://example.test/?token={SECRET}")
    log.warning("calling %s", "https://example.test/?token=xoxb%2F1%2B2%20%22q&b=xoxb%2F1%2B2+%22q")
    log.warning("sent %s", '{"token": "xoxb/1+2 \\"q"}')
    log.error("it failed", exc_info=failing(lambda: duration(SECRET)))
    text = written.stream.getvalue()
    assert "xoxb" not in text
    assert text.count("***") >= 9


def test_a_secret_that_has_to_be_escaped_is_masked_before_it_is(written: Written) -> None:
    secret = 'xoxb\\"\x1b'
    written.start(secret)
    logs.event(log, f"event {secret}", text=secret)
    assert written.lines() == ["INFO engine event *** text=***"]


def test_a_secret_that_begins_like_another_leaves_nothing_over() -> None:
    assert Redaction("abc", "abcdef").clean("abcdef abc") == "*** ***"


def test_an_empty_secret_masks_nothing() -> None:
    assert Redaction("", "s3cret").clean("a s3cret") == "a ***"
    assert Redaction("").clean("a") == "a"


def test_a_secret_that_becomes_known_later_is_masked_from_then_on(written: Written) -> None:
    redaction = written.start()
    redaction.hide("s3cret")
    logs.event(log, "api.ready", token="s3cret")
    assert written.lines() == ["INFO engine api.ready token=***"]


def test_an_error_is_one_line_with_type_message_and_the_innermost_place_of_ours(written: Written) -> None:
    written.start()
    log.error("turn.failed", exc_info=failing(lambda: duration("24")))
    line = written.lines()[0]
    assert line.startswith("ERROR engine turn.failed error=\"ValueError: '24' is not a duration;")
    assert re.search(r" at=bot/words/durations\.py:\d+$", line)


def test_of_several_places_of_ours_the_innermost_is_told(written: Written) -> None:
    written.start()
    log.error("settings.failed", exc_info=failing(lambda: load(Path("nowhere.toml"))))
    assert re.search(r" at=bot/settings/sources\.py:\d+$", written.lines()[0])


def test_the_place_is_ours_even_where_a_library_raised(written: Written) -> None:
    written.start()
    log.error("settings.failed", exc_info=failing(lambda: Redaction(*[1])))  # pyright: ignore[reportArgumentType]
    assert re.search(r" at=bot/redaction\.py:\d+$", written.lines()[0])


def test_an_error_outside_our_code_comes_without_a_place(written: Written) -> None:
    written.start()
    log.error("odd", exc_info=failing(lambda: int("x")))
    assert "at=" not in written.lines()[0]


async def test_a_group_of_errors_tells_what_is_in_it(written: Written) -> None:
    written.start()

    async def fail() -> None:
        duration("24")

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
    except* ValueError:
        log.exception("turn.failed")
    assert "ValueError: '24' is not a duration" in written.lines()[0]
    assert "at=bot/words/durations.py:" in written.lines()[0]


def test_the_cause_that_an_error_names_is_told(written: Written) -> None:
    written.start()
    error = RuntimeError("not sent")
    error.__cause__ = ConnectionError("refused")
    log.error("outbox.failed", exc_info=error)
    assert 'error="RuntimeError: not sent (because of ConnectionError: refused)"' in written.lines()[0]


def test_a_traceback_is_shown_only_when_debugging_is_asked_for(written: Written) -> None:
    for debug in (False, True):
        written.start(debug=debug)
        log.error("turn.failed", exc_info=failing(lambda: duration("24")))
        assert ("Traceback" in written.stream.getvalue()) is debug


def test_libraries_are_heard_from_warnings_on_and_we_from_info_on(written: Written) -> None:
    written.start()
    for name in ("bot.engine", "casestore", "channels.slack", "casebound.http", "library"):
        logging.getLogger(name).debug("debug")
        logging.getLogger(name).info("info")
        logging.getLogger(name).warning("warning")
    assert [line for line in written.lines() if "info" in line] == [
        "INFO engine info",
        "INFO casestore info",
        "INFO channels.slack info",
        "INFO http info",
    ]
    assert "WARNING library warning" in written.lines()
    written.start(debug=True)
    log.debug("debug")
    logging.getLogger("library").info("info")
    assert written.lines()[-2:] == ["DEBUG engine debug", "INFO library info"]


@pytest.mark.parametrize(("text", "wanted"), [("debug", True), ("DEBUG", True), ("", False), ("info", False)])
def test_debugging_is_asked_for_with_a_variable(monkeypatch: pytest.MonkeyPatch, text: str, wanted: bool) -> None:
    monkeypatch.setenv("CASEBOUND_LOG", text)
    assert logs.debug_wanted() is wanted


def test_a_line_that_cannot_be_put_together_is_named_without_its_text(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    written.start("s3cret")
    log.warning("%s %s", "s3cret")
    assert re.fullmatch(r"WARNING engine logs\.unreadable at=test_logs:\d+ error=TypeError", written.lines()[0])
    assert capsys.readouterr() == ("", "")


def test_a_log_that_cannot_be_written_stops_nothing(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    written.start()
    written.stream.close()
    logs.event(log, "service.stopped")
    assert capsys.readouterr() == ("", "")


def test_a_one_time_code_is_never_shown() -> None:
    assert Redaction().clean("it is cb-7k3m-q9xt-2vhb-d4nr.") == "it is ***."
    assert Redaction("abc").clean("abc CB-7K3M-Q9XT-2VHB-D4NR") == "*** ***"
