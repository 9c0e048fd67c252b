"""The terminal as `casebound chat` uses it: a card says what to type, since there is nothing to press."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence

from bot.cli import out
from channels.card import Card, Verb
from channels.errors import RetryLater, ThreadGone
from channels.messages import Address, Content, Inbound, Outbound, Text
from channels.plain import render_card
from channels.port import Channel, Receiver

_TYPED: dict[Verb, str] = {
    "approve": "gate approve {gate}",
    "deny": 'gate deny {gate} --reason "…"',
    "revise": 'gate revise {gate} --reason "…"',
    "happened": "gate happened {gate}",
    "not_happened": "gate not-happened {gate}",
    "rerun": "gate rerun {gate}",
}
_CONSENT: tuple[Verb, ...] = ("approve", "deny")


class Terminal:
    """A console channel, and what is particular about this use of it. `closed` is set when nobody reads any more.

    The thread outlives the terminal: what cannot be shown now stays due for the next conversation.
    """

    def __init__(self, console: Channel, person: str, typed: Callable[[str], str]) -> None:
        self._console, self._person, self._typed = console, person, typed
        self.closed = asyncio.Event()

    @property
    def name(self) -> str:
        return self._console.name

    @property
    def connected(self) -> bool:
        return self._console.connected

    async def start(self, receiver: Receiver) -> None:
        await self._console.start(receiver)

    async def stop(self) -> None:
        await self._console.stop()

    async def begin(
        self, place: Address, label: str, title: str, people: Sequence[str], *, since: int
    ) -> Address | None:  # fmt: skip
        return await self._console.begin(place, label, title, people, since=since)

    async def send(self, outbound: Outbound) -> str:
        content = outbound.content
        shown = self._asked(content) if isinstance(content, Card) else Text(text=out.fitted(content.text))
        outbound = outbound.model_copy(update={"content": shown})
        try:
            return await self._console.send(outbound)
        except ThreadGone:
            raise self._nobody_reads() from None

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        if isinstance(content, Card):
            lines = content.outcome or (content.if_nobody,)
            content = Text(text="\n".join([f"Gate {content.gate_id}: {content.statement}", *lines]))
        content = Text(text=out.fitted(content.text))
        try:
            await self._console.edit(address, platform_id, content)
        except ThreadGone:
            raise self._nobody_reads() from None

    async def delete(self, address: Address, platform_id: str) -> None:
        await self._console.delete(address, platform_id)

    async def working(self, address: Address, words: str) -> None:
        await self._console.working(address, words)

    async def find(self, address: Address, nonce: str) -> str | None:
        return await self._console.find(address, nonce)

    def catch_up(self, address: Address, after: str | None) -> AsyncIterator[Inbound]:
        return self._console.catch_up(address, after)

    def direct(self, since: int) -> AsyncIterator[tuple[Address, str]]:
        return self._console.direct(since)

    def _asked(self, card: Card) -> Text:
        """The card, and in the place of its buttons what an approver types."""
        lines = render_card(card.model_copy(update={"verbs": ()})).split("\n")
        if sys.stdout.isatty():
            lines = [wrapped for line in lines for wrapped in out.row_of_card(line)]
        if card.verbs:
            mine = f" --as {self._person}" if card.verbs == _CONSENT else ""
            lines.append("You decide, in another terminal:" if mine else "To decide, in another terminal:")
            typed = [_TYPED[verb] for verb in card.verbs if verb in _TYPED]
            lines += [f"  {self._typed(one.format(gate=card.gate_id) + mine)}" for one in typed]
            if "withdraw" in card.verbs:
                lines.append("To take it back, here: /case withdraw")
        return Text(text="\n".join(lines))

    def _nobody_reads(self) -> RetryLater:
        self.closed.set()
        out.nobody_reads()
        return RetryLater(0, "the terminal was closed")
