"""An operator sets variables instead of, or on top of, the file."""

from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.settings import Settings, load
from casestore.states import Role


@pytest.fixture
def file(here: Path) -> Path:
    found = here / "casebound.toml"
    found.write_text('[gates]\nttl = "2h"\nfour_eyes = false\n[service]\nport = 9000\n', "utf-8")
    return found


@pytest.mark.usefixtures("file")
def test_a_variable_overrides_its_key_and_leaves_the_rest_of_the_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_GATES__TTL", "3h")
    gates = load().gates
    assert (gates.ttl, gates.four_eyes) == (3 * 3_600_000, False)


@pytest.mark.usefixtures("file")
def test_what_the_caller_gives_overrides_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_SERVICE__PORT", "9001")
    assert load(service={"port": 9002}).service.port == 9002


@pytest.mark.usefixtures("file")
def test_a_caller_that_gives_none_gives_nothing() -> None:
    assert load(service={"port": None, "db": None}).service.port == 9000


def test_an_unknown_key_from_the_caller_is_refused_too() -> None:
    with pytest.raises(SettingsError, match=r"^service\.prot: there is no such key; did you mean service\.port\?"):
        load(service={"prot": 9000})


def test_lists_are_written_with_commas_or_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_PLAYBOOKS__PATHS", "/etc/books")
    monkeypatch.setenv("CASEBOUND_GATES__ROLES", "operator,admin")
    monkeypatch.setenv("CASEBOUND_GATES__REMINDERS", "[0.25, 0.75]")
    settings = load()
    assert settings.playbooks.paths == (Path("/etc/books"),)
    assert settings.gates.roles == (Role.OPERATOR, Role.ADMIN)
    assert settings.gates.reminders == (0.25, 0.75)


def test_a_table_is_written_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_TOOLS", '{"host.clear_cache": {"ttl": "1h"}}')
    assert load().tools["host.clear_cache"].ttl == 3_600_000


@pytest.mark.parametrize("turned", [False, True])
def test_a_table_and_a_key_inside_it_add_up_in_whichever_order(monkeypatch: pytest.MonkeyPatch, turned: bool) -> None:
    both = [("CASEBOUND_HOST__CACHES", '{"a": "/srv/a"}'), ("CASEBOUND_HOST__CACHES__B", "/srv/b")]
    for name, text in reversed(both) if turned else both:
        monkeypatch.setenv(name, text)
    assert load().host.caches == {"a": Path("/srv/a"), "b": Path("/srv/b")}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CASEBOUND_GATE__TTL", "did you mean CASEBOUND_GATES__TTL?"),
        ("CASEBOUND_GATES__TLL", "did you mean CASEBOUND_GATES__TTL?"),
        ("CASEBOUND_GATES_TTL", "did you mean CASEBOUND_GATES__TTL?"),
        ("CASEBOUND_GATES__TTL__MORE", "did you mean CASEBOUND_GATES__TTL?"),
        ("CASEBOUND_PORT", "did you mean CASEBOUND_SERVICE__PORT?"),
        ("CASEBOUND_SERVICE_PORT", "did you mean CASEBOUND_SERVICE__PORT?"),
        ("CASEBOUND_ALERT__TOKEN_FILE", "did you mean CASEBOUND_ALERTS__TOKEN_FILE?"),
        ("CASEBOUND_ALERTS__TOKN", "did you mean CASEBOUND_ALERTS__TOKEN?"),
        ("CASEBOUND_SERVICE__TENANTS_FILE", "did you mean CASEBOUND_SERVICE__TENANT?"),
        ("CASEBOUND_SLAKC__BOT_TOKN", "did you mean CASEBOUND_SLACK__BOT_TOKEN?"),
        ("CASEBOUND_QWXZ__JJJJ", "unset it, or see docs/settings.md"),
    ],
)
def test_an_unknown_variable_is_refused_and_the_nearest_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.setenv(name, "s3cret")
    with pytest.raises(SettingsError) as caught:
        load()
    assert str(caught.value).startswith(f"{name} names no setting; ")
    assert said in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("CASEBOUND_GATES__TTL", "24", "CASEBOUND_GATES__TTL: '24' is not a duration"),
        ("CASEBOUND_GATES", '{"ttl": "24"}', "CASEBOUND_GATES: gates.ttl: '24' is not a duration"),
        ("CASEBOUND_GATES", '{"ttl": ', "CASEBOUND_GATES: has to be a table"),
        ("CASEBOUND_GATES__ROLES", "", "CASEBOUND_GATES__ROLES: has to be a list"),
        ("CASEBOUND_SERVICE__PORT", "http", "CASEBOUND_SERVICE__PORT: should be a valid integer"),
        ("CASEBOUND_HOST", "0.0.0.0", "did you mean CASEBOUND_SERVICE__HOST?"),
    ],
)
@pytest.mark.usefixtures("file")
def test_a_value_that_does_not_fit_is_refused_under_the_variable_it_came_from(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, said: str
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError) as caught:
        load()
    assert said in str(caught.value)


@pytest.mark.usefixtures("file")
def test_a_value_from_the_file_is_not_blamed_on_a_variable_of_its_section(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    file.write_text("[gates]\nttl = 24", "utf-8")
    monkeypatch.setenv("CASEBOUND_GATES", '{"four_eyes": true}')
    with pytest.raises(SettingsError, match=r"^casebound\.toml: gates\.ttl: 24 is not a duration"):
        load()


def test_the_variable_for_the_log_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_LOG", "debug")
    assert load() == Settings()


def test_the_variables_of_a_kubernetes_service_named_casebound_are_no_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("CASEBOUND_SERVICE_HOST", "10.0.0.2")
    monkeypatch.setenv("CASEBOUND_SERVICE_PORT", "8642")
    monkeypatch.setenv("CASEBOUND_PORT", "tcp://10.0.0.2:8642")
    monkeypatch.setenv("CASEBOUND_PORT_8642_TCP_ADDR", "10.0.0.2")
    assert load() == Settings()
    monkeypatch.setenv("CASEBOUND_SERVICE_PROT", "8642")
    with pytest.raises(SettingsError, match="CASEBOUND_SERVICE_PROT names no setting"):
        load()
