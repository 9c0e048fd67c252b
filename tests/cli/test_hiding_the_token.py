"""The token that a first start makes is as secret as one of the settings, whatever is logged."""

import io
import logging
from pathlib import Path

import pytest

from bot import first_start, logs
from bot.cli.engine import engine
from bot.cli.here import Here


@pytest.mark.parametrize("first", [True, False])
async def test_the_log_of_a_service_does_not_show_the_token_of_its_api(
    db: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    monkeypatch.chdir(db.parent)
    monkeypatch.setattr("sys.stderr", written := io.StringIO())
    here = Here(given_db=db)
    if not first:
        first_start.api_token(here.settings, db)
    async with engine(here.settings, "a test", here.log(here.settings, whole=True)) as service:
        token = service.api_token
        logs.event(logging.getLogger("casebound.up"), "test.logged", header=f"Bearer {token}")
    assert "test.logged" in written.getvalue()
    assert "Bearer ***" in written.getvalue()
    assert token not in written.getvalue()
