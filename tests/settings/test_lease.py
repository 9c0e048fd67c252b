"""R10: a lease is longer than any single step may take, and the settings are checked for it."""

import pytest

from bot.errors import SettingsError
from bot.settings import Settings, load


def test_a_lease_just_above_the_longest_step_and_its_margin_is_taken() -> None:
    load(leases={"ttl": "150001ms"}, model={"timeout": "120s"})


def test_a_lease_that_only_equals_them_is_refused_with_what_to_do() -> None:
    with pytest.raises(SettingsError) as caught:
        load(leases={"ttl": "2m30s"}, model={"timeout": "120s"})
    assert str(caught.value) == (
        "leases.ttl is 2m30s, but one step may take 2m and a lease has to outlive it by 30s: set leases.ttl to more "
        "than 2m30s, or lower model.timeout and the timeouts of tools"
    )


def test_the_timeout_of_a_tool_counts_too() -> None:
    with pytest.raises(SettingsError, match="one step may take 20m"):
        load(tools={"host.clear_cache": {"timeout": "20m"}, "host.disk_usage": {"timeout": "1s"}})


def test_the_timeouts_that_tools_declare_are_checked_when_they_are_known() -> None:
    settings = Settings()
    settings.check_lease(569_999)
    with pytest.raises(SettingsError, match=r"leases\.ttl is 10m"):
        settings.check_lease(570_000)
