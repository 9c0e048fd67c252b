"""What is inside of a rich_text block.

https://docs.slack.dev/reference/block-kit/blocks/rich-text-block. Its page gives no lengths but for a block_id; what
is empty is refused all the same ("missing element", "must be more than 0 characters"):
https://github.com/NousResearch/hermes-agent/pull/59621, https://github.com/slack-go/slack/pull/1412.
"""

from tests.wire.slack.shapes import Check, anything, boolean, by_type, listing, number, one_of, shape, string

# No length is documented; a whole message may take no more than this, see `blocks.MOST_OVER_ALL`.
LONGEST = 13_000

# …#text-element-type, `style`: bold, italic, strike, code; and for mentions highlight, client_highlight, unlink.
STYLE = shape({}, dict.fromkeys(("bold", "italic", "strike", "code", "underline"), boolean))
MENTION = shape(
    {}, dict.fromkeys(("bold", "italic", "strike", "code", "highlight", "client_highlight", "unlink"), boolean)
)

WRITTEN: dict[str, Check] = {
    "text": shape({"text": string(LONGEST)}, {"style": STYLE}),
    # …#link-element-type: `text` and `unsafe` are optional.
    "link": shape({"url": string(3000)}, {"text": string(LONGEST), "unsafe": boolean, "style": STYLE}),
}
ELEMENT = by_type({
    **WRITTEN,
    "broadcast": shape({"range": one_of("here", "channel", "everyone")}, {"style": MENTION}),
    "channel": shape({"channel_id": string(255)}, {"style": MENTION}),
    "user": shape({"user_id": string(255)}, {"style": MENTION}),
    "usergroup": shape({"usergroup_id": string(255)}, {"style": MENTION}),
    "team": shape({"team_id": string(255)}, {"style": MENTION}),
    "color": shape({"value": string(7)}, {"style": STYLE}),
    "emoji": shape({"name": string(255)}, {"unicode": string(255), "url": string(3000), "style": STYLE}),
    # …#date-element-type: a time in seconds, a format with tokens in braces, and what is shown where that fails.
    "date": shape(
        {"timestamp": number(0, 10**11), "format": string(LONGEST)},
        {"url": string(3000), "fallback": string(LONGEST), "style": STYLE},
    ),
})  # fmt: skip
SECTION = shape({"elements": listing(ELEMENT, LONGEST)})
BORDER = {"border": number(0, 1)}

# "four available rich text object sub-elements"; preformatted text takes only texts and links.
PART = by_type({
    "rich_text_section": SECTION,
    "rich_text_list": shape(
        {"style": one_of("bullet", "ordered"), "elements": listing(by_type({"rich_text_section": SECTION}), LONGEST)},
        {"indent": number(0, 8), "offset": number(0, 10**6), **BORDER},
    ),
    "rich_text_preformatted": shape(
        {"elements": listing(by_type(WRITTEN), LONGEST)}, {**BORDER, "language": anything}
    ),
    "rich_text_quote": shape({"elements": listing(ELEMENT, LONGEST)}, BORDER),
})  # fmt: skip
