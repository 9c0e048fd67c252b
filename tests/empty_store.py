"""A store with nothing in it, made once for all tests of a process: every one of them begins with one."""

import tempfile
from functools import cache
from pathlib import Path

from casestore.migrate import migrate


def lay(db: Path) -> None:
    """Put one there, unless something is there already."""
    if not db.exists():
        db.write_bytes(migrated())
        db.chmod(0o600)


@cache
def migrated() -> bytes:
    """Its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "casebound.db"
        migrate(path)
        return path.read_bytes()
