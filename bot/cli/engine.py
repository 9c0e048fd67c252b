"""The service, started for a command: what hinders it is told in one sentence."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from bot.errors import SettingsError
from bot.redaction import Redaction
from bot.settings import Settings
from casestore.errors import StoreUnusable
from casestore.remedy import remedy

if TYPE_CHECKING:
    from bot.app import Service


@asynccontextmanager
async def engine(
    settings: Settings, name: str, redaction: Redaction, *, everywhere: bool = False
) -> "AsyncGenerator[Service]":
    """`bot.app.running`, whose API token the log hides; `everywhere`: on all channels that are configured.

    Raises `ServiceRunning`, `StoreUnusable`, `SettingsError`.
    """
    from bot import app
    from bot.playbook import PlaybookError

    async with AsyncExitStack() as stack:
        try:
            channels = app.configured(settings) if everywhere else None
            service = await stack.enter_async_context(app.running(settings, name=name, channels=channels))
        except PlaybookError as error:
            raise SettingsError(str(error)) from None
        except OSError as error:
            db = settings.service.db
            raise StoreUnusable(
                f"Cannot write beside {db} ({error.strerror or type(error).__name__}). {remedy(error)}"
            ) from None
        redaction.hide(service.api_token)
        yield service
