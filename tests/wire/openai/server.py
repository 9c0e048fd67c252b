"""OpenAI's chat completions, whole and streamed, as far as our client uses them; what is refused is in rules.py."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from tests.wire.openai import rules
from tests.wire.scripted import Answer, Body, Event, Fault, ModelServer, pieces


class OpenAIServer(ModelServer):
    """An account at OpenAI."""

    path = "/v1/chat/completions"
    name = "openai:gpt-test"
    reported = "gpt-test-2026-11"
    used_up = Fault(429, "insufficient_quota")  # error codes: 429, "You exceeded your current quota"

    @property
    def base_url(self) -> str:
        """Where clients are pointed."""
        return f"{self.address}/v1"

    def shut(self, headers: Mapping[str, str]) -> Fault | None:
        """Error codes: 401, "Incorrect API key provided"."""
        return None if headers.get("Authorization") == f"Bearer {self.key}" else Fault(401, "invalid_api_key")

    def check(self, body: Body) -> None:
        """What OpenAI refuses."""
        rules.check(body)

    def answer(self, answer: Answer, number: int) -> Body:
        """One choice of a completion (platform.openai.com/docs/api-reference/chat/object)."""
        made = [
            {
                "id": answer.ids[place] if answer.ids else f"call_{number}_{place}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for place, (name, arguments) in enumerate(answer.calls)
        ]
        message: dict[str, object] = {"role": "assistant", "content": answer.content, "refusal": answer.refusal}
        said = message | ({"tool_calls": made} if made else {})
        return {
            "id": self.response_id(number), "object": "chat.completion", "created": 1_790_000_000,
            "model": self.reported,
            "choices": [{"index": 0, "message": said, "finish_reason": answer.finish}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }  # fmt: skip

    def events(self, answer: Body, body: Body) -> Iterator[Event]:
        """Chunks, each with a delta of the message (platform.openai.com/docs/api-reference/chat-streaming).

        [create] stream_options.include_usage: one more chunk before the end has the usage and no choices, and all
        others have a usage of null; without it no chunk has any.
        """
        options = cast("Body", body.get("stream_options") or {})
        usage: Body = {"usage": None} if options.get("include_usage") else {}
        same = {"id": answer["id"], "object": "chat.completion.chunk", "created": answer["created"]}
        [choice] = cast("Sequence[Mapping[str, Body]]", answer["choices"])
        deltas: list[Body] = [{"role": "assistant", "content": "", "refusal": None}, *_deltas(choice["message"])]
        ends = [*(None for _ in deltas), choice["finish_reason"]]
        for delta, finish in zip([*deltas, {}], ends, strict=True):
            said = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            yield None, {**same, "model": self.reported, "choices": [said], **usage}
        if usage:
            yield None, {**same, "model": self.reported, "choices": [], "usage": answer["usage"]}
        yield None, "[DONE]"  # [create] stream: "terminated by a data: [DONE] message"

    def speaks(self, event: Event) -> bool:
        """A chunk with some of the content."""
        if isinstance(event[1], str):
            return False
        return any(
            choice["delta"].get("content") for choice in cast("Sequence[Mapping[str, Body]]", event[1]["choices"])
        )

    def failure(self, fault: Fault) -> Event:
        """An error as data in the stream, which its client raises (github.com/openai/openai-python, _streaming.py)."""
        told = "The server had an error while processing your request. Sorry about that!"
        return None, {"error": {"message": told, "type": "server_error", "param": None, "code": fault.code}}

    def error(self, status: int, message: str, code: str | None) -> Body:
        """An error (platform.openai.com/docs/guides/error-codes)."""
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}

    def response_id(self, number: int) -> str:
        """How it calls an answer."""
        return f"chatcmpl-{number}"

    def offered(self) -> list[str]:
        """The tools in the last request, by their names."""
        return [str(tool["function"]["name"]) for tool in cast("Sequence[Mapping[str, Body]]", self.sent[-1]["tools"])]

    def said(self) -> list[str]:
        """The words of people and of the engine in the last request."""
        return [str(message["content"]) for message in self.history() if message["role"] == "user"]

    def results(self) -> list[tuple[str, str]]:
        """The results in the last request, each with the id of its call."""
        told = [message for message in self.history() if message["role"] == "tool"]
        return [(str(message["tool_call_id"]), str(message["content"])) for message in told]


def _deltas(message: Body) -> Iterator[Body]:
    for piece in pieces(str(message["content"] or "")):
        yield {"content": piece}
    for piece in pieces(str(message["refusal"] or "")):
        yield {"refusal": piece}
    for index, call in enumerate(cast("Sequence[Mapping[str, object]]", message.get("tool_calls") or [])):
        function = cast("Mapping[str, str]", call["function"])
        begun = {"name": function["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": begun}]}
        written = function["arguments"]
        for piece in (written[: len(written) // 2], written[len(written) // 2 :]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
