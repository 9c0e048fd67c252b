"""What text must be like on each channel.

Adding a channel is one entry in `STYLES`. `escape` is given text that is inert already, and takes the life
out of what the platform itself would act on (mentions, links, entities) while its Markdown stays; it must
leave the backquotes and tildes of code fences alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from channels.errors import UnknownChannel
from channels.fences import Fence, after_line


def code_points(text: str) -> int:
    """Length as Python counts it."""
    return len(text)


def utf16_units(text: str) -> int:
    """Length as JavaScript and most platforms count it: two for each character above U+FFFF."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def as_is(text: str) -> str:
    """Nothing to escape."""
    return text


_SLACK_LIVE = re.compile(r"<|&(?=#?\w+;)")
_HIDDEN_LINK = re.compile(r"\](?=[(\[:])")
_SLACK_LIMIT = 11_000


def slack_markdown(text: str) -> str:
    """`text` for a markdown block of Slack: no mention, no entity, no link whose label hides where it leads.

    Inside a markdown block Slack acts on its own `<…>` tokens, in code too, and shows `&lt;` as the character. The
    label of a Markdown link is set apart from its target, so that both are seen; code in fences keeps its brackets.
    """
    lines: list[str] = []
    fence: Fence | None = None
    for line in _SLACK_LIVE.sub(lambda found: "&lt;" if found[0] == "<" else "&amp;", text).split("\n"):
        lines.append(_HIDDEN_LINK.sub("] ", line) if fence is None else line)
        fence = after_line(fence, line, _SLACK_LIMIT // 4)
    return "\n".join(lines)


_DISCORD_LIVE = re.compile(r"(\\*)(<(?=[@#:/]|a:|t:|id:)|@(?=everyone|here)|\|(?=\|)|(?<=\|)\||\](?=\())")
_CODE_BLOCK = re.compile(r"^```(?:[\w+.#-]+\n|\n|(?=[^\n`]))(?:[^`]|`(?!``))*```", re.MULTILINE)


def discord_markdown(text: str) -> str:
    """`text` for a message on Discord: no mention, no time or emoji by its id, nothing behind a spoiler, no link whose
    label hides where it leads.

    In a code block nothing acts, and everything stays as it is. What only may be one, as there are single backquotes
    before it, is taken for none.
    """
    parts: list[str] = []
    at, quiet = 0, True
    for block in _CODE_BLOCK.finditer(text):
        before = text[at : block.start()]
        quiet = quiet and before.count("`") % 2 == 0
        parts += [_DISCORD_LIVE.sub(_still, before), block[0] if quiet else _DISCORD_LIVE.sub(_still, block[0])]
        at = block.end()
    return "".join([*parts, _DISCORD_LIVE.sub(_still, text[at:])])


def _still(found: re.Match[str]) -> str:
    slashes, mark = found[1], found[2]
    if mark == "]":
        return f"{slashes}] "
    return found[0] if len(slashes) % 2 else f"{slashes}\\{mark}"


def slack_ts(at: int) -> str:
    """The timestamp that a message of Slack of this time (ms UTC) would have."""
    return f"{at // 1_000}.{at % 1_000:03d}000"


_DISCORD_EPOCH_MS = 1_420_070_400_000


def discord_snowflake(at: int) -> str:
    """The least id that something of Discord's of this time (ms UTC) could have.

    https://docs.discord.com/developers/reference#snowflakes
    """
    return str(max(at - _DISCORD_EPOCH_MS, 0) << 22)


def slack_alone(space: str, account: str) -> str:
    """Where one person alone is spoken to on Slack. https://docs.slack.dev/reference/methods/chat.postMessage#channels"""
    return f"{space}/{account}"


def discord_alone(_: str, account: str) -> str:
    """Where one person alone is spoken to on Discord: in a conversation that has to be opened before, with nobody yet.

    https://docs.discord.com/developers/resources/user#create-dm
    """
    return f"@me/{account}/new-conversation"


@dataclass(frozen=True, slots=True)
class Style:
    """How text is prepared for one channel.

    limit    the most that one piece may measure, after escaping; leave room for what the adapter adds
    measure  the platform's idea of length: never less than one per character, and adding up
    escape   see above
    whole    matches what escaping made and what must not be cut apart, such as `&amp;`
    alone    where the person of an account is spoken to alone, in a space: the address without its channel; or nowhere
    moment   the id that a message of a time (ms UTC) would have: what was said after it is read from there
    """

    name: str
    limit: int
    measure: Callable[[str], int] = code_points
    escape: Callable[[str], str] = as_is
    whole: re.Pattern[str] | None = None
    alone: Callable[[str, str], str] | None = None
    moment: Callable[[int], str] = str

    def __post_init__(self) -> None:
        if self.limit < 40:
            raise ValueError(f"A piece of {self.limit} leaves no room for a code fence: allow 40 at least.")


STYLES: dict[str, Style] = {
    style.name: style
    for style in (
        # A terminal has no limit and no markup: being inert is enough. Bounded so that one piece is a few
        # screenfuls, not a whole file.
        Style("console", limit=10_000),
        # Templates escape HTML, once, where they put the text into the page.
        Style("web", limit=40_000),
        # One markdown block may hold 12,000 characters; what marks a possible duplicate comes on top.
        Style(
            "slack",
            limit=_SLACK_LIMIT,
            measure=utf16_units,
            escape=slack_markdown,
            whole=re.compile("&(?:lt|amp);"),
            alone=slack_alone,
            moment=slack_ts,
        ),
        # A message may hold 2,000 characters; what marks a possible duplicate comes on top.
        Style(
            "discord",
            limit=1_970,
            measure=utf16_units,
            escape=discord_markdown,
            whole=re.compile(r"\\.|\] "),
            alone=discord_alone,
            moment=discord_snowflake,
        ),
        # As tight as the tightest platform, so that what works on the fake fits everywhere.
        Style("memory", limit=2_000, measure=utf16_units),
    )
}


def style_for(channel: str) -> Style:
    """The style of the channel of that name. Raises `UnknownChannel`."""
    try:
        return STYLES[channel]
    except KeyError:
        known = ", ".join(sorted(STYLES))
        raise UnknownChannel(f'No channel is called "{channel}". Use one of: {known}.') from None
