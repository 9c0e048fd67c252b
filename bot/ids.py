"""The one place that randomness comes from, so that a test can fix it. All of it is fit for secrets."""

import secrets

from bot.words import link_code


def nonce() -> str:
    """16 random bytes as 32 hex digits: the salt of one trail entry's content (R18)."""
    return secrets.token_hex(16)


def boot_id() -> str:
    """A name for this start of the service, by which it knows the leases of its own earlier boots (R10)."""
    return f"boot-{secrets.token_hex(8)}"


def token() -> str:
    """A new secret that lets somebody in: 256 bits, in letters that need no quoting in a URL or a header."""
    return secrets.token_urlsafe(32)


def link_letters() -> str:
    """The letters of a one-time code: 80 bits, in `link_code`'s alphabet."""
    return "".join(secrets.choice(link_code.LETTERS) for _ in range(link_code.COUNT))
