"""What a run works with: everything about an installation that does not change while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bot.clock import Clock
from bot.settings import Settings
from bot.tools.declare import Tool
from bot.turns import policy
from casestore import prompts
from casestore.canonical import encode
from casestore.models import Turn
from casestore.turns import Worker


@dataclass(frozen=True)
class Prompt:
    """The text and tool schemas the model is given; its version is the hash of both (R16)."""

    label: str
    text: str
    tools: str

    @cached_property
    def version(self) -> str:
        """16 characters of the hash."""
        return prompts.version(self.text, self.tools)


@dataclass(frozen=True)
class Desk:
    """Settings, clock, tools, prompt and worker of one service."""

    settings: Settings
    clock: Clock
    toolbox: "Toolbox"
    prompt: Prompt
    worker: Worker

    @cached_property
    def prompt_beside(self) -> Prompt:
        """What a turn beside a parked one is given: the same text, and the tools that only look."""
        return Prompt(self.prompt.label, self.prompt.text, self.toolbox.schemas(beside=True))

    def prompt_of(self, turn: Turn) -> Prompt:
        """What the runs of a turn are given."""
        return self.prompt if turn.beside is None else self.prompt_beside

    def now(self) -> int:
        """The time, in ms UTC."""
        return self.clock.now()


class Toolbox:
    """The tools of an installation, with the operator's settings applied, by name and by wire name."""

    def __init__(self, tools: Mapping[str, Tool], settings: Settings) -> None:
        self.tools = dict(sorted(tools.items()))
        self._by_wire = {tool.wire_name: tool for tool in self.tools.values()}
        self.offered = [tool for tool in self.tools.values() if policy.offered(tool, settings)]
        self.offered_beside = [tool for tool in self.offered if policy.only_looks(tool, settings)]

    def get(self, name: str) -> Tool | None:
        """A tool by its dotted name."""
        return self.tools.get(name)

    def by_wire(self, wire_name: str) -> Tool | None:
        """A tool by the name a provider uses."""
        return self._by_wire.get(wire_name)

    def offered_to(self, turn: Turn) -> list[Tool]:
        """What a turn may use: one beside a parked turn only looks."""
        return self.offered if turn.beside is None else self.offered_beside

    def schemas(self, *, beside: bool = False) -> str:
        """The schemas of the offered tools, as they are sent and as the prompt's version hashes them."""
        tools = self.offered_beside if beside else self.offered
        return encode([{"name": t.wire_name, "description": t.description, "parameters": t.schema} for t in tools])

    @property
    def longest_call_ms(self) -> int:
        """The longest any one tool may take."""
        return max((tool.timeout_ms for tool in self.tools.values()), default=0)
