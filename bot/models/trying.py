"""Ask each model that is named one short question: what `casebound doctor` says of them."""

from collections.abc import AsyncIterator, Sequence

from pydantic_ai.messages import ModelRequest, UserPromptPart

from bot.errors import ModelRefused, ModelUnavailable
from bot.models.provider import installed, provided
from bot.models.question import ask_model, parameters
from bot.redaction import without_logins
from bot.settings import Settings
from bot.settings.model import PLAYBOOK, provider_of
from bot.tools.declare import Tool
from channels.findings import Finding

QUESTION = "This is a test of the connection. Answer with one word."


async def of_assistant(
    settings: Settings, tools: Sequence[Tool] | None, playbooks: int | None
) -> AsyncIterator[Finding]:  # fmt: skip
    """Who answers, and whether each model does. The tools are sent along: some models and servers take none.

    None where tools, or playbooks, cannot be put together; nobody answers then until that is mended.
    """
    named = settings.model.names
    if tools is not None and playbooks is not None:
        yield Finding(
            "assistant",
            f"{', then '.join(named)}, with {playbooks} playbooks and {len(tools)} tools. See: casebound tools list",
        )
    for name in named:
        if name != PLAYBOOK:
            yield await _tried(settings, name, tools or ())


async def _tried(settings: Settings, name: str, tools: Sequence[Tool]) -> Finding:
    provider = provider_of(name)
    if not installed(provider):
        return Finding(name, "A package is missing to ask it.", "Install the clients of providers: make models")
    base_url = settings.model.url(provider)
    where = f"at {without_logins(base_url)}" if base_url else "at its provider's own address"
    asked = ModelRequest([UserPromptPart(QUESTION)])
    most_ms = settings.model.timeout // len(settings.model.names)
    try:
        async with provided(name, settings.model.key(provider), base_url) as model:
            answered = await ask_model(model, [asked], parameters(tools), most_ms, secrets=settings.secrets())
    except ModelRefused as error:
        return Finding(name, f"It cannot be used {where}: {error.why}.", error.mend)
    except ModelUnavailable as error:
        return Finding(name, f"It does not answer {where}: {error.why}.", "Try that address, or look again later.")
    return Finding(name, f"It answers {where}, as {answered.model_name or 'one that gives no name'}.")
