"""What a server answered to a call, as a result: its text; of what is no text, what it is."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.tools.declare import ToolFailed
from bot.words.sizes import size_text

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

LONGEST = 8_000_000
"""Characters of a result that are kept."""
LONGEST_ERROR = 2_000


def result_of(answered: "CallToolResult") -> object:
    """The text; the structured content where the text is that, or nothing. Raises `ToolFailed` where it failed."""
    text = _text(answered.content)
    if answered.is_error:
        raise ToolFailed(text[:LONGEST_ERROR] or "the tool says that it failed, and not why")
    if answered.structured_content is not None and len(text) <= LONGEST and (not text or _same(text, answered)):
        return answered.structured_content
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[… {len(text) - LONGEST} characters were not kept …]"


def _same(text: str, answered: "CallToolResult") -> bool:
    try:
        return json.loads(text) == answered.structured_content
    except (ValueError, RecursionError):
        return False


def _text(content: "Sequence[ContentBlock]") -> str:
    return "\n".join(_said(block) for block in content)


def _said(block: "ContentBlock") -> str:
    from mcp_types import (
        AudioContent,
        EmbeddedResource,
        ImageContent,
        ResourceLink,
        TextContent,
        TextResourceContents,
    )

    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return _described(block.type, block.mime_type, block.data)
        case EmbeddedResource(resource=resource):
            if isinstance(resource, TextResourceContents):
                return resource.text
            return _described("file", resource.mime_type or "of no known type", resource.blob)
        case ResourceLink():
            return f"({block.name}: {block.uri})"


def _described(kind: str, mime_type: str, base64: str) -> str:
    """What cannot be shown as text: that it is there, and how large."""
    return f"({kind}, {mime_type}, {size_text(len(base64) * 3 // 4)})"
