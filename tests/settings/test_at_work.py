"""What was started is stopped, whatever one of its parts does meanwhile."""

import asyncio
from pathlib import Path

import pytest

from bot.app import Service, running
from bot.settings import Settings, load
from casestore.locks import service_holder
from channels.memory import MemoryChannel
from channels.port import Receiver

PARTS = {"engine", "delivery", "watch"}


class Stubborn(MemoryChannel):
    """Fails, or hangs, where it is told to."""

    def __init__(self, name: str, *, starts: bool = True, hangs: bool = False) -> None:
        super().__init__(name)
        self._starts, self._hangs = starts, hangs

    async def start(self, receiver: Receiver) -> None:
        if not self._starts:
            raise RuntimeError("it does not start")
        await super().start(receiver)

    async def stop(self) -> None:
        if self._hangs:
            await asyncio.Event().wait()
        raise RuntimeError("it does not stop")


@pytest.fixture
def settings(here: Path) -> Settings:
    """A file of its own."""
    return load(service={"db": here / "casebound.db"})


def at_work() -> set[str]:
    """The parts that still go on."""
    return {task.get_name() for task in asyncio.all_tasks()} & PARTS


async def over(service: Service) -> None:
    """Nothing of it is left."""
    assert at_work() == set()
    assert not service.schedule.ticking
    assert service_holder(service.settings.service.db) is None


@pytest.mark.parametrize("hangs", [True, False])
async def test_a_channel_that_cannot_be_stopped_keeps_nothing_else_at_work(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    monkeypatch.setattr("bot.app._GRACE_S", 0.05)
    good = MemoryChannel("memory")
    channels = {"memory": good, "other": Stubborn("other", hangs=hangs)}
    async with running(settings, name="a test", channels=channels) as service:
        assert at_work() == PARTS
    assert not good.connected
    await over(service)
    assert "channel.not_stopped" in caplog.text


async def test_a_channel_that_does_not_start_leaves_nothing_at_work(settings: Settings) -> None:
    good = MemoryChannel("memory")
    channels = {"memory": good, "other": Stubborn("other", starts=False)}
    with pytest.raises(RuntimeError, match="does not start"):
        async with running(settings, name="a test", channels=channels):
            pass
    assert not good.connected
    assert at_work() == set()
    assert service_holder(settings.service.db) is None
