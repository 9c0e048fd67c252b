"""One JSON spelling for everything that is hashed or stored, and the digests taken from it."""

import hashlib
import json
from typing import cast


def encode(value: object) -> str:
    """JSON with sorted keys and no spaces; falls back to ASCII escapes where text is not valid Unicode.

    Lone surrogates cannot be written as UTF-8, and Python's `json` accepts them from the outside (R23).
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text


def decode(text: str) -> dict[str, object]:
    """The object that `encode` wrote."""
    return cast("dict[str, object]", json.loads(text))


def digest(*parts: str) -> str:
    """SHA-256 in hex over the parts, each preceded by its length so that no two lists of parts collide."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(data), data) for data in encoded)).hexdigest()


def call_digest(step_id: int, tool: str, tool_version: str, args: str) -> str:
    """The digest of one call as an approver is shown it: this step, this tool as defined now, these arguments (R9)."""
    return digest("call", str(step_id), tool, tool_version, args)
