"""The operating system lets no file of this process grow beyond a size (EFBIG), as a full disk or a quota does."""

import resource
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.faults.disk.acts import Plan

LIMIT = 8
"""The kind of a plan whose `n` is a number of bytes."""


class Limit:
    """RLIMIT_FSIZE. Python ignores the signal that would end the process otherwise, so the write fails."""

    def __init__(self) -> None:
        self._sizes: dict[Path, int] = {}
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def arm(self, plan: "Plan", n: int) -> None:
        """From now on no file grows more than `n` bytes beyond what grows in this scenario; -1 for no limit."""
        db = Path(plan.db)
        grows = db if plan.scenario in ("checkpoint", "close", "opening") else db.with_name(db.name + "-wal")
        self._sizes = {grows: _size(grows)}
        if n >= 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (_size(grows) + n, self._before[1]))

    def counted(self) -> int:
        """How many bytes the file has grown by."""
        return sum(_size(path) - before for path, before in self._sizes.items())

    def over(self) -> None:
        """There is room again."""
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)

    def mark(self, number: int) -> None:
        """Nothing: there is no log that could be cut off anywhere, only what lies on the disk."""


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
