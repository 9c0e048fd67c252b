"""`[model]`: who answers."""

import difflib

from pydantic import Field, SecretStr, field_validator, model_validator

from bot.errors import SettingsError
from bot.settings.section import Section
from bot.settings.values import ApiUrl, secret
from bot.words.durations import Duration, duration

PLAYBOOK = "playbook"
PROVIDERS = ("openai", "anthropic", "google")

_LIKE_OPENAI = frozenset({
    "ollama", "vllm", "lmstudio", "llamacpp", "localai", "openrouter", "groq", "mistral", "deepseek", "together",
})  # fmt: skip
"""What people write for a server that speaks as OpenAI does."""


class Model(Section):
    """`[model]`: `playbook`, or a model by provider and name, with others that take its place."""

    name: str = PLAYBOOK
    base_url: ApiUrl | None = None
    api_key: SecretStr | None = None
    openai_api_key: SecretStr | None = None
    anthropic_api_key: SecretStr | None = None
    google_api_key: SecretStr | None = None
    fallback: tuple[str, ...] = ()
    playbooks_first: bool = False
    timeout: Duration = Field(default=duration("120s"))
    paraphrase: bool = True

    _keys_are_not_empty = field_validator("api_key", "openai_api_key", "anthropic_api_key", "google_api_key")(secret())

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        return _checked(name)

    @field_validator("fallback")
    @classmethod
    def _each_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_checked(name) for name in names)

    @property
    def names(self) -> tuple[str, ...]:
        """Every model in the order in which they are asked."""
        return (self.name, *self.fallback)

    @property
    def talks(self) -> bool:
        """Whether what people say while a call waits is answered: a model can, playbooks have nothing to say to it."""
        return self.name != PLAYBOOK

    def key(self, provider: str) -> str | None:
        """The key for a provider; `api_key` is for the provider of `name`."""
        own: SecretStr | None = getattr(self, f"{provider}_api_key")
        found = self.api_key if own is None and provider == provider_of(self.name) else own
        return None if found is None else found.get_secret_value()

    def url(self, provider: str) -> str | None:
        """Where a provider is reached, where that is not its own address: `base_url` is for the provider of `name`."""
        return self.base_url if provider == provider_of(self.name) else None

    @model_validator(mode="after")
    def _can_be_asked(self) -> "Model":
        if self.name == PLAYBOOK and (self.fallback or self.base_url or self.api_key or self.playbooks_first):
            raise SettingsError("model.name is 'playbook', which needs nothing else; name a model like 'openai:NAME'")
        for name in self.names:
            provider = provider_of(name)
            keyless = provider == "openai" and self.url(provider) is not None  # a server of one's own may ask for none
            if name != PLAYBOOK and not keyless and self.key(provider) is None:
                key = "api_key" if name == self.name else f"{provider}_api_key"
                raise SettingsError(
                    f"model.{key} is missing for {name}: set CASEBOUND_MODEL__{key.upper()}, "
                    f"or CASEBOUND_MODEL__{key.upper()}_FILE to a file that holds it"
                )
        return self


def provider_of(name: str) -> str:
    """`openai` of `openai:gpt-5`; `playbook` of itself."""
    return name.partition(":")[0]


def _checked(name: str) -> str:
    provider, _, model = name.partition(":")
    if name == PLAYBOOK:
        return name
    if provider not in PROVIDERS:
        near = difflib.get_close_matches(provider, (PLAYBOOK, *PROVIDERS), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        if provider.lower() in _LIKE_OPENAI:
            hint = f"; write 'openai:{model or 'NAME'}', and its address as model.base_url"
        raise ValueError(
            f"there is no provider {provider[:40]!r}{hint}; write 'playbook', or a provider ({', '.join(PROVIDERS)}), "
            "a colon and the name of its model"
        )
    if not model.strip() or model != model.strip():
        raise ValueError(f"names no model; write '{provider}:' and the name that the provider gives it")
    return name
