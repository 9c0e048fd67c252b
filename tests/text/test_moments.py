"""How each platform spells a time as the id of a message: what is read later is read from there (R29)."""

import pytest

from channels.text import style_for

_AT = 1_462_015_105_796
"""The time in Discord's own example: https://docs.discord.com/developers/reference#snowflakes"""


@pytest.mark.parametrize(
    ("channel", "between"),
    [("discord", (175_928_847_294_922_752, 175_928_847_299_117_063)), ("slack", (1_462_015_105, 1_462_015_106))],
)
def test_a_time_is_spelled_as_the_platform_would_name_a_message_of_it(channel: str, between: tuple[int, int]) -> None:
    least, most = between
    assert least <= float(style_for(channel).moment(_AT)) <= most
