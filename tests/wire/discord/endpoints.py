"""How an endpoint of the HTTP API is written down."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.wire.discord.world import Call, World

# A status and a body; None: no body.
Answer = tuple[int, Any]
Does = Callable[[World, Call], Answer]


@dataclass(frozen=True)
class Endpoint:
    """One endpoint. `open`: its address is the secret, and no token is needed (interactions).

    `query`: the parameters its page names; another is refused, though Discord would ignore it.
    """

    name: str
    verb: str
    path: str
    does: Does
    query: tuple[str, ...] = ()
    open: bool = False
    files: bool = False
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path)
        object.__setattr__(self, "pattern", re.compile(pattern))

    def resource(self, params: dict[str, str]) -> str:
        """What its limit is counted by. topics/rate-limits: channels, guilds, and webhooks with their token."""
        return "+".join(params[name] for name in ("channel", "guild", "token") if name in params)
