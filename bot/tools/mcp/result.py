"""What a server answered to a call, as a result: its text; of what is no text, what it is."""

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
    """The text, or where there is none the structured content. Raises `ToolFailed` where the tool says it failed."""
    text = _text(answered.content)
    if answered.is_error:
        raise ToolFailed(text[:LONGEST_ERROR] or "the tool says that it failed, and not why")
    if not text and answered.structured_content is not None:
        return answered.structured_content
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[… {len(text) - LONGEST} characters were not kept …]"


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
