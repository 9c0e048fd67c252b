"""An installation as its operator has it: the real command in processes of its own, one file, a folder beside it."""

import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.started import PIPE, Started

T = TypeVar("T")

_PATIENCE_S = 40.0


class Installation:
    """One folder with a database, and the service that may run on it."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder = folder
        self.db = folder / "casebound.db"
        (folder / "casebound.toml").write_text(settings)
        self._service: Started | None = None
        self.said: list[str] = []

    def start(self) -> str:
        """Start `casebound up`; returns once it says where it listens, with all it said until then."""
        with (self.folder / "stderr.txt").open("a") as errors:
            self._service = Started(["up", "--port", "0"], self.folder, _environment(), stdout=PIPE, stderr=errors)
        assert self._service.stdout is not None
        said: list[str] = []
        for line in self._service.stdout:
            said.append(line)
            if "stop" in line:
                break
        text = "".join(said)
        self.url = next(word.rstrip(",") for word in text.split() if word.startswith("http://127.0.0.1:"))
        return text

    def kill(self) -> None:
        """SIGKILL, as a power cut or the kernel would."""
        assert self._service is not None
        self._service.send_signal(signal.SIGKILL)
        self._service.wait()
        assert self._service.stdout is not None
        self._service.stdout.close()
        self._service = None

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self._service is not None:
            self._service.terminate()
            assert self._service.wait(30) == 0
            assert self._service.stdout is not None
            self._service.stdout.close()
            self._service = None

    def cli(self, *words: str, fails: bool = False) -> str:
        """Run a command in a process of its own; what it printed."""
        process = Started(words, self.folder, _environment(), stdout=PIPE, stderr=PIPE)
        out, err = process.communicate()
        assert (process.wait() != 0) is fails, f"{words}: exit {process.returncode}\n{out}\n{err}"
        return err if fails else out

    def json(self, *words: str) -> Any:
        """The document that a command prints with `--json`."""
        return json.loads(self.cli(*words, "--json"))

    def api(self, path: str) -> Any:
        """The same documents from the running service, asked for often without a process for each time."""
        token = (self.folder / "casebound.db.token").read_text().strip()
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def await_(self, what: Callable[[], T], found: Callable[[T], bool] = bool) -> T:
        """Ask again until it is so, for a bounded time."""
        give_up = time.monotonic() + _PATIENCE_S
        while not found(value := what()):
            assert time.monotonic() < give_up, f"still {value!r}\n{(self.folder / 'stderr.txt').read_text()[-4000:]}"
            time.sleep(0.05)
        return value

    def open_gate(self) -> dict[str, Any]:
        """The gate that waits, once one does."""
        return self.await_(lambda: self.api("gates")["gates"])[0]

    def case(self, label: str) -> dict[str, Any]:
        """A case as the API tells it."""
        return self.api(f"cases/{label}")


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CASEBOUND_")}
    return {**kept, "PYTHONPATH": root, "PYTHONWARNINGS": "error", "TZ": "UTC"}
