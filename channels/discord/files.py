"""Files that people attach on Discord: their links end after a day, so that a fresh one is asked for each time.

https://docs.discord.com/developers/reference#signed-attachment-cdn-urls
"""

from __future__ import annotations

from collections.abc import Iterator

import aiohttp
import discord

from channels.attached import Attached, Fetched
from channels.discord import places
from channels.discord.failures import translated
from channels.errors import FileGone, FileRefused, FileTooLarge, RetryLater
from channels.messages import Address

_CHUNK = 64 * 1024
_PATIENCE = aiohttp.ClientTimeout(total=600, sock_connect=30, sock_read=60)


def attached(message: discord.Message) -> Iterator[Attached]:
    """What is attached to a message. A sticker is only a picture that everybody has: it is named."""
    for file in message.attachments:
        yield Attached(
            name=file.filename, media_type=file.content_type or "", size=file.size,
            reference=f"{message.channel.id}/{message.id}/{file.id}",
        )  # fmt: skip
    for sticker in message.stickers:
        yield Attached(
            name=sticker.name, media_type="sticker", size=None, reference=f"sticker/{sticker.id}",
            withheld="it is a sticker",
        )  # fmt: skip


async def fetch(client: discord.Client, reference: str, limit: int) -> Fetched:
    """The file's bytes, at most `limit`. Raises as `HasFiles.fetch` does."""
    channel, message, number = map(int, reference.split("/"))
    where = Address(channel=places.NAME, space=places.DIRECT, room=str(channel))
    with translated(where):
        try:
            found = await client.get_partial_messageable(channel).fetch_message(message)
        except discord.NotFound:
            raise FileGone("its message is not there any more") from None
        except discord.Forbidden:
            raise FileRefused("Discord does not let the bot read where it was sent") from None
        file = next((one for one in found.attachments if one.id == number), None)
        if file is None:
            raise FileGone("it was taken from its message")
        if file.size > limit:
            raise FileTooLarge(f"it has {file.size:,} bytes")
        return Fetched(await _download(file, limit), file.filename, file.content_type or "")


async def _download(file: discord.Attachment, limit: int) -> bytes:
    """The body, given up as soon as it is larger than `limit`. The link is its own key: no token goes along."""
    async with (
        aiohttp.ClientSession(timeout=_PATIENCE) as session, session.get(file.url, allow_redirects=False) as response
    ):  # fmt: skip
        if response.status in (403, 404, 410):
            raise FileGone("it is not there any more")
        if response.status != 200:
            raise RetryLater(0, f"Discord answers with status {response.status}")
        held = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            held += chunk
            if len(held) > limit:
                raise FileTooLarge("more comes than it was said to have")
    if len(held) < file.size:
        raise RetryLater(0, f"only {len(held):,} of {file.size:,} bytes came")
    return bytes(held)
