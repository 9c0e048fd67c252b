"""`casebound doctor` asks each model that is named, by its provider's own client, and says what to mend."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.models import provider as providers
from casestore.migrate import migrate
from tests.cli.command_line import Cli
from tests.models.rig import PROVIDERS
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import KEY, Fault, ModelServer, calls, words

Names = Callable[..., None]


@pytest.fixture
def names_it(db: Path, monkeypatch: pytest.MonkeyPatch) -> Names:
    """Settings that name the model of a server, or one like it elsewhere."""
    migrate(db)

    def name(server: ModelServer, *, at: str | None = None, key: str = KEY, more: str = "") -> None:
        monkeypatch.setenv("CASEBOUND_MODEL__API_KEY", key)
        file = db.parent / "casebound.toml"
        file.write_text(f'[model]\nname = "{server.name}"\nbase_url = "{at or server.base_url}"\n{more}')

    return name


@pytest.mark.parametrize("provider", list(PROVIDERS))
async def test_a_model_that_answers_is_well_and_was_sent_the_tools(
    cli: Cli, db: Path, names_it: Names, provider: str
) -> None:
    async with PROVIDERS[provider]() as server:
        names_it(server)
        server.then(words("Yes."))
        told = await cli.done("doctor", "--db", str(db))

        assert f"ok      {server.name}. It answers at {server.base_url}" in told
        assert server.reported in told
        assert "host__disk_usage" in server.offered()
        assert KEY not in told


async def test_a_model_that_would_rather_call_a_tool_answers_too_and_nothing_is_called(
    cli: Cli, db: Path, names_it: Names
) -> None:
    async with OpenAIServer() as server:
        names_it(server)
        server.then(calls(("host__clear_cache", "{}")))

        assert "All is well." in await cli.done("doctor", "--db", str(db))
        assert len(server.sent) == 1


@pytest.mark.parametrize("provider", list(PROVIDERS))
async def test_a_key_that_is_not_accepted_is_said_without_the_key(
    cli: Cli, db: Path, names_it: Names, provider: str
) -> None:
    async with PROVIDERS[provider]() as server:
        names_it(server, key="sk-wrong")
        ended = await cli("doctor", "--db", str(db))

        assert f"One thing has to be done: {server.name}." in ended.line
        assert f"the provider answered {server.wrong_key} (it does not accept the key)" in " ".join(ended.out.split())
        assert "sk-" not in ended.out + ended.err


@pytest.mark.parametrize("provider", list(PROVIDERS))
async def test_an_address_where_nobody_answers_is_named(cli: Cli, db: Path, names_it: Names, provider: str) -> None:
    async with PROVIDERS[provider]() as server:
        gone = server.base_url
    names_it(server, at=gone)
    ended = await cli("doctor", "--db", str(db))

    assert f"One thing has to be done: {server.name}." in ended.line
    told = " ".join(ended.out.split())
    assert f"It does not answer at {gone}/: it cannot be reached" in told
    assert "Traceback" not in told


async def test_a_server_that_takes_no_tools_is_found_out_before_a_case_is(cli: Cli, db: Path, names_it: Names) -> None:
    async with OpenAIServer() as server:
        names_it(server)
        server.then(Fault(400, says="qwen3 does not support tools. "))
        ended = await cli("doctor", "--db", str(db))

        assert "the provider answered 400 (it does not take the request)" in " ".join(ended.out.split())


async def test_each_model_of_a_chain_is_asked_and_playbooks_are_not(cli: Cli, db: Path, names_it: Names) -> None:
    async with OpenAIServer() as server:
        names_it(server, more='fallback = ["openai:gpt-other", "playbook"]\n')
        server.then(Fault(401), words("Yes."))
        ended = await cli("doctor", "--db", str(db))

        assert [body["model"] for body in server.sent] == ["gpt-test", "gpt-other"]
        assert "One thing has to be done: openai:gpt-test." in ended.line
        assert "ok      openai:gpt-other." in ended.out


async def test_a_key_that_is_missing_is_said_with_where_it_goes(cli: Cli, db: Path) -> None:
    (db.parent / "casebound.toml").write_text('[model]\nname = "anthropic:claude-test"\n')
    assert "CASEBOUND_MODEL__API_KEY_FILE" in (await cli("doctor")).line


async def test_a_package_that_is_missing_is_said_and_nothing_is_asked(
    cli: Cli, db: Path, names_it: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "_PACKAGES", {"openai": "no_such_package"})
    async with OpenAIServer() as server:
        names_it(server)
        ended = await cli("doctor", "--db", str(db))

        assert "make models" in ended.out
        assert server.sent == []
