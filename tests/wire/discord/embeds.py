"""Embeds. https://docs.discord.com/developers/resources/message#embed-object-embed-limits"""

from typing import cast

from tests.wire.discord.payload import Json, invalid, length, part, several
from tests.wire.discord.shapes import anything, boolean, listing, nullable, number, shape, string, trimmed

MOST = 10
MOST_CHARACTERS = 6000
MOST_FIELDS = 25

_url = nullable(string(2048))
_media = shape({"url": _url}, {"proxy_url": _url, "height": anything, "width": anything})
_embed = shape({}, {
    "type": anything, "title": nullable(trimmed(256)), "description": nullable(trimmed(4096)), "url": _url,
    "flags": number(0, 1 << 31), "timestamp": nullable(string(64)), "color": nullable(number(0, 0xFFFFFF)),
    "footer": nullable(shape({"text": trimmed(2048)}, {"icon_url": _url})),
    "author": nullable(shape({"name": trimmed(256)}, {"url": _url, "icon_url": _url})),
    "image": nullable(_media), "thumbnail": nullable(_media),
    "fields": listing(
        shape({"name": trimmed(256, 1), "value": trimmed(1024, 1)}, {"inline": boolean}), MOST_FIELDS
    ),
})  # fmt: skip


def check_embeds(value: object, where: str = "embeds") -> list[Json]:
    """Ten at most, each within its limits, and all together within 6,000 characters."""
    listing(_embed, MOST)(value, where)
    embeds = cast("list[Json]", value)
    # "the combined sum of characters in all title, description, field.name, field.value, footer.text, and author.name
    # fields across all embeds attached to a message must not exceed 6000".
    if sum(map(characters, embeds)) > MOST_CHARACTERS:
        raise invalid(where, "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {MOST_CHARACTERS}")
    return embeds


def characters(embed: Json) -> int:
    """What counts of one embed."""
    texts = [embed.get("title"), embed.get("description")]
    texts += [part(embed.get("footer")).get("text"), part(embed.get("author")).get("name")]
    for field in several(embed.get("fields")):
        texts += [field["name"], field["value"]]
    return sum(length(str(text).strip()) for text in texts if text)
