"""Tokens: which kind may call what, and with which scopes."""

from dataclasses import dataclass

from tests.wire.slack.payload import Refused
from tests.wire.slack.rooms import Kind

EVERY_SCOPE = frozenset({
    "app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "files:read",
    "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read",
    "reactions:read", "users:read",
})  # fmt: skip

OF_KIND = {Kind.PUBLIC: "channels", Kind.PRIVATE: "groups", Kind.DIRECT: "im", Kind.GROUP_DIRECT: "mpim"}
"""https://docs.slack.dev/apis/web-api/using-the-conversations-api: one family of scopes for each kind of room."""


@dataclass
class Token:
    """One token. `gone` is the error that it gives once it is no longer good."""

    text: str
    scopes: frozenset[str] = EVERY_SCOPE
    gone: str = ""

    @property
    def for_the_app(self) -> bool:
        """An app-level token, which opens sockets and nothing else.

        https://docs.slack.dev/authentication/tokens#app-level
        """
        return self.text.startswith("xapp-")

    def need(self, scope: str) -> None:
        """Refuse without this scope, saying which was needed and which there are.

        https://docs.slack.dev/authentication/installing-with-oauth (missing_scope, `needed`, `provided`)
        """
        if scope not in self.scopes:
            raise Refused("missing_scope", needed=scope, provided=",".join(sorted(self.scopes)))


@dataclass
class Tokens:
    """The tokens of one installation of the app."""

    bot: Token
    app: Token

    def of(self, text: str | None, *, for_the_app: bool) -> Token:
        """The token that came with a call. Errors: https://docs.slack.dev/reference/methods/auth.test#errors"""
        if not text:
            raise Refused("not_authed")
        found = next((token for token in (self.bot, self.app) if token.text == text), None)
        if found is None:
            raise Refused("invalid_auth")
        if found.gone:
            raise Refused(found.gone)
        # https://docs.slack.dev/reference/methods/apps.connections.open: "App-level token: connections:write".
        if found.for_the_app is not for_the_app:
            raise Refused("not_allowed_token_type")
        return found
