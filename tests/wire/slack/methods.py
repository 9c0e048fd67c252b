"""How a method of the Web API is written down: what it needs, takes and does."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.tokens import Token
from tests.wire.slack.workspace import Workspace

Does = Callable[[Workspace, Json, Token], Json]


@dataclass(frozen=True)
class Method:
    """One method. `reads`: documented as GET with a query or a form; all others are POST with a form or JSON."""

    does: Does
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    scope: str = ""
    reads: bool = False
    for_the_app: bool = False

    def call(self, workspace: Workspace, args: Json, token: Token) -> Json:
        """Check what came, then do it.

        `invalid_arguments` for a missing one: https://docs.slack.dev/apis/web-api/#errors. An argument that the
        method's page does not name is refused too. Slack ignores most of those; here it is a spelling mistake.
        """
        if self.scope:
            token.need(self.scope)
        for name in self.required:
            if args.get(name) in (None, ""):
                missing = "channel_not_found" if name == "channel" else "invalid_arguments"
                raise Refused(missing, f"missing required field: {name}")
        # https://docs.slack.dev/authentication/installing-with-oauth: `team_id` may come with any call of an
        # installation; Bolt's client puts it into the query of all of them.
        if unknown := args.keys() - {*self.required, *self.optional, "team_id"}:
            raise Refused("invalid_arguments", f"unknown arguments: {sorted(unknown)}")
        return {"ok": True, **self.does(workspace, args, token)}


def decoded(value: object, refusal: str) -> object:
    """A structured argument: JSON itself, or JSON as text, as in a form."""
    if not isinstance(value, str):
        return value
    try:
        return cast("object", json.loads(value))
    except ValueError as wrong:
        raise Refused(refusal) from wrong
