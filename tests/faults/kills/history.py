"""What was asked of the service and what it acknowledged: one line for each, on the disk before and after the act."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

Act = dict[str, object]


@dataclass(slots=True)
class Asked:
    """One act, and what is known of it: `acked` the service said that it is done, `refused` that it is not."""

    n: int
    act: Act
    times: int = 1
    acked: int = 0
    refused: int = 0
    said: list[Act] = field(default_factory=lambda: [])

    @property
    def kind(self) -> str:
        """What was asked for."""
        return str(self.act["do"])


class History:
    """The file, appended to; an act may be asked more than once, under its one number."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.asked: dict[int, Asked] = read(path)

    def ask(self, act: Act, n: int | None = None) -> int:
        """Note that something is about to be asked, again if it has its number already."""
        number = max(self.asked, default=0) + 1 if n is None else n
        self._keep({"n": number, "is": "asked", "act": act})
        return number

    def answer(self, n: int, said: Act) -> None:
        """Note what the service answered: `ok` true is an acknowledgement."""
        self._keep({"n": n, "is": "acked" if said.get("ok") else "refused", "said": said})

    def note(self, said: Act) -> None:
        """Note what happened to the service itself: it was started, killed, stopped."""
        self._keep({"n": 0, "is": "service", "act": said})

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _keep(self, line: Act) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")
        _take(self.asked, line)


def read(path: Path) -> dict[int, Asked]:
    """Every act by its number."""
    found: dict[int, Asked] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            _take(found, json.loads(line))
    return found


def services(path: Path) -> list[Act]:
    """What happened to the service, oldest first."""
    lines = [cast("Act", json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []
    return [cast("Act", line["act"]) for line in lines if line["is"] == "service"]


def _take(found: dict[int, Asked], line: Mapping[str, object]) -> None:
    n = cast("int", line["n"])
    match line["is"]:
        case "service":
            return
        case "asked" if n in found:
            found[n].times += 1
        case "asked":
            found[n] = Asked(n, cast("Act", line["act"]))
        case _:
            found[n].said.append(cast("Act", line["said"]))
            if line["is"] == "acked":
                found[n].acked += 1
            else:
                found[n].refused += 1
