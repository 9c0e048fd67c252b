"""What OpenAI refuses about a chat completion, with the words it uses where they are known.

Each check names its source: `[create]` is the reference of "Create chat completion"
(platform.openai.com/docs/api-reference/chat/create), `[tools]` the guide "Function calling"
(platform.openai.com/docs/guides/function-calling), `[errors]` the guide "Error codes"
(platform.openai.com/docs/guides/error-codes).
"""

import re
from collections.abc import Sequence
from typing import cast

from tests.wire.scripted import Body, Refusal

# [create] the parameters of the request that our client has a use for; any other is refused, so that a new one is seen
_KNOWN = frozenset(
    {"model", "messages", "tools", "tool_choice", "stream", "stream_options", "n", "parallel_tool_calls"}
)
# [create] messages: the keys of a message by its role
_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "tool_calls", "audio"},
    "tool": {"role", "content", "tool_call_id"},
}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check(body: Body) -> None:
    """Raises `Refusal` for the first thing that OpenAI would refuse."""
    for key in body:
        if key not in _KNOWN:
            raise Refusal(f"Unrecognized request argument supplied: {key}")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refusal("you must provide a model parameter")
    if "stream_options" in body and not body.get("stream"):  # [create] "Only set this when you set stream: true"
        raise Refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:  # [create] messages: required, at least one
        raise Refusal("[] is too short - 'messages'")
    _tools(cast("Sequence[Body]", body.get("tools") or []))
    _messages(cast("Sequence[Body]", messages))


def _tools(tools: Sequence[Body]) -> None:
    if len(tools) > 128:  # [create] tools: "A max of 128 functions are supported."
        raise Refusal(f"Invalid 'tools': array too long. Expected an array with maximum length 128, got {len(tools)}.")
    for tool in tools:
        _name(cast("Body", tool["function"]).get("name"), "tools")


def _messages(messages: Sequence[Body]) -> None:
    waiting: list[str] = []
    for position, message in enumerate(messages):
        role = str(message.get("role"))
        if role not in _KEYS:
            raise Refusal(f"Invalid value: '{role}'. (messages[{position}].role)")
        for key in message:
            if key not in _KEYS[role]:
                raise Refusal(f"Unrecognized key: messages[{position}].{key}")
        if role == "tool":  # [tools] each result answers one call of the assistant message right before
            if message.get("tool_call_id") not in waiting:
                raise Refusal("messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
            waiting.remove(str(message["tool_call_id"]))
        elif waiting:  # [tools] "You must include results for every call"
            raise Refusal(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            )
        calls = cast("Sequence[Body]", message.get("tool_calls") or [])
        # [create] content: "Required unless tool_calls or function_call is specified", for every other role always
        if message.get("content") is None and not calls:
            raise Refusal(f"Invalid value for 'content': expected a string, got null. (messages[{position}])")
        waiting += [_call(call, position, waiting) for call in calls]
    if waiting:
        raise Refusal(f"tool_call_ids did not have response messages: {', '.join(waiting)}")


def _call(call: Body, position: int, others: Sequence[str]) -> str:
    function, call_id = cast("Body", call.get("function") or {}), str(call.get("id") or "")
    _name(function.get("name"), f"messages[{position}].tool_calls")
    if not isinstance(function.get("arguments"), str):  # [create] arguments: a string, which may be no valid JSON
        raise Refusal(f"Invalid type for 'messages[{position}].tool_calls.function.arguments'")
    if not call_id or len(call_id) > 40:  # as the API answers: "string too long", with this maximum
        raise Refusal(f"Invalid 'messages[{position}].tool_calls.id': expected a string with maximum length 40.")
    if call_id in others:
        raise Refusal(f"Duplicate value for 'tool_call_id' of '{call_id}'")
    return call_id


def _name(name: object, where: str) -> None:
    # [create] name: "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refusal(f"Invalid '{where}.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.")
