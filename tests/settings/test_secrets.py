"""A secret comes from a variable, a file or the settings, and never out again."""

import traceback
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.settings import load

SECRET = "xoxb-do-not-show"


def test_a_secret_is_read_from_the_file_a_variable_names(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "token").write_text(f"  {SECRET}\n", "utf-8")
    monkeypatch.setenv("CASEBOUND_ALERTS__TOKEN_FILE", str(here / "token"))
    assert load().secrets() == (SECRET,)


def test_a_secret_file_decides_over_the_settings_and_a_variable_over_the_file(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "casebound.toml").write_text('alerts.token = "in the settings"', "utf-8")
    (here / "token").write_text("in a file", "utf-8")
    assert load().secrets() == ("in the settings",)
    monkeypatch.setenv("CASEBOUND_ALERTS__TOKEN_FILE", "token")
    assert load().secrets() == ("in a file",)
    monkeypatch.setenv("CASEBOUND_ALERTS__TOKEN", "in a variable")
    assert load().secrets() == ("in a variable",)


def test_a_secret_file_that_is_missing_is_refused_with_both_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_ALERTS__TOKEN_FILE", "/run/secrets/nothing")
    with pytest.raises(
        SettingsError,
        match=r"^CASEBOUND_ALERTS__TOKEN_FILE: /run/secrets/nothing cannot be read \(no such file or directory\)",
    ):
        load()


def test_a_secret_file_that_is_no_text_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "token").write_bytes(b"\xff\xfe")
    monkeypatch.setenv("CASEBOUND_ALERTS__TOKEN_FILE", "token")
    with pytest.raises(SettingsError, match="token is not UTF-8 text"):
        load()


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_empty_secret_is_refused_wherever_it_comes_from(
    here: Path, monkeypatch: pytest.MonkeyPatch, empty: str
) -> None:
    """R24: an empty secret is a missing one, and a missing one lets nobody in."""
    (here / "token").write_text(empty, "utf-8")
    monkeypatch.setenv("CASEBOUND_API__TOKEN_FILE", "token")
    with pytest.raises(SettingsError, match=r"^CASEBOUND_API__TOKEN_FILE: is empty"):
        load()
    monkeypatch.setenv("CASEBOUND_API__TOKEN", empty)
    with pytest.raises(SettingsError, match=r"^CASEBOUND_API__TOKEN: is empty"):
        load()


def test_only_a_secret_is_read_from_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_SERVICE__DB_FILE", "/etc/passwd")
    with pytest.raises(SettingsError, match=r"only a secret is read .* set CASEBOUND_SERVICE__DB instead"):
        load()


def test_all_secrets_are_listed_for_the_log() -> None:
    settings = load(alerts={"token": "one"}, api={"token": "two"})
    assert settings.secrets() == ("one", "two")


def test_settings_put_into_text_show_no_secret() -> None:
    settings = load(alerts={"token": SECRET})
    assert SECRET not in f"{settings} {settings!r} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    "text",
    [
        f'alerts = "{SECRET}"',
        f'alerts.token = ["{SECRET}"]',
        f'alerts.token = {{value = "{SECRET}"}}',
        f'alerts.tokn = "{SECRET}"',
        f'alert.token = "{SECRET}"',
        f"alerts.token = {SECRET}",
        f'alerts.token = "{SECRET}',
        f'alerts.token = "{SECRET}"\ngates.ttl = 1',
    ],
)
def test_no_error_shows_a_secret_not_even_in_its_traceback(here: Path, text: str) -> None:
    (here / "casebound.toml").write_text(text, "utf-8")
    with pytest.raises(SettingsError) as caught:
        load()
    assert "xoxb" not in "".join(traceback.format_exception(caught.value))
    assert "xoxb" not in str(caught.value)
