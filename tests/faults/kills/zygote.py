"""A process that has imported everything and forks one child for each line it reads: what it does, and where it dies.

Forked before any thread or loop exists, a child begins within milliseconds and dies alone.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from bot import logs
from bot.app import Service
from bot.gates import gating
from casestore import gates, principals
from casestore.db import Store
from casestore.deciding import Decision
from casestore.scope import System
from casestore.states import Verb
from casestore.tx import Tx
from channels.address import Address
from channels.messages import Inbound
from tests.faults.kills.boot import Place, Shifted, account, booted, die, dies_at
from tests.faults.kills.platform import JournalledChannel
from tests.faults.kills.served import fork, rests, warm_up
from tests.loop import hands

THREAD = "memory:S/help/t1"
_PATIENCE_S = 25

Deed = tuple[str, ...]
"""`("say", text, platform id)`, `("decide", verb)`, by kim on the one gate that is open, `("rest",)`."""


@dataclass(frozen=True, slots=True)
class Boot:
    """What one child does, and at which moment it dies; empty: it ends by itself."""

    folder: str
    deeds: tuple[Deed, ...]
    dies: str = ""
    later_ms: int = 0
    can_find: bool = True


def order(boot: Boot) -> str:
    """A boot as a line."""
    return json.dumps(asdict(boot)) + "\n"


def _child(boot: Boot) -> None:
    signal.alarm(_PATIENCE_S)
    logs.set_up()
    _let_transactions_die(boot.dies)
    asyncio.run(_boot(boot))


async def _boot(boot: Boot) -> None:
    place, clock = Place(Path(boot.folder)), Shifted(boot.later_ms)
    async with booted(place, clock, can_find=boot.can_find, moment=dies_at([boot.dies])) as (service, channel):
        await service.store.write(hands.people, clock.now())
        for deed in boot.deeds:
            await _do(service, channel, deed)


async def _do(service: Service, channel: JournalledChannel, deed: Deed) -> None:
    match deed:
        case ("say", text, platform_id):
            inbound = Inbound(
                address=Address.parse(THREAD), account=account("ann"), platform_id=platform_id, text=text,
                addressed=True, at=0,
            )  # fmt: skip
            assert await channel.deliver(inbound)
        case ("decide", verb):
            (gate,) = await service.store.read(gates.listing, System(), only_open=True)
            kim = await service.store.read(principals.by_name, "kim")
            decision = Decision(Verb(verb), gate.digest_shown, "cli")
            await service.store.write(gating.decide, service.clock.now(), kim, gate.id, decision, None)
        case _:
            while not (await service.store.read(rests, service.clock.now()) and service.engine.working == 0):
                service.engine.wake()
                service.delivery.wake()
                await asyncio.sleep(0.005)


def _let_transactions_die(where: str) -> None:
    """Die within the first transaction of a name, all of it done and not yet committed, or right after its commit."""
    when, _, name = where.partition(" ")
    write, dies_next = Store.write, False

    async def dying(self: Store, fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        nonlocal dies_next
        if f"{fn.__module__.rpartition('.')[2]}.{fn.__name__.strip('_')}" != name:
            if dies_next:  # what would follow is not to be quicker than the kill
                await asyncio.Event().wait()
            return await write(self, fn, *args, **kwargs)
        dies_next = True

        def within(tx: Tx) -> object:
            value = fn(tx, *args, **kwargs)
            if when == "within":
                die()
            return value

        value = await write(self, within)
        if when == "after":
            die()
        return value

    setattr(Store, "write", dying)  # noqa: B010 - the real one takes any function, as a type cannot say


def main() -> None:
    """Warm up, then one child for each line; how each ended is a line too: 0, the signal, or the code, negative."""
    with TemporaryDirectory() as folder:
        warm_up(Place(Path(folder)))
    print("ready", flush=True)
    for line in sys.stdin:
        told = cast("dict[str, object]", json.loads(line))
        deeds = tuple(tuple(deed) for deed in cast("list[list[str]]", told.pop("deeds")))
        boot = Boot(deeds=deeds, **told)  # pyright: ignore[reportArgumentType] - as `order` wrote it
        pid = fork(lambda boot=boot: _child(boot), Path(boot.folder) / "service.log")
        _, status = os.waitpid(pid, 0)
        print(-os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
