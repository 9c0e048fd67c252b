"""Where a command works: which settings, which file, what time it is, and how the user types the next command."""

import asyncio
import logging
import shlex
import shutil
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from bot import ids, logs
from bot.blame import OURS
from bot.clock import SystemClock
from bot.redaction import Redaction
from bot.settings import Settings, load
from casestore.db import Store
from casestore.locks import service_holder
from casestore.migrate import open_store
from casestore.tx import Tx

P = ParamSpec("P")
T = TypeVar("T")

_LOGGERS = (*OURS, "casebound")


@dataclass(frozen=True)
class Here:
    """One command's surroundings; `given_config` and `given_db` are what stood on its command line."""

    given_config: Path | None = None
    given_db: Path | None = None

    @cached_property
    def settings(self) -> Settings:
        """The settings, read once; from then on no secret of theirs reaches the log. Raises `SettingsError`."""
        settings = load(self.given_config, service={"db": self.given_db})
        self.log(settings)
        return settings

    @property
    def db(self) -> Path:
        """The file."""
        return self.settings.service.db

    @property
    def zone(self) -> tzinfo | None:
        """The zone that times are shown in."""
        return self.settings.service.zone

    @property
    def now(self) -> int:
        """The time, in ms UTC."""
        return SystemClock().now()

    def log(self, settings: Settings, *, whole: bool = False) -> Redaction:
        """Set the log up: `whole`, as a service that is watched keeps it, or warnings alone; what it hides."""
        debug = logs.debug_wanted()
        redaction = logs.set_up(settings.secrets(), debug)
        usual = logging.INFO if whole else logging.WARNING
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.DEBUG if debug else usual)
        return redaction

    @asynccontextmanager
    async def store(self) -> AsyncGenerator[Store]:
        """The file, opened beside whatever service runs on it. Raises `StoreUnusable`."""
        opened = await open_store(self.db, ids.nonce, serves=False)
        try:
            yield opened
        finally:
            await opened.close()

    def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`fn(tx, …)` as one snapshot of the file."""

        async def reading() -> T:
            async with self.store() as store:
                return await store.read(fn, *args, **kwargs)

        return asyncio.run(reading())

    def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`fn(tx, …)` as one transaction; a running service notices it within half a second."""

        async def writing() -> T:
            async with self.store() as store:
                return await store.write(fn, *args, **kwargs)

        return asyncio.run(writing())

    @property
    def service(self) -> str | None:
        """Who runs the engine on this file now."""
        return service_holder(self.db)

    def typed(self, command: str) -> str:
        """How the user types another command here: with their name for the program, and their `--db`."""
        words = [_program(), command]
        if self.given_db is not None:
            words.append(f"--db {shlex.quote(str(self.given_db))}")
        if self.given_config is not None:
            words.append(f"--config {shlex.quote(str(self.given_config))}")
        return " ".join(words)


def _program() -> str:
    """The program as it was called: by its name where the shell finds it, else by its path from here."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{_from_here(Path(sys.executable))} -m bot"
    found = shutil.which(called.name)
    if found is not None and Path(found).absolute() == called.absolute():
        return called.name
    return _from_here(called)


def _from_here(path: Path) -> str:
    """A path as it is typed in the folder where we are."""
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return shlex.quote(str(path))
