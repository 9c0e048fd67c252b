"""Tools whose effect is a line in a list that outlives every restart: what really happened, seen from outside."""

from dataclasses import replace
from functools import cache

from bot.tools.case import case_tools
from bot.tools.declare import Tool, ToolFailed, declare
from casestore.states import Tier
from tests.loop.scripted import Held


class Effects:
    """What the tools did to the world. `made` has one line a call that was really made."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.answers: dict[str, list[object]] = {}
        self._held: dict[str, tuple[Held, bool]] = {}

    def count(self, what: str) -> int:
        """How many calls were made whose line begins so."""
        return sum(1 for line in self.made if line.startswith(what))

    def answer(self, tool: str, *answers: object) -> None:
        """What the next calls of a tool return, or raise."""
        self.answers.setdefault(tool, []).extend(answers)

    def hold(self, tool: str, *, after: bool = True) -> Held:
        """The next call of a tool waits: after its effect, or before it."""
        held = Held()
        self._held[tool] = (held, after)
        return held

    async def make(self, tool: str, what: str) -> object:
        """One call."""
        held, after = self._held.pop(tool, (None, True))
        if held is not None and not after:
            await held.wait()
        self.made.append(f"{tool} {what}")
        if held is not None and after:
            await held.wait()
        answers = self.answers.get(tool)
        answer = answers.pop(0) if answers else f"{tool} {what}: done"
        if isinstance(answer, BaseException):
            raise answer
        return answer


async def look(at: str) -> object:
    """Look at something."""
    return at


async def note(text: str) -> object:
    """Leave a note."""
    return text


async def restart(service: str) -> object:
    """Restart a service."""
    return service


async def wipe(place: str, depth: int = 1) -> object:
    """Wipe a place."""
    return f"{place} {depth}"


async def refund(order: int, amount: int) -> object:
    """Pay money back."""
    return f"{order} {amount}"


async def diary(of: str) -> object:
    """Read somebody's diary."""
    return of


async def unlock(account: str) -> object:
    """Unlock an account."""
    return account


async def broken() -> object:
    """Fail at what it does."""
    raise ToolFailed("the disk is gone")


@cache
def declared() -> tuple[Tool, ...]:
    """One tool of each sort; what its function returns is what its line says."""
    return (
        declare(look, name="look", statement="Look at {at}", tier=Tier.READ_ONLY),
        declare(note, name="note", statement="Note {text}", tier=Tier.ROUTINE),
        declare(restart, name="svc.restart", statement="Restart {service}"),
        declare(wipe, name="wipe", statement="Wipe {place}, {depth} deep", may_change={"depth"}),
        declare(refund, name="refund", statement="Pay {amount} back for {order}", effect_key="refund:{order}",
                may_change={"amount", "order"}),
        declare(diary, name="diary", statement="Read the diary of {of}", tier=Tier.READ_ONLY, sensitive=True),
        declare(unlock, name="unlock", statement="Unlock {account}", verified=True),
        declare(broken, name="broken", statement="Break", tier=Tier.READ_ONLY),
        *case_tools(),
    )  # fmt: skip


def tools_of(effects: Effects) -> dict[str, Tool]:
    """The tools of one service, whose effects are these."""
    return {tool.name: _with_effects(tool, effects) for tool in declared()}


def _with_effects(tool: Tool, effects: Effects) -> Tool:
    work = tool.call
    if work is None:
        return tool

    async def call(args: dict[str, object]) -> object:
        return await effects.make(tool.name.rpartition(".")[2], str(await work(args)))

    return replace(tool, call=call)
