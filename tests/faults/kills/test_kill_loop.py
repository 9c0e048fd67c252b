"""The kill loop itself, for a short while with a fixed seed: `make soak` runs it for long."""

from pathlib import Path

import pytest

from tests.faults.kills.conftest import Soaked, soak

pytestmark = [pytest.mark.kill, pytest.mark.timeout(180)]


def test_thirty_kills_lose_nothing_and_repeat_nothing(soaked: Soaked) -> None:
    """R9, R13, R14, R29; and the loop saw enough for that to say something."""
    assert soaked.code == 0, soaked.said
    assert soaked.count("wrong") == 0
    assert soaked.count("kills") == 30
    assert min(soaked.count(what) for what in ("acknowledged", "effects", "decisions", "replies", "cards")) >= 10
    assert min(soaked.count(what) for what in ("calls in doubt", "outcome gates", "runs that crashed")) >= 1


def test_a_soak_goes_on_where_it_was_with_its_counts(tmp_path: Path) -> None:
    assert soak(tmp_path, "--kills", "1", "--seed", "3").count("kills") == 1
    assert soak(tmp_path, "--kills", "2", "--seed", "9").count("kills") == 2
    again = soak(tmp_path, "--kills", "2")
    assert (again.count("kills"), again.count("databases")) == (2, 2)
    assert "seed 3" in again.said
