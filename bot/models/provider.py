"""A model of a provider, with that provider's own client, which is imported only here and only when it is named."""

from importlib.util import find_spec

from pydantic_ai.models import Model

from bot.errors import SettingsError

_PACKAGES = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}
_OPENAI, _ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
_GOOGLE = "https://generativelanguage.googleapis.com"
_NO_KEY = "none"
"""What is sent to a server of one's own that asks for no key: the client insists on one."""


def provided(name: str, key: str | None, base_url: str | None) -> Model:
    """The model `provider:name`. Raises `SettingsError` where the provider's package is not installed.

    Address and key are always said, so that no variable meant for another program sends either of them elsewhere; and
    the clients repeat nothing by themselves, since every attempt is journalled (`bot.turns.conduct`).
    """
    provider, _, model = name.partition(":")
    if not installed(provider):
        raise SettingsError(
            f"{name} in [model] needs a package that is not installed; install the clients of providers: make models"
        )
    match provider:
        case "openai":
            return _openai(model, key or _NO_KEY, base_url or _OPENAI)
        case "anthropic":
            return _anthropic(model, key or "", base_url or _ANTHROPIC)
        case _:
            return _google(model, key or "", base_url or _GOOGLE)


def installed(provider: str) -> bool:
    """Whether the package of a provider is there; it is not imported for that."""
    try:
        return find_spec(_PACKAGES[provider]) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


def _openai(model: str, key: str, base_url: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=key, base_url=base_url)
    provider.client.max_retries = 0
    # a stream that ends without saying why was cut off, however politely
    whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(model, provider=provider, profile=whole)


def _anthropic(model: str, key: str, base_url: str) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=key, base_url=base_url)
    provider.client.max_retries = 0
    return AnthropicModel(model, provider=provider)


def _google(model: str, key: str, base_url: str) -> Model:
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(
        model, provider=GoogleProvider(api_key=key, base_url=base_url, retry_options=HttpRetryOptions(attempts=1))
    )
