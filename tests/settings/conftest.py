"""A place of its own for each test: an empty directory, and none of our variables set."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory the service is started in."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(("CASEBOUND_", "KUBERNETES_")):
            monkeypatch.delenv(name)
    return tmp_path
