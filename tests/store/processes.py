"""Real processes on one file that begin at the same moment: each says that it is ready, then all are let go."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import casestore

ROOT = Path(casestore.__file__).parents[1]

PRELUDE = """
import asyncio, json, pathlib, sys
from casestore.migrate import open_store

DB, ARGS = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])

def nonce():
    return "n"

def wait_for_the_others():
    print("ready", flush=True)
    sys.stdin.readline()
"""


def start(script: str, db: Path, args: object) -> subprocess.Popen[str]:
    """A process that runs `script`, which finds `DB`, `ARGS`, `nonce` and `wait_for_the_others` defined."""
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(db), json.dumps(args)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def race(script: str, db: Path, args: Sequence[object]) -> list[object]:
    """One process for each of `args`, let go together; the JSON each of them printed at its end."""
    racers = [start(script, db, each) for each in args]
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n", racer.communicate()[1]
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        ended = [(racer.communicate(timeout=50), racer.returncode) for racer in racers]
    finally:
        for racer in racers:
            racer.kill()
            racer.communicate()
    assert [(code, err) for (_, err), code in ended] == [(0, "")] * len(racers)
    return [json.loads(out) for (out, _), _ in ended]
