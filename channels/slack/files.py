"""Files that people share in Slack: what an event says of them, and the download, which takes the bot's token.

The token goes to Slack's own hosts and to no other, and no redirect is followed: where it lacks the scope, Slack sends
to its sign-in page, which is a page and not the file.
https://docs.slack.dev/reference/objects/file-object, `url_private`
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

import aiohttp
from yarl import URL

from channels.attached import Attached, Fetched
from channels.errors import FileGone, FileRefused, FileTooLarge, RetryLater, ScopeMissing, Undeliverable
from channels.slack.failures import retry_after_ms, translated
from channels.slack.web import Payload, Web

_ID = re.compile(r"F[A-Z0-9]{1,40}")
_STORED = ("hosted", "snippet")
"""The modes in which Slack holds bytes of its own; others are links, or documents that have no one file."""
_LATER = "check_file_info"
"""What `file_access` is in rooms that are shared with other workspaces: the event says nothing but the id."""
_SIGN_IN = "Slack gives its sign-in page instead of the file: the app lacks the scope files:read or was not reinstalled"
_SCOPE = "the app lacks the scope files:read; add it and reinstall the app"
_CHUNK = 64 * 1024
_PATIENCE = aiohttp.ClientTimeout(total=600, sock_connect=30, sock_read=60)
_HTML = "text/html"


def attached(message: Mapping[str, object]) -> Iterator[Attached]:
    """What is attached to a message, as it says; what Slack holds no copy of is named, and not to be fetched."""
    found = message.get("files")
    for file in cast("list[Payload]", found) if isinstance(found, list) else []:
        size = file.get("size")
        yield Attached(
            name=_text(file, "name") or _text(file, "title"), media_type=_text(file, "mimetype"),
            size=size if isinstance(size, int) and size >= 0 else None,
            reference=_text(file, "id")[:100] or "without an id", withheld=_withheld(file),
        )  # fmt: skip


def references(message: Mapping[str, object]) -> frozenset[str]:
    """The ids of the files that are still there."""
    found = message.get("files")
    files = cast("list[Payload]", found) if isinstance(found, list) else []
    return frozenset(_text(file, "id") for file in files if file.get("mode") != "tombstone")


class Files:
    """Fetches files by their ids."""

    def __init__(self, web: Web) -> None:
        self._web, self._api = web, URL(web.client.base_url)

    async def fetch(self, file_id: str, limit: int) -> Fetched:
        """A file's bytes, at most `limit`. Raises as `HasFiles.fetch` does."""
        try:
            info = await self._web.read("files.info", file=file_id)
        except ScopeMissing:
            raise FileRefused(_SCOPE) from None
        except Undeliverable as error:
            raise FileRefused(error.why) from None
        file = cast("Payload", info.get("file") or {})
        if (why := _withheld(file)) is not None:
            raise FileGone(why) if file.get("mode") == "tombstone" else FileRefused(why)
        size = file.get("size")
        expected = size if isinstance(size, int) else None
        if expected is not None and expected > limit:
            raise FileTooLarge(f"it has {expected:,} bytes")
        media_type = _text(file, "mimetype")
        content = await self._download(self._address(file), limit, media_type, expected)
        return Fetched(content, _text(file, "name"), media_type)

    def _address(self, file: Payload) -> URL:
        """Where the bytes are. Raises `FileRefused` for a place that is not Slack's: the token is not shown there."""
        given = _text(file, "url_private_download") or _text(file, "url_private")
        if not given:
            raise FileRefused("Slack gives no address for it")
        try:
            url = URL(given)
        except ValueError:
            raise FileRefused("Slack gives an address for it that is none") from None
        if url.user is not None or url.password is not None or not (self._is_ours(url) or _is_slacks(url)):
            raise FileRefused("it lies outside of Slack, where the token is not shown")
        return url

    def _is_ours(self, url: URL) -> bool:
        """Whether it is at the API's host or below it, reached in the same way."""
        host, api = url.host or "", self._api.host or "?"
        same = (url.scheme, url.port) == (self._api.scheme, self._api.port)
        return same and (host == api or host.endswith(f".{api}"))

    async def _download(self, url: URL, limit: int, media_type: str, expected: int | None) -> bytes:
        client = self._web.client
        headers = {"Authorization": f"Bearer {client.token}", "Accept-Encoding": "identity"}
        with translated(self._web.home):
            async with (
                aiohttp.ClientSession(timeout=_PATIENCE, auto_decompress=False) as session,
                session.get(
                    url, headers=headers, allow_redirects=False, proxy=client.proxy, ssl=client.ssl or True
                ) as response,
            ):
                _refuse_unless_ok(response)
                content = await _read(response, limit)
        if response.content_type == _HTML and (media_type != _HTML or len(content) != expected):
            raise FileRefused(_SIGN_IN)
        if response.content_length is None and expected is not None and len(content) < expected:
            raise RetryLater(0, f"only {len(content):,} of {expected:,} bytes came")
        return content


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The body, given up as soon as it is larger than `limit`, whatever it says of its size."""
    held = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        held += chunk
        if len(held) > limit:
            raise FileTooLarge("more comes than it was said to have")
    return bytes(held)


def _refuse_unless_ok(response: aiohttp.ClientResponse) -> None:
    status = response.status
    if status == 200 and not response.headers.get("Content-Encoding", "identity") == "identity":
        raise FileRefused("it comes packed, which was not asked for")
    if status == 200:
        return
    if status in (404, 410):
        raise FileGone("it is not there any more")
    if status == 429 or status >= 500:
        raise RetryLater(retry_after_ms(response.headers), f"Slack answers with status {status}")
    if status in (301, 302, 303, 307, 308, 401, 403):
        raise FileRefused(_SIGN_IN)
    raise FileRefused(f"Slack answers with status {status}")


def _withheld(file: Payload) -> str | None:
    """Why there is nothing to be fetched; None where there may be."""
    mode, access = _text(file, "mode"), _text(file, "file_access")
    if mode == "tombstone":
        return "it was deleted in Slack"
    if mode == "hidden_by_limit":
        return "Slack hides it, as the workspace has reached its limit"
    if not _ID.fullmatch(_text(file, "id")):
        return "it has no id in Slack"
    if file.get("is_external") or mode == "external":
        return "it is only a link to a file outside of Slack"
    if access == _LATER:
        return None
    if access not in ("", "visible"):
        return f"Slack does not let the app see it ({access.replace('_', ' ')})"
    if mode not in _STORED:
        return f"it is no file that can be downloaded ({mode or 'of no kind'})"
    return None


def _is_slacks(url: URL) -> bool:
    host = url.host or ""
    return url.scheme == "https" and url.port == 443 and (host == "slack.com" or host.endswith(".slack.com"))


def _text(file: Payload, key: str) -> str:
    value = file.get(key)
    return value if isinstance(value, str) else ""
