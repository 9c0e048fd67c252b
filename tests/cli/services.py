"""A service in a process of its own, as `casebound up` starts it, and waiting for what it does."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.cli.command_line import Ended, call, environment
from tests.started import PIPE, Started

T = TypeVar("T")

_PATIENCE_S = 60.0


class Up:
    """`casebound up`, started and listening; `said` is all it printed until then."""

    def __init__(self, folder: Path, *arguments: str, **more: str) -> None:
        self.folder = folder
        self._stderr = (folder / "stderr.txt").open("w+")
        self.process = Started(
            ["up", "--port", "0", *arguments], folder, environment(**more), stdout=PIPE, stderr=self._stderr
        )
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line)
            if " case show " in line or " case list" in line:  # the last line, of a file without cases and with some
                break
        self.said = "".join(lines)

    @property
    def url(self) -> str:
        """Where it says that it listens."""
        return self.said.split(" up, at ")[1].split()[0]

    @property
    def log(self) -> str:
        """What it wrote to stderr."""
        return (self.folder / "stderr.txt").read_text()

    def end(self, *signals: int) -> Ended:
        """Send signals, one after the other; how it ended."""
        for number in signals or (signal.SIGTERM,):
            self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=40)
        self._stderr.close()
        return Ended(self.process.wait(), out, self.log)

    def kill(self) -> None:
        """Make sure that nothing is left."""
        self.process.kill()
        self.process.communicate()
        self._stderr.close()


def eventually(read: Callable[[], T], holds: Callable[[T], bool]) -> T:
    """What `read` gives once it holds."""
    until = time.monotonic() + _PATIENCE_S
    while not holds(found := read()):
        assert time.monotonic() < until, f"it never came to hold; last: {found}"
        time.sleep(0.2)
    return found


def json_of(folder: Path, *arguments: str) -> Any:
    """What a command says as JSON, from a process of its own."""
    return call(folder, *arguments, "--json").json
