"""The same service as in tests/loop, on a file that is migrated already: here it is begun hundreds of times."""

from pathlib import Path

import pytest

from tests.loop.conftest import make_rig, rig

__all__ = ["make_rig", "rig"]


@pytest.fixture(autouse=True)
def migrated(tmp_path: Path, new_file: bytes) -> None:
    """The file that the first service of a test opens."""
    (tmp_path / "0.db").write_bytes(new_file)
