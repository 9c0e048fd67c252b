"""What a run works with: everything about an installation; only the tools of servers change while it runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.clock import Clock
from bot.models import prompt
from bot.models.prompt import Prompt
from bot.policy import policy, profiles
from bot.settings import Settings
from bot.tools.declare import Tool
from casestore import bindings, principals
from casestore.models import Turn
from casestore.turns import Worker
from casestore.tx import Tx

__all__ = ["Desk", "Offer", "Prompt", "Toolbox"]

PLAYBOOK = "playbook"
"""The model that needs none; a response of one reports `playbook:NAME`."""


_Key = tuple[frozenset[str], tuple[tuple[str, str], ...]]
_KEPT = 32


@dataclass(frozen=True)
class Offer:
    """What the model is given in one case: the prompt and the tools, whose schemas are in it."""

    prompt: Prompt
    tools: Sequence[Tool]


@dataclass(frozen=True)
class Desk:
    """Settings, clock, tools, the prompt that every case begins with, and worker of one service."""

    settings: Settings
    clock: Clock
    toolbox: "Toolbox"
    prompt: Prompt
    worker: Worker
    _offers: "dict[_Key, Offer]" = field(
        default_factory=lambda: dict[_Key, Offer](), init=False, compare=False, repr=False
    )

    def offer(self, tx: Tx, turn: Turn) -> Offer:
        """What the model is given in a turn as its case is now: channel notes only where the case has a thread there.

        Of the tools those that the profiles of whom it acts for leave; beside a parked turn, those that only look.
        """
        noted, beside = self.settings.prompt.channels, turn.beside is not None
        threads = bindings.of_case(tx, turn.case_id) if noted else []
        whom = None if turn.acts_for is None else principals.get(tx, turn.acts_for)
        left = profiles.of(self.settings, whom)
        tools = [one for one in self.toolbox.tools.values() if policy.offered(one, self.settings, left, beside=beside)]
        return self.offered(tools, {thread.address.partition(":")[0] for thread in threads} & {*noted})

    def offered(self, tools: Sequence[Tool], channels: set[str]) -> Offer:
        """The same for given tools and channels; put together once."""
        key = frozenset(channels), tuple((tool.name, tool.version) for tool in tools)
        offer = self._offers.get(key)
        if offer is None:
            offer = Offer(prompt.whole(self.prompt, self.settings, tools, channels), tools)
            if len(self._offers) >= _KEPT:  # tools that changed are not offered again as they were
                self._offers.clear()
            self._offers[key] = offer
        return offer

    @property
    def writes(self) -> bool:
        """Whether the model can be asked for prose of its own; playbooks cannot."""
        return self.worker.model != PLAYBOOK

    def now(self) -> int:
        """The time, in ms UTC."""
        return self.clock.now()


class Toolbox:
    """The tools of an installation, with the operator's settings applied, by name and by wire name.

    Those of a server come, change and go while the service runs. They are replaced whole, and what a transaction reads
    on the store's thread meanwhile is one state or the other.
    """

    def __init__(self, tools: Mapping[str, Tool], settings: Settings) -> None:
        self._fixed, self._settings = dict(tools), settings
        self._of_servers: dict[str, Mapping[str, Tool]] = {}
        self._now = _Tools(self._fixed, settings)

    def put(self, server: str, tools: Mapping[str, Tool]) -> None:
        """What a server offers from now on, instead of what it offered before."""
        self._of_servers[server] = tools
        every = dict(self._fixed)
        for name in sorted(self._of_servers):
            every |= {tool: one for tool, one in self._of_servers[name].items() if tool not in every}
        self._now = _Tools(every, self._settings)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All of them, by name."""
        return self._now.tools

    @property
    def offered(self) -> Sequence[Tool]:
        """Those that the model hears of."""
        return self._now.offered

    def get(self, name: str) -> Tool | None:
        """A tool by its dotted name."""
        return self._now.tools.get(name)

    def not_yet_known(self, name: str) -> bool:
        """Whether there may be such a tool, on a server that has not been reached since the start."""
        server = name.partition(".")[0]
        return server in self._settings.mcp and server not in self._of_servers

    def by_wire(self, wire_name: str) -> Tool | None:
        """A tool by the name a provider uses."""
        return self._now.by_wire.get(wire_name)

    def schemas(self) -> str:
        """The schemas of the offered tools, as they are sent and as the prompt's version hashes them."""
        return prompt.schemas(self.offered)

    @property
    def longest_call_ms(self) -> int:
        """The longest any one tool may take."""
        return max((tool.timeout_ms for tool in self.tools.values()), default=0)


class _Tools:
    """Which tools there are at one moment."""

    def __init__(self, tools: Mapping[str, Tool], settings: Settings) -> None:
        self.tools = dict(sorted(tools.items()))
        self.by_wire = {tool.wire_name: tool for tool in self.tools.values()}
        self.offered = [tool for tool in self.tools.values() if policy.offered(tool, settings)]
