"""A program that is hard to be rid of, or never comes to the end of a line: `python -m … .stubborn FOLDER WAY...`.

It keeps to the protocol until its tool is called, and writes the ids of its processes into the folder's file `pids`.
The shutdown of the protocol is the end of its input, then SIGTERM, then SIGKILL (modelcontextprotocol.io, 2025-11-25,
lifecycle, stdio). The ways: `deaf` to the first two; with a deaf `child`; `cut`, which closes its output at the call;
`endless`, which answers the call with a line that has no end, or `endless_start`, which says nothing else.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.wire.mcp.talkative import answer

CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"


def without_end() -> None:
    """Write one line, for ever."""
    while True:
        sys.stdout.write("x" * 65_536)


def serve(folder: Path, ways: set[str]) -> None:
    """Answer until the input ends, and say so in the file `ended`."""
    for line in sys.stdin:
        asked = json.loads(line)
        called = asked.get("method") == "tools/call"
        if called and "endless" in ways:
            without_end()
        if called and "cut" in ways:
            os.close(1)
        elif (said := answer(asked)) is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)
    (folder / "ended").touch()
    if "deaf" in ways:
        time.sleep(600)


if __name__ == "__main__":
    where, how = Path(sys.argv[1]), set(sys.argv[2:])
    pids = [os.getpid()]
    if "deaf" in how:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "child" in how:
        child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        pids.append(child.pid)
    (where / "pids").write_text("\n".join(map(str, pids)), "utf-8")
    if "endless_start" in how:
        without_end()
    serve(where, how)
    os._exit(0)
