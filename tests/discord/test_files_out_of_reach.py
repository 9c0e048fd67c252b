"""A file whose room we may not read any more is given up with the reason, not tried as if something were broken."""

from __future__ import annotations

import pytest

from channels.discord.channel import DiscordChannel
from channels.errors import FileRefused
from tests.channel_contract.recorder import Recorder
from tests.discord.test_connection import login
from tests.wire.discord.server import DiscordServer


async def test_a_file_in_a_room_that_we_may_not_read_is_refused_with_the_reason() -> None:
    async with DiscordServer() as discord:
        channel = DiscordChannel(login(discord))
        await channel.start(Recorder())
        room = discord.room("kitchen")
        discord.fail_next("get_message", status=403)
        with pytest.raises(FileRefused, match="does not let the bot read"):
            await channel.fetch(f"{room.id}/1/2", 1_000)
        await channel.stop()
