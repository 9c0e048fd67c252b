"""`casebound alert …`: taking an alert from a file, as if its sender had posted it."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.alerts import alertmanager
from bot.alerts.intake import What, receive
from bot.cli.case import worked
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import say
from bot.errors import Refused
from channels.text import one_line

app = group("alert", "Alerts: what monitoring sends.")

_LARGEST = 64 * 1024 * 1024
_SAID = {
    What.OPENED: "opened",
    What.JOINED: "has more members",
    What.MEMBERS_RESOLVED: "some members have resolved",
    What.GROUP_RESOLVED: "all members have resolved",
    What.KNOWN: "nothing new",
}
_WORK = (What.OPENED, What.JOINED)


@command(app, "send")
def send(
    here: Here,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What Alertmanager's webhook sends, as JSON; `-` for stdin.")
    ],
) -> None:
    """Store an alert in the file directly; a case is opened for it just as over HTTP."""
    now = here.now
    taken = here.write(receive, now, alertmanager.read(_body(file), now), here.settings, here.zone)
    if taken.case is None:
        say("Ignored: none of it fires, and no case is about it.")
        return
    label = taken.case.label
    say(f"{label}: {_SAID[taken.what]}. {one_line(taken.case.title)}")
    if taken.what in _WORK:
        say(worked(here))
        say(f"See: {here.typed(f'case show {label}')}")


def _body(file: Path) -> bytes:
    if str(file) == "-":
        body = sys.stdin.buffer.read(_LARGEST + 1)
    else:
        with file.open("rb") as opened:
            body = opened.read(_LARGEST + 1)
    if len(body) > _LARGEST:
        raise Refused(f"{file} is larger than {_LARGEST // 1024 // 1024} MB, which no alert is.")
    return body
