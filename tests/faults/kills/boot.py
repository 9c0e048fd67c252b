"""One boot of the real service, to be run in a process that may be killed at any moment."""

import os
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.app import Service, running
from bot.clock import SystemClock
from bot.settings import Settings
from bot.settings.sections import Service as ServiceSection
from channels.address import Account
from tests.faults.kills.planned import Counter, PlannedModel, tools
from tests.faults.kills.platform import JournalledChannel

SPACE = "S"


class Shifted:
    """The machine's clock, moved: each boot may come as much later as the test wants."""

    def __init__(self, by_ms: int) -> None:
        self.by_ms = by_ms

    def now(self) -> int:
        return SystemClock().now() + self.by_ms


@dataclass(frozen=True)
class Place:
    """The files of one installation and of the world around it."""

    folder: Path

    @property
    def db(self) -> Path:
        """The store."""
        return self.folder / "casebound.db"

    @property
    def platform(self) -> Path:
        """What the platform has accepted."""
        return self.folder / "platform.jsonl"

    @property
    def history(self) -> Path:
        """What was asked of the service, and what it acknowledged."""
        return self.folder / "history.jsonl"

    @property
    def effects(self) -> Path:
        """The file of the counter."""
        return self.folder / "effects.txt"

    @property
    def counter(self) -> Counter:
        """What the tools did."""
        return Counter(self.effects)

    @property
    def settings(self) -> Settings:
        """As an operator would have them, but that nothing reaches outside the folder."""
        return Settings(service=ServiceSection(db=self.db, timezone="UTC"))


@asynccontextmanager
async def booted(
    place: Place, clock: Shifted, *, can_find: bool = True, moment: Callable[[str], object] = lambda _: None,
    slow: bool = False,
) -> AsyncGenerator[tuple[Service, JournalledChannel]]:  # fmt: skip
    """The service of `bot.app` on a folder, with the file-backed memory channel, the planned model and its tools."""
    channel = JournalledChannel(place.platform, can_find=can_find, moment=moment)
    async with running(
        place.settings, name="a service that is killed", channels={"memory": channel}, clock=clock,
        model=PlannedModel(lambda: moment("during a model call")), tools=tools(place.counter, moment, slow=slow),
    ) as service:  # fmt: skip
        yield service, channel


def account(name: str) -> Account:
    """The account of somebody of `hands.PEOPLE` on the platform."""
    return Account(channel="memory", space=SPACE, account_id=f"U-{name}", display_name=name)


def die() -> None:
    """SIGKILL, as the kernel or a power cut would: nothing that follows is run."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def dies_at(where: Sequence[str]) -> Callable[[str], object]:
    """A `moment` that dies at one of these."""
    return lambda moment: die() if moment in where else None
