"""Google's Gemini models, whole and streamed, as far as our client uses them; what is refused is in rules.py."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from aiohttp import web

from tests.wire.google import rules
from tests.wire.scripted import Answer, Body, Event, Fault, ModelServer, pieces

# ai.google.dev/api/generate-content, FinishReason; a call ends with STOP as words do
_ENDS = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}
# ai.google.dev/gemini-api/docs/troubleshooting, and google.rpc.Code for what is not on that page
_STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip
NO_KEY = "API_KEY_INVALID"
DAILY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
"""A quota that waiting does not help with; the same message comes where one of a minute is used up."""


class GoogleServer(ModelServer):
    """An account at Google, with a key of its AI Studio."""

    path = "/v1beta/models/{call}"
    name = "google:gemini-3-flash"
    reported = "gemini-3-flash-001"
    used_up = Fault(429, DAILY)
    usage = "usageMetadata"
    wrong_key = 400

    def __init__(self) -> None:
        super().__init__()
        self.signed: list[str] = []

    @property
    def base_url(self) -> str:
        """Where clients are pointed."""
        return self.address

    def streams(self, request: web.Request, body: Body) -> bool:
        """Two methods, and the second gives server-sent events where `alt` asks for them."""
        method = request.match_info["call"].partition(":")[2]
        assert method in ("generateContent", "streamGenerateContent")
        assert (request.query.get("alt") == "sse") is (method == "streamGenerateContent")
        return method == "streamGenerateContent"

    def shut(self, headers: Mapping[str, str]) -> Fault | None:
        """A wrong key is a bad request here, with a reason of its own."""
        return None if headers.get("x-goog-api-key") == self.key else Fault(self.wrong_key, NO_KEY)

    def check(self, body: Body) -> None:
        """What Google refuses."""
        rules.check(body, self.signed)

    def answer(self, answer: Answer, number: int) -> Body:
        """One candidate (ai.google.dev/api/generate-content, GenerateContentResponse).

        A refusal beside an answer is a prompt that was blocked: no candidate at all. Each first call is signed, and a
        call has an id where the test gives it one; older models give none.
        """
        about: Body = {"modelVersion": self.reported, "responseId": self.response_id(number), "usageMetadata": _USED}
        if answer.refusal is not None:
            return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **about}
        parts: list[Body] = []
        if answer.thought is not None:
            parts.append({"text": answer.thought[0], "thought": True})
        if answer.content:
            parts.append({"text": answer.content})
        for place, (name, arguments) in enumerate(answer.calls):
            told: Body = {"id": answer.ids[place]} if answer.ids else {}
            call: Body = {"functionCall": {**told, "name": name, "args": _arguments(arguments)}}
            parts.append(call if place else {**call, "thoughtSignature": self._sign(answer, number)})
        candidate: Body = {"finishReason": _ENDS.get(answer.finish, answer.finish), "index": 0}
        if parts:  # a model that has nothing to say, or may not, gives a candidate without content
            candidate = {"content": {"role": "model", "parts": parts}, **candidate}
        return {"candidates": [candidate], **about}

    def _sign(self, answer: Answer, number: int) -> str:
        signature = base64.b64encode(f"{(answer.thought or ('', 'signed'))[1]} {number}".encode()).decode()
        self.signed.append(signature)
        return signature

    def events(self, answer: Body, body: Body) -> Iterator[Event]:
        """Each event is a response with a part of the content; the last has the finish reason."""
        about = {key: value for key, value in answer.items() if key != "candidates"}
        for candidate in cast("Sequence[Body]", answer.get("candidates") or []):
            content = cast("Body", candidate.get("content") or {})
            for part in cast("Sequence[Body]", content.get("parts") or []):
                for piece in _pieces(part):
                    yield None, {**about, "candidates": [{"content": {"role": "model", "parts": [piece]}, "index": 0}]}
            ended = {"content": {"role": "model", "parts": [{"text": ""}]}, **_without_content(candidate)}
            yield None, {**about, "candidates": [ended]}
        if "candidates" not in answer:
            yield None, about

    def speaks(self, event: Event) -> bool:
        """An event with some of the words."""
        candidates = cast("Sequence[Mapping[str, Body]]", cast("Body", event[1]).get("candidates") or [])
        parts = [part for one in candidates for part in cast("Sequence[Body]", one["content"]["parts"])]
        return any(part.get("text") and not part.get("thought") for part in parts)

    def failure(self, fault: Fault) -> Event:
        """An error as data in the stream, which its client raises."""
        return None, self.error(503, "The model is overloaded. Please try again later.", None)

    def error(self, status: int, message: str, code: str | None) -> Body:
        """An error (google.rpc.Status); a quota, a wrong key and how long to wait (`7s`) are said in its details."""
        details: list[Body] = []
        if code == NO_KEY:
            details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": NO_KEY}]
            message = f"API key not valid. Please pass a valid API key. {message}"
        if code == DAILY:
            violation = {"quotaMetric": "generate_content_free_tier_requests", "quotaId": DAILY}
            details = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}]
        if code is not None and code.endswith("s") and code[:-1].isdigit():
            details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": code}]
        told = {"code": status, "message": message, "status": _STATUS.get(status, "UNKNOWN")}
        return {"error": {**told, "details": details} if details else told}

    def response_id(self, number: int) -> str:
        """How it calls an answer."""
        return f"response-{number}"

    def history(self, request: int = -1) -> Sequence[Body]:
        """The contents of a request."""
        return cast("Sequence[Body]", self.sent[request]["contents"])

    def offered(self) -> list[str]:
        """The tools in the last request, by their names."""
        tools = cast("Sequence[Mapping[str, Sequence[Body]]]", self.sent[-1]["tools"])
        return [str(one["name"]) for tool in tools for one in tool["functionDeclarations"]]

    def said(self) -> list[str]:
        """The words of people and of the engine in the last request."""
        return [str(part["text"]) for part in self._parts("user") if "text" in part]

    def results(self) -> list[tuple[str, str]]:
        """The results in the last request, each with the id of its call."""
        told = [cast("Body", part["functionResponse"]) for part in self._parts("user") if "functionResponse" in part]
        return [(str(one.get("id")), _words(cast("Body", one["response"]))) for one in told]

    def _parts(self, role: str) -> Iterator[Body]:
        for content in self.history():
            if content["role"] == role:
                yield from cast("Sequence[Body]", content["parts"])


_USED: Body = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}


def _arguments(written: str) -> object:
    """Google's models give arguments as an object; what is none was never a call."""
    try:
        return json.loads(written)
    except ValueError:
        return {}


def _without_content(candidate: Body) -> Body:
    return {key: value for key, value in candidate.items() if key != "content"}


def _pieces(part: Body) -> Iterator[Body]:
    """Words come a few at a time; a thought, or a call, whole."""
    if "text" not in part or part.get("thought"):
        yield part
        return
    for piece in pieces(str(part["text"])):
        yield {"text": piece}


def _words(response: Body) -> str:
    """Of a result: what stands under the key that its client puts it under."""
    (said,) = response.values()
    return str(said)
