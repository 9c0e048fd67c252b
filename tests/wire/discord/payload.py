"""What goes over the wire, and the one way in which Discord says no."""

from typing import Any, cast

Json = dict[str, Any]


class ApiError(Exception):
    """A refusal: an HTTP status, Discord's own code, and for a form what is wrong with which field.

    https://docs.discord.com/developers/topics/opcodes-and-status-codes#json and …/reference#error-messages
    """

    def __init__(self, status: int, code: int, message: str, errors: Json | None = None) -> None:
        super().__init__(status, code, message, errors)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors

    def answer(self) -> Json:
        """The body of the answer."""
        body: Json = {"message": self.message, "code": self.code}
        if self.errors is not None:
            body["errors"] = self.errors
        return body


def invalid(where: str, code: str, message: str) -> ApiError:
    """50035, with the place named as a path with dots: `embeds.0.title`.

    https://docs.discord.com/developers/reference#error-messages ("which JSON key contains the error")
    """
    errors: Json = {"_errors": [{"code": code, "message": message}]}
    for part in reversed([part for part in where.split(".") if part]):
        errors = {part: errors}
    return ApiError(400, 50035, "Invalid Form Body", errors)


def several(value: object) -> list[Json]:
    """What is a list of objects, or nothing at all."""
    return cast("list[Json]", value or [])


def words(value: object) -> list[str]:
    """What is a list of texts (ids, which may be numbers, among them), or nothing at all."""
    return [str(word) for word in cast("list[object]", value or [])]


def part(value: object) -> Json:
    """What is an object, or nothing at all."""
    return cast("Json", value or {})


def length(text: str) -> int:
    """Characters as the client that shows them counts: UTF-16 units. The strictest reading of Discord's limits."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
