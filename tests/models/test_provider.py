"""A provider's package is imported when its model is named and not before; where it is missing, that is said."""

import subprocess
import sys

import pytest

from bot.errors import SettingsError
from bot.models import provider
from bot.models.provider import installed, provided
from tests.models.rig import settings_for
from tests.wire.openai.server import OpenAIServer


def test_a_service_with_playbooks_alone_imports_the_package_of_no_provider() -> None:
    code = (
        "import sys\nimport bot.app\nfrom bot.models.assistant import assistant\nfrom bot.settings import Settings\n"
        "assistant(Settings())\n"
        "print([name for name in ('openai', 'anthropic', 'google.genai') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["openai:gpt-test", "anthropic:claude-test", "google:gemini-test"])
def test_a_package_that_is_missing_is_said_in_one_sentence_with_what_to_do(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "_PACKAGES", dict.fromkeys(("openai", "anthropic", "google"), "no_such_package"))

    with pytest.raises(SettingsError, match=f"{name} .* make models"):
        provided(name, "sk-key", None)


def test_a_package_is_installed_or_not_even_where_the_one_around_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "_PACKAGES", {"here": "json", "gone": "no_such_package", "deep": "no_such.package"})

    assert [installed(name) for name in ("here", "gone", "deep")] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("openai:gpt-test", "https://api.openai.com/v1"),
        ("anthropic:claude", "https://api.anthropic.com"),
        ("google:gemini-test", "https://generativelanguage.googleapis.com"),
    ],
)
def test_a_key_goes_to_its_provider_whatever_address_another_program_was_given(
    name: str, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9/elsewhere")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")

    assert (provided(name, "sk-key", None).base_url or "").rstrip("/") == own


async def test_the_keys_of_models_are_among_the_secrets_that_the_log_masks() -> None:
    async with OpenAIServer() as server:
        settings = settings_for(server, key="sk-one", fallback=("anthropic:claude-test",), anthropic_api_key="sk-two")

    assert {"sk-one", "sk-two"} <= set(settings.secrets())
    assert "sk-one" not in repr(settings)
