"""The body of a message, wherever it comes in: created, edited, or in answer to an interaction.

https://docs.discord.com/developers/resources/message#create-message
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from tests.wire.discord.components import check_components
from tests.wire.discord.embeds import check_embeds
from tests.wire.discord.mentions import check_allowed
from tests.wire.discord.messages import Flag
from tests.wire.discord.payload import ApiError, Json, invalid
from tests.wire.discord.refusals import empty_message
from tests.wire.discord.shapes import Check, anything, boolean, listing, nullable, number, shape, snowflake, string

MOST_CONTENT = 2000
MOST_NONCE = 25
MOST_FILES = 10
# https://docs.discord.com/developers/reference#uploading-files: "The default limit is 20 MiB for all users".
MOST_BYTES = 20 * 1024 * 1024

Files = Mapping[int, tuple[str, bytes, str]]


def _nonce(value: object, where: str) -> None:
    """ "integer or string … (up to 25 characters)"."""
    if not isinstance(value, int) or isinstance(value, bool):
        string(MOST_NONCE)(value, where)


# An edit may name a file that is kept by the whole object that was read of it, as the real client does.
_attachment = shape({"id": snowflake}, {
    **dict.fromkeys(("url", "proxy_url", "size", "height", "width", "content_type", "spoiler"), anything),
    "filename": nullable(string(1024)), "description": nullable(string(1024)), "title": nullable(string(1024)),
    "is_spoiler": boolean,
})  # fmt: skip
# Discord.py sends `tts` with an edit too, which the page of that does not name.
_edited: dict[str, Check] = {
    "content": nullable(string(MOST_CONTENT)), "embeds": nullable(anything), "flags": nullable(number(0, 1 << 31)),
    "allowed_mentions": nullable(anything), "components": nullable(anything), "tts": boolean,
    "attachments": nullable(listing(_attachment, MOST_FILES)),
}  # fmt: skip
_created: dict[str, Check] = {
    **_edited, "nonce": nullable(_nonce), "enforce_nonce": boolean, "sticker_ids": nullable(listing(snowflake, 0)),
    "message_reference": shape(
        {"message_id": snowflake},
        {"type": number(0, 0), "channel_id": snowflake, "guild_id": snowflake, "fail_if_not_exists": boolean},
    ),
}  # fmt: skip
EDIT, CREATE = shape({}, _edited), shape({}, _created)

_SETTABLE = Flag.SUPPRESS_EMBEDS | Flag.SUPPRESS_NOTIFICATIONS | Flag.IS_COMPONENTS_V2


@dataclass
class Body:
    """What came, checked. None: not said."""

    content: str | None
    embeds: list[Json] | None
    components: list[Json] | None
    allowed: Json | None
    flags: Flag
    kept: list[Json] | None
    raw: Json


def check_body(raw: Json, files: Files, fields: Check, *, flags: Flag = _SETTABLE, before: Flag = Flag(0)) -> Body:  # noqa: B008
    """The parts of a body. `flags`: which may be set here; `before`: those the message has.

    #create-message, note 2: with IS_COMPONENTS_V2 "the message can only contain components".
    """
    fields(raw, "")
    asked = Flag(int(raw.get("flags") or 0))
    # The page names the flags that "can be set"; setting another is a mistake here.
    if asked & ~flags & ~before:
        raise invalid("flags", "BITFIELD_TYPE_VALUE", f"These flags cannot be set: {asked & ~flags!r}")
    newer = Flag.IS_COMPONENTS_V2 in (asked | before)
    allowed = raw.get("allowed_mentions")
    body = Body(
        cast("str | None", raw.get("content")),
        None if raw.get("embeds") is None else check_embeds(raw["embeds"]),
        None if raw.get("components") is None else check_components(raw["components"], newer=newer),
        None if allowed is None else check_allowed(allowed),
        asked | before & ~Flag.SUPPRESS_EMBEDS if "flags" in raw else before,
        cast("list[Json] | None", raw.get("attachments")),
        raw,
    )
    if newer and (body.content or body.embeds):
        raise invalid("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "Only components are allowed")
    _check_files(body, files)
    return body


def _check_files(body: Body, files: Files) -> None:
    """…/reference#uploading-files: `files[n]`, and "the suffixed index n is the snowflake placeholder"."""
    for _, content, _ in files.values():
        if len(content) > MOST_BYTES:
            raise ApiError(413, 40005, "Request entity too large")
    for index, item in enumerate(body.kept or []):
        # A small number stands for a file of this request; an id for one that is there already.
        if int(item["id"]) < MOST_FILES and int(item["id"]) not in files:
            raise invalid(f"attachments.{index}.id", "MESSAGE_ATTACHMENT_NOT_FOUND", "There is no such file")


def need_something(content: str | None, embeds: list[Json], components: list[Json], files: int) -> None:
    """50006. "At least one of content, embeds, sticker_ids, components, files[n] … is required"; blanks are nothing."""
    told = any(embed.keys() - {"type", "flags", "color"} and any(embed.values()) for embed in embeds)
    if not (content or "").strip() and not told and not components and not files:
        raise empty_message()
