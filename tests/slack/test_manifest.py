"""The manifest that an admin pastes asks for exactly what the code uses: no scope is too many, and none is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from channels.slack import events, scopes, shortcuts
from channels.slack.events import Us
from channels.slack.listener import Listener
from tests.wire.slack.tokens import EVERY_SCOPE

ROOT = Path(__file__).parents[2]
CODE = [path.read_text() for path in (ROOT / "channels/slack").glob("*.py") if path.name != "scopes.py"]
US = Us("T1", "U0", "B0", {"T1"})


class App:
    """In place of Bolt's: what somebody listens to is noted."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __getattr__(self, kind: str) -> Callable[[object], Callable[[object], None]]:
        def listen(what: object) -> Callable[[object], None]:
            self.heard.append(f"{kind} {what}")
            return lambda listener: None

        return listen


@pytest.fixture
def manifest() -> dict[str, Any]:
    """As Slack reads it."""
    return cast("dict[str, Any]", yaml.safe_load((ROOT / "deploy/slack-manifest.yaml").read_text()))


def test_its_scopes_are_those_that_are_given_a_reason(manifest: dict[str, Any]) -> None:
    asked = manifest["oauth_config"]["scopes"]
    assert asked == {"bot": list(scopes.BOT)}
    assert set(scopes.BOT) <= EVERY_SCOPE
    assert all(scopes.BOT.values())


def test_every_method_that_is_called_is_listed_and_every_scope_is_one_that_something_needs() -> None:
    families = {method.partition(".")[0] for method in scopes.METHODS}
    called = {name for text in CODE for name in re.findall(r'"([a-z]+(?:\.[a-zA-Z]+)+)"', text)}
    methods = {name for name in called if name.partition(".")[0] in families}
    assert methods == set(scopes.METHODS)
    by_methods = {scope for needed in scopes.METHODS.values() for scope in needed}
    of_events = {"app_mentions:read", "channels:read", "groups:read"}
    assert set(scopes.BOT) | set(scopes.APP) == by_methods | of_events | {"commands"}


def test_its_events_are_those_that_are_understood(manifest: dict[str, Any]) -> None:
    assert manifest["settings"]["event_subscriptions"] == {"bot_events": list(scopes.EVENTS)}
    for name in scopes.EVENTS:
        if name.startswith("message.") or name == "app_mention":
            kind = name.partition(".")[0]
            said = {"type": kind, "user": "U1", "team": "T1", "channel": "C1", "ts": "1.0", "text": "hi"}
            assert events.inbound(said, US) is not None
        elif name != "app_home_opened":  # which is listened to by name
            assert events.gone({"type": name, "channel": "C1"}, US) is not None


def test_every_event_that_is_understood_is_one_that_the_manifest_asks_for(manifest: dict[str, Any]) -> None:
    """The other way: an event that the code takes, and Slack never sends, is a feature that nobody has."""
    asked = set(manifest["settings"]["event_subscriptions"]["bot_events"])
    known = {f"{family}_{what}" for family in ("channel", "group", "im") for what in ("archive", "deleted", "left")}
    lost = {name for name in known if events.gone({"type": name, "channel": "C1"}, US) is not None}
    said = {"user": "U1", "team": "T1", "channel": "C1", "ts": "1.0", "text": "hi"}
    heard = {kind for kind in ("message", "app_mention") if events.inbound({"type": kind, **said}, US) is not None}
    app = App()
    Listener(cast("Any", None), cast("Any", None), US, cast("Any", None)).listen(cast("Any", app))
    listened = {one.removeprefix("event ") for one in app.heard if re.fullmatch(r"event [a-z_]+", one)}
    assert lost | heard | listened == {name.partition(".")[0] for name in asked}
    assert {name for name in asked if name.startswith("message.")} == {
        f"message.{scope.partition(':')[0]}" for scope in scopes.BOT if scope.endswith(":history")
    }


def test_the_guide_names_exactly_the_scopes_there_are() -> None:
    table = (ROOT / "docs/slack.md").read_text().partition("## What each scope is for")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`([a-z_.]+(?::[a-z]+)?)`", " ".join(rows))) == sorted(scopes.BOT)


def test_its_shortcut_and_commands_are_those_that_are_listened_to(manifest: dict[str, Any]) -> None:
    app = App()
    Listener(cast("Any", None), cast("Any", None), US, cast("Any", None)).listen(cast("Any", app))
    assert "event app_home_opened" in app.heard
    features = manifest["features"]
    assert [(one["type"], one["callback_id"]) for one in features["shortcuts"]] == [("message", shortcuts.OPEN_CASE)]
    assert f"shortcut {shortcuts.OPEN_CASE}" in app.heard
    assert sorted(f"command {one['command']}" for one in features["slash_commands"]) == sorted(
        one for one in app.heard if one.startswith("command ")
    )


def test_it_can_be_pressed_and_written_to_and_opens_its_own_socket(manifest: dict[str, Any]) -> None:
    settings, home = manifest["settings"], manifest["features"]["app_home"]
    assert settings["interactivity"]["is_enabled"]
    assert settings["socket_mode_enabled"]
    assert not settings["token_rotation_enabled"], "a token that is exchanged every few hours is not kept up with"
    assert home["messages_tab_enabled"]
    assert not home["messages_tab_read_only_enabled"]


def test_no_text_of_it_is_longer_than_slack_takes(manifest: dict[str, Any]) -> None:
    """https://docs.slack.dev/reference/app-manifest"""
    assert len(manifest["display_information"]["name"]) <= 35
    assert len(manifest["display_information"]["description"]) <= 140
    assert len(manifest["features"]["bot_user"]["display_name"]) <= 80
    for one in (*manifest["features"]["shortcuts"], *manifest["features"]["slash_commands"]):
        assert len(one.get("name", "")) <= 24
        assert len(one["description"]) <= 150
