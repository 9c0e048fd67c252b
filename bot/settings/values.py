"""Values that settings are made of, and what is refused about each. A refusal is a sentence about the value."""

import difflib
import re
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

Count = Annotated[int, Field(ge=1)]
"""A limit: at least one, since none at all would stop everything."""

Fraction = Annotated[float, Field(gt=0, lt=1)]
"""A part of a whole, strictly between nothing and all of it."""


def _path(value: object) -> object:
    if value == "":
        raise ValueError("is empty; a path is wanted")
    return value


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"there is no home directory to put in {path}; write the path in full") from None


def _absolute(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError(f"{path} has to be an absolute path")
    return path


Place = Annotated[Path, BeforeValidator(_path), AfterValidator(_expanded)]
"""A path; `~` is the home directory, and a relative one starts where the service is started."""

Directory = Annotated[Place, AfterValidator(_absolute)]
"""A directory that a tool may look into or empty: absolute, so that it means the same from everywhere."""


def _zone(name: str) -> str:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        known = zoneinfo.available_timezones()
        if not known:
            raise ValueError("no time zones are installed here; install the package tzdata") from None
        near = difflib.get_close_matches(name, sorted(known), 1)
        hint = f"did you mean {near[0]}?" if near else "write one like Europe/Berlin"
        raise ValueError(f"there is no time zone {name[:40]!r}; {hint}") from None
    return name


ZoneName = Annotated[str, AfterValidator(_zone)]
"""The IANA name of a time zone that this machine knows."""


def _tenant(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise ValueError("has to be letters, digits, '.', '_' and '-', at most 64 of them, the first no sign")
    return name


TenantName = Annotated[str, AfterValidator(_tenant)]
"""Whose installation it is: compared exactly, so that nothing in it can look like something else (R21)."""


def _base(url: str) -> str:
    if not re.fullmatch(r"https?://[!-~]+", url):
        raise ValueError("has to begin with https:// or http:// and hold no blank")
    return url if url.endswith("/") else f"{url}/"


ApiUrl = Annotated[str, AfterValidator(_base)]
"""Where a platform's API is; it ends in a slash."""


def _room(room_id: str) -> str:
    if not re.fullmatch(r"[CDG][A-Z0-9]{2,30}", room_id):
        raise ValueError("has to be a room's id, such as C0123ABCD, not its name")
    return room_id


RoomId = Annotated[str, AfterValidator(_room)]
"""A room by the id that its platform gave it: names change hands (R20)."""


def _team(team_id: str) -> str:
    if not re.fullmatch(r"[TE][A-Z0-9]{1,30}", team_id):
        raise ValueError("has to be a workspace's id, such as T0123ABCD, in capitals, not its name")
    return team_id


TeamId = Annotated[str, AfterValidator(_team)]
"""A workspace of Slack by its id; another spelling would match nobody, and so ignore everybody (R20)."""


Verdict = Literal["free", "gate", "refuse"]
"""What is done with calls of a tier: made at once, held at a gate, or refused."""

_SLACKS = {"xoxb-": "slack.bot_token", "xapp-": "slack.app_token"}
"""Which setting a token of Slack belongs in, by how it begins."""


def secret(beginning: str = "") -> Callable[[SecretStr | None], SecretStr | None]:
    """Refuse an empty secret, which would let everybody in or nobody (R24), and one that is plainly another one."""

    def check(value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        if not value.get_secret_value().strip():
            raise ValueError("is empty; give it a value or leave it out")
        if not value.get_secret_value().startswith(beginning):
            begins = (key for kind, key in _SLACKS.items() if value.get_secret_value().startswith(kind))
            belongs = next((f", which belongs in {key}" for key in begins), "")
            raise ValueError(f"has to begin with {beginning}; this is another token{belongs}")
        return value

    return check
