"""What `casebound up` prints: where it listens, and what to type next, each line to be pasted as it is."""

import json
import shlex
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import first_start
from bot.doctor import operators_on
from bot.redaction import without_logins
from bot.settings import Settings
from bot.settings.model import PLAYBOOK
from bot.tools.mcp.servers import Servers
from bot.words.when import iso
from casestore import cases, gates
from casestore.canonical import digest
from casestore.cases import FIRST_NUMBER
from casestore.scope import System
from casestore.states import CaseState
from casestore.tx import Tx

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}
_TOKEN = "CASEBOUND_ALERTS__TOKEN"
_NAMED = 3
"""Of those who can approve on a channel, so many are named."""


@dataclass(frozen=True)
class Counted:
    """What a file continues with: all its cases, those that are live, the gates that wait, and who may decide where."""

    cases: int
    live: int
    waiting: int
    deciding: Mapping[str, Sequence[str]]


def counted(tx: Tx, channels: Iterable[str], spaces: Mapping[str, Sequence[str]]) -> Counted:
    """Count it, now (R2); for each of these channels, who can decide there, heard in these spaces of it."""
    by_state = cases.counts(tx)
    waiting = gates.listing(tx, System(), only_open=True, most=1_000_000)
    deciding = {name: operators_on(tx, name, spaces.get(name)) for name in channels}
    live = by_state[CaseState.NEW] + by_state[CaseState.IN_PROGRESS]
    return Counted(sum(by_state.values()), live, len(waiting), deciding)


def lines(
    settings: Settings, port: int, now: int, typed: Callable[[str], str], counted: Counted, servers: Servers, *,
    new: bool,
) -> Iterator[str]:  # fmt: skip
    """All of it; `new` says that the file was just made. How to see it work is said until there is a case."""
    url, db = url_of(settings.service.host, port), settings.service.db
    yield f"Casebound is up, at {url}"
    yield ""
    yield f"  database  {db.absolute()}, {'new' if new else _continued(counted)}"
    if settings.model.name != PLAYBOOK:
        yield f"  model     {_model(settings)}"
    yield from (f"  MCP       {line}" for line in _servers(servers))
    for channel, deciding in counted.deciding.items():
        yield f"  {channel:<8}  {_deciding(deciding, typed)}"
    yield f"  alerts    {_alerts(settings)}"
    yield f"  API       {url}/api/v1, {_api(settings, db)}"
    yield "  stop      Ctrl-C; a second one stops at once"
    yield ""
    yield from _what_is_there(counted, typed) if counted.cases else _tutorial(settings, url, now, typed)
    yield ""


def _what_is_there(counted: Counted, typed: Callable[[str], str]) -> Iterator[str]:
    if counted.waiting:
        yield typed("gate list")
    yield typed("case list")


def _tutorial(settings: Settings, url: str, now: int, typed: Callable[[str], str]) -> Iterator[str]:
    yield "To see it work, send it an alert. Paste this line into another terminal, in this folder:"
    yield ""
    yield curl(settings, url, now)
    yield ""
    if settings.alerts.token is not None:
        yield f"(It takes the [alerts] token from {_TOKEN}: export that there first.)"
        yield ""
    if settings.model.name == PLAYBOOK:
        yield "The alert becomes a case: the disk of this machine is looked at, and before a cache is cleared"
        yield "you are asked. Then:"
    else:
        yield f"The alert becomes a case, which {settings.model.name} works. Before anything that has consequences"
        yield "you are asked; if it wants to do such a thing:"
    yield ""
    yield typed("gate list")
    yield typed("gate approve 1")
    yield typed(f"case show C-{FIRST_NUMBER}")


def curl(settings: Settings, url: str, now: int) -> str:
    """One line for a shell, which posts an alert about this machine's disk; each start's is another episode."""
    token = "" if settings.alerts.token is None else f'-H "Authorization: Bearer ${_TOKEN}" '
    body = json.dumps(_alert(socket.gethostname(), now), separators=(",", ":"))
    return f"curl -sS -H 'Content-Type: application/json' {token}-d {shlex.quote(body)} {url}/alerts/alertmanager"


def url_of(host: str, port: int) -> str:
    """Where a program of this machine finds the service."""
    shown = _EVERYWHERE.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _alert(instance: str, now: int) -> dict[str, object]:
    labels = {"alertname": "DiskAlmostFull", "instance": instance, "mountpoint": "/", "severity": "warning"}
    annotations = {"summary": f"The disk of {instance} is almost full (an exercise)"}
    group = {"alertname": labels["alertname"]}
    return {
        "version": "4",
        "groupKey": '{}:{alertname="DiskAlmostFull"}',
        "status": "firing",
        "receiver": "exercise",
        "groupLabels": group,
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": "",
        "alerts": [
            {
                "status": "firing",
                "labels": labels,
                "annotations": annotations,
                "startsAt": iso(now),
                "fingerprint": digest(*labels.values())[:16],
            }
        ],
    }


def _continued(continues: Counted) -> str:
    waits = f"{continues.waiting} waiting for a decision" if continues.waiting else "none waiting for a decision"
    plural = "" if continues.live == 1 else "s"
    return f"continued: {continues.live} open case{plural}, {waits}"


def _deciding(names: Sequence[str], typed: Callable[[str], str]) -> str:
    if not names:
        return f"nobody can approve there yet; what is missing: {typed('doctor')}"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more} can approve there"


def _model(settings: Settings) -> str:
    model = settings.model
    at = f", at {without_logins(model.base_url)}" if model.base_url else ""
    before = "playbooks, then " if model.playbooks_first else ""
    return f"{before}{', then '.join(model.names)}{at}"


def _servers(servers: Servers) -> Iterator[str]:
    reached = [one for one in servers.all.values() if one.trouble is None]
    if reached:
        yield ", ".join(f"{one.name} ({len(one.names)} tool{'' if len(one.names) == 1 else 's'})" for one in reached)
    yield from (f"{name} cannot be used yet: {why}" for name, why in servers.troubles.items())


def _alerts(settings: Settings) -> str:
    if settings.alerts.token is not None:
        return "accepted with the [alerts] token"
    return "accepted from this machine only, as no [alerts] token is set"


def _api(settings: Settings, db: Path) -> str:
    if settings.api.token is not None:
        return "with the [api] token"
    return f"with the token in {first_start.token_file(db).absolute()}"
