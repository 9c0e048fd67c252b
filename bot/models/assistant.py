"""Who answers, as the settings say."""

from pydantic_ai.models import Model

from bot.models.chain import Chain
from bot.models.front import PlaybooksFirst
from bot.models.provider import provided
from bot.playbook import PlaybookModel, load_playbooks
from bot.settings import Settings
from bot.settings.model import PLAYBOOK, provider_of
from bot.tools.host.names import names


def assistant(settings: Settings) -> Model:
    """The playbooks alone, or a chain of models, with playbooks in front where that is set.

    Raises `SettingsError` where a provider's package is missing.
    """
    playbooks = PlaybookModel(load_playbooks(settings.playbooks.paths), names(settings.host.names))
    if settings.model.name == PLAYBOOK:
        return playbooks
    one = settings.model
    chain = Chain(
        {name: _one(settings, name, playbooks) for name in one.names}, one.timeout,
        addresses={name: one.url(provider_of(name)) for name in one.names}, secrets=settings.secrets(),
    )  # fmt: skip
    return PlaybooksFirst(playbooks, chain) if settings.model.playbooks_first else chain


def _one(settings: Settings, name: str, playbooks: PlaybookModel) -> Model:
    if name == PLAYBOOK:
        return playbooks
    provider = provider_of(name)
    return provided(name, settings.model.key(provider), settings.model.url(provider))
