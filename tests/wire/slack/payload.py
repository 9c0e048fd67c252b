"""What goes over the wire, and the one way in which Slack says no."""

from typing import Any

Json = dict[str, Any]


class Refused(Exception):
    """An answer `{"ok": false, "error": …}`, with status 200 as Slack gives it.

    https://docs.slack.dev/apis/web-api/#responses
    """

    def __init__(self, error: str, *messages: str, **more: object) -> None:
        super().__init__(error, *messages)
        self.error = error
        self.messages = messages
        self.more = more

    def answer(self) -> Json:
        """The body of the answer."""
        body: Json = {"ok": False, "error": self.error, **self.more}
        if self.messages:
            body["response_metadata"] = {"messages": [f"[ERROR] {message}" for message in self.messages]}
        return body


def length(text: str) -> int:
    """Characters as the client that shows them counts: UTF-16 units. The strictest reading of Slack's limits."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_true(value: object) -> bool:
    """A boolean argument: JSON's own, or a form's `1` and `true`."""
    return value is True or value in (1, "1", "true", "True")
