"""Somebody attaches a picture, the service is killed while it fetches it, and the next one has the copy."""

import asyncio
from hashlib import sha256
from pathlib import Path

import pytest

from tests.story.installation import Installation
from tests.wire.slack.files import DOWNLOAD
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer

PICTURE = b"\x89PNG" + bytes(range(256)) * 2_000


@pytest.mark.kill
async def test_a_copy_that_was_cut_off_by_a_kill_is_fetched_by_the_next_process(tmp_path: Path) -> None:
    async with SlackServer() as slack:
        installation = Installation(
            tmp_path,
            f"""
            access = {{ unknown = "requester", guests = "requester" }}
            [slack]
            bot_token = "{BOT_TOKEN}"
            app_token = "{APP_TOKEN}"
            teams = ["{slack.team}"]
            api_url = "{slack.api_url}"
            """,
        )
        held = slack.hold(DOWNLOAD)
        ann = slack.member("ann")
        try:
            await asyncio.to_thread(installation.start)
            await slack.connected()
            said = await ann.says(None, "look", files=[ann.shares("disk.png", PICTURE, "image/png")])
            await slack.acked(*said.deliveries)
            await held.arrived()
            installation.kill()
            held.release()
            await asyncio.to_thread(installation.start)
            file = await asyncio.to_thread(installation.await_, lambda: the_file(installation), is_kept)
            assert (file["digest"], file["attempts"]) == (sha256(PICTURE).hexdigest(), 2)
            out = ("case", "file", "C-1001", str(file["id"]), "--output", "picture")
            await asyncio.to_thread(installation.cli, *out)
            assert (tmp_path / "picture").read_bytes() == PICTURE
        finally:
            await asyncio.to_thread(installation.stop)


def the_file(installation: Installation) -> dict[str, object]:
    """The one file of the one case."""
    first, *_ = installation.api("cases/C-1001/messages")["messages"]
    (file,) = first["files"]
    return file


def is_kept(file: dict[str, object]) -> bool:
    return file["state"] == "kept"
