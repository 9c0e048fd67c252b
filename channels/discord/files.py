"""Files that people attach on Discord: their links end after a day, so that a fresh one is asked for each time.

A link is its own key: the bot's token never goes along, no redirect is followed, and no host but Discord's is asked.
https://docs.discord.com/developers/reference#signed-attachment-cdn-urls
"""

from __future__ import annotations

from collections.abc import Iterator

import aiohttp
import discord
from discord.http import Route
from yarl import URL

from channels.attached import Attached, Fetched
from channels.discord import places
from channels.discord.failures import translated
from channels.errors import FileGone, FileRefused, FileTooLarge, RetryLater
from channels.messages import Address

_HOSTS = ("cdn.discordapp.com", "media.discordapp.net")
"""Where Discord keeps what people attach, and where it shows it."""
_GONE = (403, 404, 410)
"""What is said of a link that is over, and of a file that is not there. A page that says so is somebody else's."""
_HTML = "text/html"
_CHUNK = 64 * 1024
_PATIENCE = aiohttp.ClientTimeout(total=600, sock_connect=30, sock_read=60)


class _LinkOver(FileGone):
    """The link is not taken; another may be."""


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
            return await _copy(await _found(client, channel, message, number), limit)
        except _LinkOver:  # before it was used, or its file went: a fresh one, or that there is none, tells which
            return await _copy(await _found(client, channel, message, number), limit)


def address(link: str) -> URL:
    """A link as an address, if it leads to Discord's files. Raises `FileRefused` for any other: it is never asked for.

    Discord's, or whoever is configured in its place (`discord.api_url`).
    """
    try:
        url = URL(link)
        configured = url.origin() == URL(Route.BASE).origin()
    except ValueError:
        raise FileRefused("Discord gives a link to it that is none") from None
    discords = url.scheme == "https" and url.port == 443 and url.host in _HOSTS
    if url.user is not None or url.password is not None or not (discords or configured):
        raise FileRefused("its link leads out of Discord")
    return url


async def _found(client: discord.Client, channel: int, message: int, number: int) -> discord.Attachment:
    """The attachment as its message has it now, with a link that has just begun."""
    try:
        found = await client.get_partial_messageable(channel).fetch_message(message)
    except (discord.NotFound, discord.Forbidden) as error:
        if error.response.headers.get("Content-Type") != "application/json":  # not Discord itself
            raise RetryLater(0, "something in front of Discord does not let us through") from None
        if isinstance(error, discord.NotFound):
            raise FileGone("its message is not there any more") from None
        raise FileRefused("Discord does not let the bot read where it was sent") from None
    file = next((one for one in found.attachments if one.id == number), None)
    if file is None:
        raise FileGone("it was taken from its message")
    return file


async def _copy(file: discord.Attachment, limit: int) -> Fetched:
    """What the link gives, if that is the file: of its size, and no page that somebody in between has written."""
    if file.size > limit:
        raise FileTooLarge(f"it has {file.size:,} bytes")
    media_type = file.content_type or ""
    async with (
        aiohttp.ClientSession(timeout=_PATIENCE, auto_decompress=False) as session,
        session.get(address(file.url), headers={"Accept-Encoding": "identity"}, allow_redirects=False) as response,
    ):
        if response.status in _GONE and response.content_type != _HTML:
            raise _LinkOver("it is not there any more")
        if response.status != 200:
            raise RetryLater(0, f"Discord answers with status {response.status}")
        page = response.content_type == _HTML and not media_type.startswith(_HTML)
        if page or response.headers.get("Content-Encoding", "identity") != "identity":
            raise RetryLater(0, "what came is not the file, but perhaps a proxy's page")
        content = await _read(response, limit)
    if len(content) != file.size:
        raise RetryLater(0, f"{len(content):,} bytes came, and it has {file.size:,}")
    return Fetched(content, file.filename, media_type)


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The body, given up as soon as it is larger than `limit`, whatever it was said to have."""
    held = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        held += chunk
        if len(held) > limit:
            raise FileTooLarge("more comes than it was said to have")
    return bytes(held)
