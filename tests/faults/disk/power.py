"""What a power cut would leave: the log of what reached each file, cut off anywhere, and what of it was on the disk.

Nothing is on the disk before a sync of its file succeeded. What a *failed* sync should have brought there is, at worst,
never written: the system takes those pages for clean from then on, and a later sync that succeeds says nothing about
them (as ext4 does it). At best it is all there. Both are asked for, and a seeded part of it.
"""

import random
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_HEAD = struct.Struct("=cBBxqI")
SUFFIXES = ("", "-wal", "-journal")
"""Of the files that outlive a power cut, by their number in the log; the shared memory does not."""


@dataclass(frozen=True, slots=True)
class Act:
    """One line of the log."""

    op: str
    file: int
    ok: bool
    offset: int
    data: bytes


def read(log: Path) -> list[Act]:
    """The whole log, in order."""
    raw, at, found = log.read_bytes(), 0, list[Act]()
    while at < len(raw):
        op, file, ok, offset, length = _HEAD.unpack_from(raw, at)
        at += _HEAD.size
        found.append(Act(op.decode(), file, bool(ok), offset, raw[at : at + length]))
        at += length
    return found


Survives = Callable[[Act], bool]
"""Whether something that no sync has vouched for is on the disk all the same."""


def nothing(_: Act) -> bool:
    """Of what was not synced, all is lost."""
    return False


def everything(_: Act) -> bool:
    """The system had written it all by then."""
    return True


def some(seed: object) -> Survives:
    """Half of it, by chance."""
    chance = random.Random(repr(seed))
    return lambda _: chance.random() < 0.5


def image(base: Mapping[int, bytes], acts: Sequence[Act], survives: Survives) -> dict[int, bytes]:
    """The files as they are on the disk after these acts, by their number in the log."""
    disk = {file: bytearray(content) for file, content in base.items()}
    waiting: dict[int, list[Act]] = {}
    for act in acts:
        if act.op in "wt":
            waiting.setdefault(act.file, []).append(act)
        elif act.op == "s":
            for each in waiting.pop(act.file, []):
                if act.ok or survives(each):
                    _apply(disk, each)
        elif act.op == "u":
            waiting.pop(act.file, None)
            disk.pop(act.file, None)
    for each in (each for file in waiting.values() for each in file):
        if survives(each):
            _apply(disk, each)
    return {file: bytes(content) for file, content in disk.items() if file < len(SUFFIXES)}


def write(files: Mapping[int, bytes], db: Path) -> None:
    """Put them where a store would look for them, and nothing else."""
    for number, suffix in enumerate((*SUFFIXES, "-shm")):
        path = db.with_name(db.name + suffix)
        path.unlink(missing_ok=True)
        if number in files:
            path.write_bytes(files[number])


def _apply(disk: dict[int, bytearray], act: Act) -> None:
    content = disk.setdefault(act.file, bytearray())
    if act.op == "t":
        del content[act.offset :]
        content.extend(bytes(act.offset - len(content)))
        return
    content.extend(bytes(max(0, act.offset - len(content))))
    content[act.offset : act.offset + len(act.data)] = act.data
