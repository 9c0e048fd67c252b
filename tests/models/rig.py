"""The service with a model of a provider: that provider's own client, and a local server that speaks its protocol."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr
from pydantic_ai.models import Model as AnyModel

from bot.models.assistant import assistant
from bot.settings import Settings
from bot.settings.sections import Model
from casestore.models import Case
from channels.memory import MemoryChannel
from tests.loop.rig import HOUR, Rig, checked
from tests.loop.scripted import ScriptedModel
from tests.wire.anthropic.server import AnthropicServer
from tests.wire.google.server import GoogleServer
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import KEY, Line, ModelServer, words

PROVIDERS: Mapping[str, type[ModelServer]] = {
    "openai": OpenAIServer,
    "anthropic": AnthropicServer,
    "google": GoogleServer,
}
TRIES = 3


@dataclass(frozen=True)
class Asked:
    """The service, and the provider whose model answers in it."""

    rig: Rig
    server: ModelServer

    async def say(self, text: str, *lines: Line) -> Case:
        """Somebody says something; it is worked and answered, and the provider says these lines to that."""
        self.server.then(*lines)
        case = await self.rig.say(text)
        await self.rig.work()
        return case

    async def goes_on(self, case: Case) -> None:
        """Nothing that happened keeps the case: the next message is answered, and the provider takes the request."""
        assert self.server.script == []
        self.rig.clock.pass_by(HOUR)
        await self.say("And now?", words("Now I am here."))
        assert self.rig.posted()[-1] == "Now I am here."
        assert self.server.refused == []
        await checked(self.rig.store, case)


def settings_for(server: ModelServer, *, key: str | None = KEY, **more: object) -> Settings:
    """Settings that name the model of a server."""
    secret = None if key is None else SecretStr(key)
    model = {"name": server.name, "base_url": server.base_url, "api_key": secret, **more}
    return Settings(model=Model.model_validate(model))


@asynccontextmanager
async def answering(
    db: Path, settings: Settings, other: AnyModel | None = None, *, channel: MemoryChannel | None = None
) -> AsyncGenerator[Rig]:
    """The service on a file, with the assistant that the settings name or another one, on a platform of its own."""
    async with other or assistant(settings) as model:
        rig = Rig(db, ScriptedModel(), settings=settings, channel=channel)
        rig.asked = model
        await rig.open()
        try:
            yield rig
        finally:
            await rig.kill()
