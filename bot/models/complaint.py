"""What a provider says of a request that it does not take, as far as an operator may read it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from bot.redaction import MASK, Redaction, without_logins
from channels.text import storable, visible

_AT_MOST = 300
_LOOKED_AT = 10_000
"""Characters of a body; what it has to say comes first."""
_DEEP = 4
_PART = 8
"""Characters in a row of a secret that give it away; providers repeat keys with their middle left out."""
_HOLDS_WORDS = ("error", "message", "detail", "msg", "error_description")
_KEY_LIKE = re.compile(r"\b(?:(?:sk|pk|rk|gsk|xai)[-_]|AIza)[\w*.-]{6,}|(?<=bearer )\S{8,}", re.IGNORECASE)


def said(body: object, secrets: Iterable[str]) -> str | None:
    """The words in the body of an error, on one line of at most 300 characters; None where it has none for people.

    `secrets` are masked, whole or in part; so is whatever has the form of a key, and the login in an address.
    """
    words = _words(body, _DEEP)
    if words is None:
        return None
    known = [secret for secret in secrets if secret]
    text = _without_parts(Redaction(*known).clean(words[:_LOOKED_AT]), known)
    line = visible(storable(" ".join(without_logins(_KEY_LIKE.sub(MASK, text)).split())))
    return (line if len(line) <= _AT_MOST else f"{line[:_AT_MOST].rstrip()}…") or None


def _words(body: object, deep: int) -> str | None:
    """OpenAI and Ollama say it in `error` or in its `message`, Anthropic and Google too; other servers in `detail`."""
    if isinstance(body, str):
        return None if body.lstrip().startswith("<") else body.strip() or None  # a page is not meant for a line
    if deep and isinstance(body, Mapping):
        fields = cast("Mapping[str, object]", body)
        return next(filter(None, (_words(fields.get(name), deep - 1) for name in _HOLDS_WORDS)), None)
    if deep and isinstance(body, Sequence) and body:
        return _words(cast("Sequence[object]", body)[0], deep - 1)
    return None


def _without_parts(text: str, secrets: Sequence[str]) -> str:
    """`text` without the words that hold a part of a secret."""
    parts = {secret[at : at + _PART] for secret in secrets for at in range(len(secret) - _PART + 1)}
    return re.sub(r"\S+", lambda word: MASK if any(part in word[0] for part in parts) else word[0], text)
