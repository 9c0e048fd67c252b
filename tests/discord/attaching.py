"""What the tests of files on Discord do: attach some, wait for what becomes of them, and let time pass."""

from __future__ import annotations

from bot.settings import Files
from casestore.models import File
from casestore.states import FileState
from casestore.tx import Tx
from tests.discord.household import Household
from tests.loop.scripted import says
from tests.wire.discord.messages import Attached, Message

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
HOUR_MS = 3_600_000


def every_file(tx: Tx) -> list[File]:
    return tx.all(File, "SELECT * FROM files ORDER BY id")


def every_copy(tx: Tx) -> list[object]:
    return tx.column("SELECT content FROM copies ORDER BY file_id")


async def files(home: Household) -> list[File]:
    return await home.service.store.read(every_file)


async def copies(home: Household) -> list[object]:
    return await home.service.store.read(every_copy)


async def settled(home: Household, state: FileState, how_many: int = 1) -> list[File]:
    """Until so many files are in a state; all files."""

    async def so() -> bool:
        return [file.state for file in await files(home)].count(state) == how_many

    await home.until_so(so)
    return await files(home)


async def attempted(home: Household) -> str:
    """Until the only file could not be had at the first attempt, and is to be had again later; why."""

    async def so() -> bool:
        found = await files(home)
        return any(file.state is not FileState.WANTED or file.not_before > home.clock.now() for file in found)

    await home.until_so(so)
    (file,) = await files(home)
    assert (file.state, file.attempts) == (FileState.WANTED, 1)
    assert await copies(home) == []
    return str(file.reason)


def later(home: Household) -> None:
    home.clock.pass_by(HOUR_MS)
    home.service.copying.wake()


def sent(home: Household, *attached: Attached, text: str = "look") -> Message:
    """Ann says something directly to the bot, with these files."""
    home.answers(says("I see."))
    return home.ann.says(None, text, files=attached)


async def answered(home: Household) -> str:
    """Until the bot has answered; what the model was sent."""
    await home.shows(home.discord.direct(home.ann), "I see.")
    return str(home.model.sent[-1])


async def limited(home: Household, limit: int) -> None:
    home.settings = home.settings.model_copy(update={"files": Files(limit=f"{limit}B" if limit else 0)})  # pyright: ignore[reportArgumentType]
    await home.restart()


def picture(home: Household) -> Attached:
    return home.ann.file("disk.png", PICTURE, "image/png")
