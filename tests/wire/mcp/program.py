"""The misbehaving server as a program: `python -m tests.wire.mcp.program FOLDER [MANY]`, over stdio."""

import sys
from pathlib import Path

import anyio

from tests.wire.mcp.behaviour import Behaviour, over_stdio

if __name__ == "__main__":
    anyio.run(over_stdio, Behaviour(Path(sys.argv[1]), many=int(sys.argv[2]) if len(sys.argv) > 2 else 0))
