"""What Discord would act on in a text is taken the life out of, and everything stays readable."""

import pytest

from channels.style import discord_markdown


@pytest.mark.parametrize(
    ("text", "still"),
    [
        ("ask <@1> or <@&2> in <#3>", "ask \\<@1> or \\<@&2> in \\<#3>"),
        ("@everyone and @here, not a@b", "\\@everyone and \\@here, not a@b"),
        ("<t:0:R> <:x:1> <a:x:1> </case:1> <id:browse>", "\\<t:0:R> \\<:x:1> \\<a:x:1> \\</case:1> \\<id:browse>"),
        ("||boo|| and a | b", "\\|\\|boo\\|\\| and a | b"),
        ("[bank](https://evil.example)", "[bank] (https://evil.example)"),
        ("\\<@1>", "\\<@1>"),
        ("\\\\<@1>", "\\\\\\<@1>"),
        ("a < b && c > d", "a < b && c > d"),
    ],
)
def test_what_is_live_is_stilled_and_nothing_else(text: str, still: str) -> None:
    assert discord_markdown(text) == still
    assert discord_markdown(f"before\n```\ncode\n```\n{text}") == f"before\n```\ncode\n```\n{still}"
    assert discord_markdown(f"{text}\n```\ncode\n```") == f"{still}\n```\ncode\n```"


def test_code_stays_as_it_is() -> None:
    code = "```py\n<@1> = x[0](y) || z\n```"
    assert discord_markdown(code) == code


@pytest.mark.parametrize(
    "text",
    [
        "`a\n```\n[x](https://evil.example)\n```",
        "say ``` [x](https://evil.example) ```",
        "```\n[x](https://evil.example)",
    ],
)
def test_what_only_may_be_code_is_taken_for_none(text: str) -> None:
    assert "](" not in discord_markdown(text)
