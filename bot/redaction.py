"""Keeping secrets out of text: whatever is known to be one, or has the form of a one-time code, is shown as `***`."""

import json
import re
from urllib.parse import quote, quote_plus

from bot.words import link_code

MASK = "***"

_LOGIN = re.compile(r"(?<=://)[^/\s@]+@")


def without_logins(text: str) -> str:
    """`text` with the login in every address masked."""
    return _LOGIN.sub(f"{MASK}@", text)


class Redaction:
    """The secrets that are known so far. More may become known at any time."""

    def __init__(self, *secrets: str) -> None:
        self._known: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self.hide(*secrets)

    def hide(self, *secrets: str) -> None:
        """From now on these are masked too, also in the forms in which a URL, JSON or Python's `repr` holds them."""
        for secret in filter(None, secrets):
            self._known |= {
                secret, quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1],
                json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1],
            }  # fmt: skip
        # The longest first: of a secret that begins like another one nothing is left over.
        longest_first = sorted(self._known, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def clean(self, text: str) -> str:
        """`text` without them."""
        known_out = text if self._pattern is None else self._pattern.sub(MASK, text)
        return link_code.left_out(known_out, MASK)
