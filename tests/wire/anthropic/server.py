"""Anthropic's messages, whole and streamed, as far as our client uses them; what is refused is in rules.py."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from tests.wire.anthropic import rules
from tests.wire.scripted import Answer, Body, Event, Fault, ModelServer, pieces

# platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
_STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
# platform.claude.com/docs/en/api/errors
_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
    529: "overloaded_error",
}  # fmt: skip


class AnthropicServer(ModelServer):
    """An account at Anthropic."""

    path = "/v1/messages"
    name = "anthropic:claude-sonnet-4-5"
    reported = "claude-sonnet-4-5-20250929"
    used_up = Fault(402)  # errors: 402, billing_error

    def __init__(self) -> None:
        super().__init__()
        self._signed: dict[str, str] = {}

    @property
    def base_url(self) -> str:
        """Where clients are pointed."""
        return self.address

    def shut(self, headers: Mapping[str, str]) -> Fault | None:
        """Errors: 401, authentication_error. Versions: the header `anthropic-version` is required.

        Its client sends the key as a bearer token; `x-api-key`, as older ones do, is taken too.
        """
        if self.key not in (headers.get("x-api-key"), headers.get("Authorization", "").removeprefix("Bearer ")):
            return Fault(401)
        return None if headers.get("anthropic-version") else Fault(400)

    def check(self, body: Body) -> None:
        """What Anthropic refuses."""
        rules.check(body, self._signed)

    def answer(self, answer: Answer, number: int) -> Body:
        """A message ([create], its response)."""
        content: list[Body] = []
        if answer.thought is not None:
            thinking, signature = answer.thought
            self._signed[thinking] = signature
            content.append({"type": "thinking", "thinking": thinking, "signature": signature})
        if answer.content:
            content.append({"type": "text", "text": answer.content})
        for place, (name, arguments) in enumerate(answer.calls):
            call_id = answer.ids[place] if answer.ids else f"toolu_{number}_{place}"
            content.append({"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments)})
        return {
            "id": self.response_id(number), "type": "message", "role": "assistant", "model": self.reported,
            "content": content, "stop_reason": _STOPS[answer.finish], "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }  # fmt: skip

    def error(self, status: int, message: str, code: str | None) -> Body:
        """An error (platform.claude.com/docs/en/api/errors)."""
        kind = code or _TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    def response_id(self, number: int) -> str:
        """How it calls an answer."""
        return f"msg_{number}"

    def offered(self) -> list[str]:
        """The tools in the last request, by their names."""
        return [str(tool["name"]) for tool in cast("Sequence[Body]", self.sent[-1]["tools"])]

    def said(self) -> list[str]:
        """The words of people and of the engine in the last request."""
        return [str(block["text"]) for block in self._blocks("user") if block["type"] == "text"]

    def results(self) -> list[tuple[str, str]]:
        """The results in the last request, each with the id of its call."""
        told = [block for block in self._blocks("user") if block["type"] == "tool_result"]
        return [(str(block["tool_use_id"]), _words(block["content"])) for block in told]

    def events(self, answer: Body, body: Body) -> Iterator[Event]:
        """Each event has a name, which is its type (platform.claude.com/docs/en/build-with-claude/streaming)."""
        return ((str(event["type"]), event) for event in _events(answer))

    def speaks(self, event: Event) -> bool:
        """Streaming: "Text delta"."""
        data = cast("Body", event[1])
        return cast("Body", data.get("delta") or {}).get("type") == "text_delta"

    def failure(self, fault: Fault) -> Event:
        """Streaming: "Error events"."""
        return "error", self.error(529, "Overloaded", fault.code)

    def _blocks(self, role: str) -> Iterator[Body]:
        for message in self.history():
            if message["role"] == role:
                yield from rules.blocks(message)


def _words(content: object) -> str:
    """Of a result: a text, or blocks of it."""
    return content if isinstance(content, str) else "".join(str(block["text"]) for block in cast("list[Body]", content))


def _events(answer: Body) -> Iterator[Body]:
    begun: Body = {**answer, "content": [], "stop_reason": None, "usage": {"input_tokens": 100, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(cast("list[Body]", answer["content"])):
        yield {"type": "content_block_start", "index": index, "content_block": _empty(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta", "delta": {"stop_reason": answer["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": 10},
    }  # fmt: skip
    yield {"type": "message_stop"}


def _empty(block: Body) -> Body:
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {**block, "input": {}}


def _deltas(block: Body) -> Iterator[Body]:
    match block["type"]:
        case "text":
            for piece in pieces(str(block["text"])):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _:
            written = json.dumps(block["input"])
            for piece in ("", written[: len(written) // 2], written[len(written) // 2 :]):
                yield {"type": "input_json_delta", "partial_json": piece}
