"""What Anthropic refuses about a message, with the words it uses where they are known.

Each check names its source: `[create]` is the reference "Create a Message" (platform.claude.com/docs/en/api/messages),
`[tools]` the guide "How to implement tool use", its parts "Handling tool results" and "Troubleshooting"
(platform.claude.com/docs/en/agents-and-tools/tool-use), `[thinking]` the guide "Extended thinking"
(platform.claude.com/docs/en/build-with-claude/extended-thinking).
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from tests.wire.scripted import Body, Refusal

# [create] the parameters of the request that our client has a use for; any other is refused, so that a new one is seen
_KNOWN = frozenset({"model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream"})
_ID = re.compile(r"[a-zA-Z0-9_-]+")  # [create] tool_use.id: pattern ^[a-zA-Z0-9_-]+$
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")  # [create] tools.name: pattern ^[a-zA-Z0-9_-]{1,128}$


def check(body: Body, signed: Mapping[str, str]) -> None:
    """Raises `Refusal` for the first thing that Anthropic would refuse; `signed` has the signature of each thought."""
    for key in body:
        if key not in _KNOWN:
            raise Refusal(f"{key}: Extra inputs are not permitted")
    if not isinstance(body.get("max_tokens"), int):  # [create] max_tokens: required
        raise Refusal("max_tokens: Field required")
    for tool in cast("Sequence[Body]", body.get("tools") or []):
        if not _NAME.fullmatch(str(tool.get("name"))):
            raise Refusal("tools.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    messages = cast("Sequence[Body]", body.get("messages") or [])
    if not messages:  # [create] messages: at least one
        raise Refusal("messages: at least one message is required")
    if messages[0].get("role") != "user":  # [create] messages: the first is of the user
        raise Refusal('messages: first message must use the "user" role')
    waiting: list[str] = []
    used: set[str] = set()
    for position, message in enumerate(messages):
        waiting = _message(message, f"messages.{position}", waiting, used, signed)
    if waiting:
        raise Refusal(f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(waiting)}")


def blocks(message: Body) -> Sequence[Body]:
    """What a message is made of; a text alone is one block ([create], content)."""
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else cast("Sequence[Body]", content or [])


def _message(
    message: Body, where: str, waiting: Sequence[str], used: set[str], signed: Mapping[str, str]
) -> list[str]:  # fmt: skip
    if message.get("role") not in ("user", "assistant"):  # [create] role
        raise Refusal(f"{where}.role: Input should be 'user' or 'assistant'")
    content = blocks(message)
    if not content:  # [create] "all messages must have non-empty content", but for a last one of the assistant
        raise Refusal("messages: all messages must have non-empty content")
    owed, calls, words_before = list(waiting), list[str](), False
    for block in content:
        match block.get("type"):
            case "text":
                if not str(block.get("text") or "").strip():
                    raise Refusal("messages: text content blocks must contain non-whitespace text")
                words_before = True
            case "tool_result":  # [tools] "tool_result blocks must come first in the content array"
                if words_before or block.get("tool_use_id") not in owed:
                    raise Refusal(f"{where}: unexpected `tool_use_id` found in `tool_result` blocks")
                owed.remove(str(block["tool_use_id"]))
            case "tool_use":
                calls.append(_call(block, where, used))
            case "thinking":  # [thinking] blocks go back "complete and unmodified"
                if signed.get(str(block.get("thinking"))) != block.get("signature"):
                    raise Refusal(f"{where}: Invalid `signature` in `thinking` block")
            case other:
                raise Refusal(f"{where}: Input tag '{other}' is not known")
    if owed:  # [tools] "tool_use ids were found without tool_result blocks immediately after"
        raise Refusal(f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(owed)}")
    return calls


def _call(block: Body, where: str, used: set[str]) -> str:
    call_id = str(block.get("id") or "")
    if not _ID.fullmatch(call_id):
        raise Refusal(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if call_id in used:  # [create] "`tool_use` ids must be unique"
        raise Refusal("messages: `tool_use` ids must be unique")
    used.add(call_id)
    if not _NAME.fullmatch(str(block.get("name"))):
        raise Refusal(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(block.get("input"), dict):  # [create] input: an object
        raise Refusal(f"{where}.tool_use.input: Input should be a valid dictionary")
    return call_id
