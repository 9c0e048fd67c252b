"""Answers: JSON as we write it, and every error as one sentence under `error` (R15: "try again" is never "not found").

Nothing that a caller sent is repeated, and no traceback and no secret is in an answer.
"""

import json
from collections.abc import Mapping

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.alerts.alertmanager import BadAlert
from bot.errors import Refused
from casestore.errors import BadRequest, MoveRefused, NotFound, StoreUnavailable, StoreUnusable
from channels.text import one_line

RETRY_AFTER_S = 5
OPENAPI = "/api/v1/openapi.json"

_SENTENCES = {
    404: f"There is nothing at this address; the API is described at {OPENAPI}.",
    405: "This address does not know that method",
}
_STATUS: dict[type[Exception], int] = {
    BadAlert: 400,
    BadRequest: 400,
    Refused: 403,
    NotFound: 404,
    MoveRefused: 409,
    StoreUnusable: 503,
    StoreUnavailable: 503,
}
_SEND_JSON = "The body has to be a JSON object, sent with Content-Type: application/json."
_PLAINLY = {
    "missing": "is missing",
    "too_short": "is empty",
    "string_too_short": "is empty",
    "too_long": "is too long",
    "string_too_long": "is too long",
}


class Json(JSONResponse):
    """JSON in UTF-8; where text in it cannot be written so (a lone surrogate), in ASCII escapes."""

    def render(self, content: object) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            return text.encode() + b"\n"  # the prompt of whoever asked with curl comes after it
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode() + b"\n"


class Error(BaseModel):
    """What every refusal looks like."""

    error: str


def refusal(status: int, sentence: str, headers: Mapping[str, str] | None = None, **more: JsonValue) -> Json:
    """An error as it is answered; an unavailable service says when to come again."""
    given = {"Retry-After": str(RETRY_AFTER_S)} if status == 503 else {}
    return Json({"error": sentence, **more}, status, {**given, **(headers or {})})


def install(app: FastAPI) -> None:
    """Answer what the store, the bot and the framework raise on purpose; anything else is a bug, see `door`."""
    for kind in _STATUS:
        app.add_exception_handler(kind, _ours)
    app.add_exception_handler(HTTPException, _of_framework)
    app.add_exception_handler(RequestValidationError, _invalid)


def _ours(_: Request, error: Exception) -> Json:
    status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
    return refusal(status, str(error))


def _of_framework(_: Request, error: Exception) -> Json:
    if not isinstance(error, HTTPException):
        raise error
    sentence = error.detail
    if error.status_code == 404:
        sentence = _SENTENCES[404]
    elif error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another one")
        sentence = f"{_SENTENCES[405]}; use {allowed}."
    elif error.status_code == 400:
        sentence = _SEND_JSON
    return refusal(error.status_code, sentence, error.headers)


def _invalid(_: Request, error: Exception) -> Json:
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    kind, message = str(first["type"]), str(first["msg"])
    where = [str(part) for part in first["loc"]]
    name = one_line(".".join(where[1:]))[:100]
    if kind == "json_invalid":
        return refusal(400, f"The body is not JSON ({first['ctx']['error']} at character {where[-1]}).")
    if where == ["body"]:
        return refusal(422, _SEND_JSON)
    if kind == "extra_forbidden":
        return refusal(422, f"There is no field {name} here.")
    if kind in _PLAINLY:
        return refusal(422, f"{name} {_PLAINLY[kind]}.")
    for subject in ("Value error, ", "Input ", "String ", "Value "):
        message = message.removeprefix(subject)
    return refusal(422, f"{name} {message[0].lower()}{message[1:]}.")
