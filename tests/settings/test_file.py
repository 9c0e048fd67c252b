"""An operator writes casebound.toml, and is told in one line what is wrong with it."""

import zoneinfo
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.settings import Settings, load
from casestore.states import OnExpiry, Role, Tier


def write(text: str, name: str = "casebound.toml") -> Path:
    file = Path(name)
    file.write_text(text, "utf-8")
    return file


def refusal(text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load(write(text))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_a_file_everything_has_its_default() -> None:
    assert load() == Settings()


def test_a_file_where_the_service_is_started_is_read_without_being_named() -> None:
    write("[service]\nport = 9000")
    assert load().service.port == 9000


def test_a_named_file_is_read_instead_of_that_one() -> None:
    write("[service]\nport = 9000\nhost = '0.0.0.0'")
    settings = load(write("[service]\nport = 9001", "other.toml"))
    assert (settings.service.port, settings.service.host) == (9001, "127.0.0.1")


def test_a_named_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^nowhere\.toml: it cannot be read \(no such file or directory\)"):
        load(Path("nowhere.toml"))


def test_a_directory_in_place_of_the_file_is_refused() -> None:
    Path("casebound.toml").mkdir()
    with pytest.raises(SettingsError, match=r"^casebound\.toml: it cannot be read"):
        load()


def test_every_kind_of_value_is_taken_from_the_file() -> None:
    settings = load(
        write("""
        service = {db = "/srv/cases.db", timezone = "Europe/Berlin", tenant = "acme", concurrency = 8}
        playbooks.paths = ["/etc/casebound/books"]
        policy = {routine = "gate", consequential = "refuse", observe = true}
        gates = {ttl = "1h30m", reminders = [0.25], roles = ["operator", "admin"], on_expiry = "handoff"}
        limits.cost_usd = 0.5
        alerts.token = "s3cret"
        host = {caches = {thumbs = "/var/cache/thumbs"}, log_dirs = []}
        [tools."host.clear_cache"]
        tier = "routine"
        may_change = ["older_than_days"]
        """)
    )
    assert settings.service.db == Path("/srv/cases.db")
    assert str(settings.service.zone) == "Europe/Berlin"
    assert settings.playbooks.paths == (Path("/etc/casebound/books"),)
    assert (settings.policy.routine, settings.policy.consequential, settings.policy.observe) == ("gate", "refuse", True)
    assert (settings.gates.ttl, settings.gates.reminders) == (5_400_000, (0.25,))
    assert settings.gates.roles == (Role.OPERATOR, Role.ADMIN)
    assert settings.gates.on_expiry is OnExpiry.HANDOFF
    assert settings.limits.cost_usd == 0.5
    assert settings.alerts.token is not None
    assert settings.alerts.token.get_secret_value() == "s3cret"
    assert settings.host.caches == {"thumbs": Path("/var/cache/thumbs")}
    assert settings.host.log_dirs == ()
    tool = settings.tools["host.clear_cache"]
    assert (tool.tier, tool.may_change, tool.ttl) == (Tier.ROUTINE, ("older_than_days",), None)


def test_settings_cannot_be_changed_once_they_are_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().gates.ttl = 1


def test_malformed_toml_is_refused_with_file_and_line() -> None:
    said = refusal('[gates]\nttl = "24h"\nroles = [')
    assert said.startswith("casebound.toml: it is not TOML: ")
    assert "line 3" in said


def test_a_file_in_another_encoding_is_refused() -> None:
    Path("casebound.toml").write_bytes(b'[service]\nhost = "\xff"')
    with pytest.raises(SettingsError, match=r"^casebound\.toml: it is not UTF-8 text"):
        load()


def test_a_file_with_a_byte_order_mark_is_read() -> None:
    Path("casebound.toml").write_bytes(b"\xef\xbb\xbf[service]\r\nport = 9000\r\n")
    assert load().service.port == 9000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[gates]\ntll = '1h'", "gates.tll: there is no such key; did you mean gates.ttl?"),
        ("[gate]\nttl = '1h'", "gate: there is no such key; did you mean gates?"),
        ("[Gates]\nttl = '1h'", "Gates: there is no such key; did you mean gates?"),
        ("timezone = 'UTC'", "timezone: there is no such key; did you mean service.timezone?"),
        ("[gates]\nport = 1", "gates.port: there is no such key; did you mean service.port?"),
        (
            "[gates]\nzzz = 1",
            "gates.zzz: there is no such key; known are ttl, reminders, roles, four_eyes, on_expiry",
        ),
        (
            "[tools.'host.clear_cache']\nteir = 'routine'",
            'tools."host.clear_cache".teir: there is no such key; did you mean tools."host.clear_cache".tier?',
        ),
    ],
)
def test_an_unknown_key_is_refused_and_the_nearest_is_named(text: str, said: str) -> None:
    assert refusal(text) == f"casebound.toml: {said}"


def test_a_tool_written_without_quotes_is_answered_with_the_quotes() -> None:
    said = refusal("[tools.host.clear_cache]\ntier = 'routine'")
    assert said.endswith('the name of a tool is written in quotes: [tools."host.clear_cache"]')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[service]\nport = 70000", "service.port: should be less than or equal to 65535"),
        ("[service]\ndb = ''", "service.db: is empty; a path is wanted"),
        ("[service]\ndb = '~nobody-here/cases.db'", "service.db: there is no home directory"),
        ("[service]\nhost = ''", "service.host: "),
        ("[limits]\nresult_characters = 199", "limits.result_characters: should be greater than or equal to 200"),
        ("[service]\ntimezone = 'Europe/Berlinn'", "did you mean Europe/Berlin?"),
        ("[service]\ntimezone = '../etc/passwd'", "service.timezone: there is no time zone '../etc/passwd'"),
        ("[service]\ntimezone = 'Europe'", "service.timezone: there is no time zone 'Europe'"),
        ("[service]\ntenant = 'acme corp'", "service.tenant: has to be letters, digits"),
        ("[model]\nname = 'openai:gpt'", "model.api_key is missing for openai:gpt: set CASEBOUND_MODEL__API_KEY"),
        ("[model]\nname = 'opneai:gpt'", "model.name: there is no provider 'opneai'; did you mean openai?"),
        (
            "[model]\nname = 'ollama:qwen3'",
            "there is no provider 'ollama'; write 'openai:qwen3', and its address as model.base_url",
        ),
        ("[model]\nname = 'gpt-5'", "model.name: there is no provider 'gpt-5'; write 'playbook', or a provider"),
        ("[model]\nname = 'openai:'", "model.name: names no model"),
        ("[model]\nname = 'openai:gpt'\napi_key = ' '", "model.api_key: is empty"),
        ("[model]\nname = 'anthropic:c'\nbase_url = 'http://x'", "model.api_key is missing for anthropic:c"),
        (
            "[model]\nname = 'openai:gpt'\napi_key = 'k'\nfallback = ['google:g']",
            "model.google_api_key is missing for google:g",
        ),
        ("[model]\nfallback = ['playbook']", "model.name is 'playbook', which needs nothing else"),
        ("[model]\ntimeout = 120", "model.timeout: 120 is not a duration"),
        ("[policy]\nroutine = 'ask'", "policy.routine: should be 'free', 'gate' or 'refuse'"),
        ("[gates]\nroles = []", "gates.roles: has to name at least one"),
        ("[gates]\nroles = ['boss']", "gates.roles: should be 'requester', 'operator' or 'admin'"),
        ("[gates]\nroles = 'operator'", "gates.roles: has to be a list"),
        ("[gates]\nreminders = [0.8, 0.5]", "gates.reminders: have to ascend"),
        ("[gates]\nreminders = [0.5, 0.5]", "gates.reminders: have to ascend"),
        ("[gates]\nreminders = [0.0]", "gates.reminders: should be greater than 0"),
        ("[gates]\nreminders = [1.0]", "gates.reminders: should be less than 1"),
        ("[gates]\nreminders = [nan]", "gates.reminders: should be"),
        ("[limits]\ncost_usd = inf", "limits.cost_usd: should be a finite number"),
        ("[limits]\ntool_calls = 0", "limits.tool_calls: should be greater than or equal to 1"),
        ("[access]\nunknown = 'everybody'", "access.unknown: should be 'ignore' or 'requester'"),
        ("[host.caches]\nthumbs = 'cache'", "host.caches.thumbs: cache has to be an absolute path"),
        ("[host]\nlog_dirs = ['log']", "host.log_dirs: log has to be an absolute path"),
        ("gates = 5", "gates: has to be a table; its keys are ttl, reminders"),
        ("tools = 5", "tools: has to be a table"),
        (
            "host = '0.0.0.0'",
            "host: has to be a table; its keys are names, caches, log_dirs; did you mean service.host?",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(text: str, said: str) -> None:
    answer = refusal(text)
    assert answer.startswith("casebound.toml: ")
    assert said in answer


def test_the_smallest_values_are_taken() -> None:
    text = "service.port = 0\nlimits = {result_characters = 200, attempts = 1}\naccess.operator_writes = 'joins'"
    settings = load(write(text))
    assert (settings.service.port, settings.limits.result_characters, settings.limits.attempts) == (0, 200, 1)
    assert settings.access.operator_writes == "joins"


def test_a_machine_without_time_zones_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoneinfo, "available_timezones", set[str])
    with pytest.raises(SettingsError, match="install the package tzdata"):
        load(service={"timezone": "Europe/Nowhere"})


def test_a_home_directory_may_be_written_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/kim")
    assert load(write("service.db = '~/cases.db'")).service.db == Path("/home/kim/cases.db")


@pytest.mark.parametrize(
    ("slack", "said"),
    [
        ('bot_token = "xoxb-1"', "slack.app_token is missing"),
        ('app_token = "xapp-1"', "slack.bot_token is missing"),
        ('bot_token = "xapp-1"\napp_token = "xapp-1"', "has to begin with xoxb-"),
        ('bot_token = "xapp-1"\napp_token = "xoxb-1"', "this is another token, which belongs in slack.app_token"),
        ('bot_token = "xoxb-1"\napp_token = "xoxb-1"', "this is another token, which belongs in slack.bot_token"),
        ('bot_token = ""\napp_token = "xapp-1"', "is empty"),
        ('api_url = "slack.com/api"', "has to begin with https://"),
        ('teams = ["casebound"]', "has to be a workspace's id, such as T0123ABCD"),
        ('teams = ["t0123abcd"]', "has to be a workspace's id, such as T0123ABCD"),
        ('teams = ["T0123ABCD"]\napprovals_room = "U0123ABCD"', "has to be a room's id"),
        ('bot_token = "xoxb-1"\napp_token = "xapp-1"\napprovals_room = "C0123ABCD"', "needs slack.teams too"),
    ],
)
def test_a_slack_that_cannot_work_is_refused_in_one_sentence_without_its_tokens(slack: str, said: str) -> None:
    told = refusal(f"[slack]\n{slack}")
    assert said in told
    assert "xoxb-1" not in told
    assert "xapp-1" not in told


def test_slacks_tokens_are_secrets_and_its_url_ends_in_a_slash() -> None:
    settings = load(write('[slack]\nbot_token = "xoxb-1"\napp_token = "xapp-1"\napi_url = "http://127.0.0.1:1/api"'))
    assert settings.secrets() == ("xoxb-1", "xapp-1")
    assert settings.slack.api_url == "http://127.0.0.1:1/api/"
    assert "xoxb-1" not in repr(settings)
