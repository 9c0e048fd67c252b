"""The processes of the soak, forked from a driver that has imported everything: the service, and the hands beside it.

The driver has no loop, no thread and no open database when it forks, so a child begins clean within milliseconds.
"""

import asyncio
import gc
import http.client
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bot import ids, logs
from bot.app import Service
from bot.gates import gating
from bot.inbound import intake
from bot.web.server import serving
from casestore import gates, leases, outbox, principals
from casestore.deciding import Decision
from casestore.migrate import open_store
from casestore.models import CaseId
from casestore.states import Origin, Verb
from casestore.tx import Tx
from channels.address import Address
from channels.errors import RetryLater, Uncertain
from channels.messages import Inbound
from tests.faults.kills.boot import Place, Shifted, account, booted
from tests.faults.kills.history import Act
from tests.loop import hands

_PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class Boot:
    """How one boot is: the clock's shift, whether the platform can be asked what became of a call and what it does to
    the first ones, and whether HTTP is served: that takes longer to start than all the rest."""

    shift_ms: int
    can_find: bool
    http: bool = True
    faults: tuple[str, ...] = ()


def fork(work: Callable[[], None], log: Path) -> int:
    """Run `work` in a process of its own, whose stdout and stderr are a file; its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        gc.freeze()
        fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver alone ends because of it, and ends us
        work()
        sys.stderr.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def warm_up(place: Place) -> None:
    """One boot in the driver itself, which ends again: what is imported and compiled by it, no child has to."""

    async def boot() -> None:
        async with booted(place, Shifted(0)) as (service, _), _http(service):
            return

    asyncio.run(boot())


def serve(place: Place, boot: Boot, talk: socket.socket) -> None:
    """The service, until it is told to stop or killed; the driver talks to it as the platform does."""
    logs.set_up()
    asyncio.run(_serve(place, boot, talk))


async def _serve(place: Place, boot: Boot, talk: socket.socket) -> None:
    talk.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=talk)

    def tell(said: Act) -> None:
        writer.write(json.dumps(said).encode() + b"\n")

    async with booted(place, Shifted(boot.shift_ms), can_find=boot.can_find, slow=True) as (service, channel):
        for fault in boot.faults:
            channel.fail(*_FAULTS[fault][0], accepted=_FAULTS[fault][1])
        async with _http(service) if boot.http else nullcontext(0) as port:
            tell({"up": port})
            under_way: set[asyncio.Task[None]] = set()

            async def say(told: Act) -> None:
                inbound = Inbound(
                    address=Address.parse(str(told["address"])), account=account(str(told["by"])),
                    platform_id=str(told["id"]), text=str(told["text"]), addressed=bool(told["addressed"]), at=0,
                )  # fmt: skip
                tell({"n": told["n"], "ok": await channel.deliver(inbound)})

            while line := await reader.readline():
                told = cast("Act", json.loads(line))
                if told["do"] == "stop":
                    break
                if told["do"] == "rest?":
                    service.engine.wake()  # what was decided beside it is seen now, and not within half a second
                    service.delivery.wake()
                    resting = await service.store.read(rests, service.clock.now())
                    tell({"rests": resting and service.engine.working == 0})
                    continue
                task = asyncio.create_task(say(told))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
            await asyncio.gather(*under_way)
    writer.close()


def _http(service: Service) -> AbstractAsyncContextManager[int]:
    return serving(service, "127.0.0.1", 0)


_FAULTS: dict[str, tuple[list[RetryLater | Uncertain], bool]] = {
    "later": ([RetryLater(50)], False),
    "uncertain, not sent": ([Uncertain("the connection broke")], False),
    "uncertain, sent": ([Uncertain("the connection broke")], True),
}
FAULTS = tuple(_FAULTS)


def rests(tx: Tx, now: int) -> bool:
    """Whether nothing is to be worked and nothing to be delivered now, and no killed process holds a case still."""
    due, held = outbox.counts(tx), tx.integer("SELECT count(*) FROM leases WHERE kind = 'run'")
    return not held and not leases.ready(tx, now, 1) and due["due"] == due["sending"] == 0


def hand(place: Place, shift_ms: int, act: Act, pipe: int) -> None:
    """One act of a person or a program beside the service, as a command does it: its own process, its own store."""
    signal.alarm(_PATIENCE_S)
    try:
        said = _post(act) if act["do"] == "alert" else asyncio.run(_beside(place, shift_ms, act))
    except Exception as error:
        said = {"ok": False, "why": f"{type(error).__name__}: {error}"}
    os.write(pipe, json.dumps(said).encode() + b"\n")


def _post(act: Act) -> Act:
    connection = http.client.HTTPConnection("127.0.0.1", cast("int", act["port"]), timeout=_PATIENCE_S)
    connection.request("POST", "/alerts/alertmanager", body=str(act["body"]).encode())
    answer = connection.getresponse()
    text = answer.read().decode()
    return {"ok": answer.status == 200, "said": text}


async def _beside(place: Place, shift_ms: int, act: Act) -> Act:
    store = await open_store(place.db, ids.nonce, serves=False, create=act["do"] == "prepare")
    try:
        return await store.write(_ACTS[str(act["do"])], Shifted(shift_ms).now(), act, place)
    finally:
        await store.close()


def _prepare(tx: Tx, now: int, act: Act, place: Place) -> Act:
    hands.people(tx, now)
    return {"ok": True}


def _decide(tx: Tx, now: int, act: Act, place: Place) -> Act:
    who = principals.by_name(tx, str(act["who"]))
    gate = gates.get(tx, gating.scope_of(who), cast("int", act["gate"]))
    decision = Decision(Verb(str(act["verb"])), gate.digest_shown, "cli", str(act["reason"]))
    reply = gating.decide(tx, now, who, gate.id, decision, None)
    return {"ok": reply.taken, "said": reply.text, "state": str(reply.gate.state), "verb": reply.gate.verb}


def _take(tx: Tx, now: int, act: Act, place: Place) -> Act:
    hands.take(tx, now, CaseId(cast("int", act["case"])), principals.by_name(tx, str(act["who"])))
    return {"ok": True}


def _release(tx: Tx, now: int, act: Act, place: Place) -> Act:
    hands.release(tx, now, CaseId(cast("int", act["case"])), principals.by_name(tx, str(act["who"])))
    return {"ok": True}


def _speak(tx: Tx, now: int, act: Act, place: Place) -> Act:
    who, case_id = principals.by_name(tx, str(act["who"])), CaseId(cast("int", act["case"]))
    return {"ok": True, "message": hands.speak(tx, now, case_id, who, str(act["text"]), place.settings).id}


def _open(tx: Tx, now: int, act: Act, place: Place) -> Act:
    who = principals.by_name(tx, str(act["who"]))
    return {"ok": True, "case": intake.open_by(tx, now, who, Origin.CLI, str(act["text"])).id}


_ACTS: dict[str, Callable[[Tx, int, Act, Place], Act]] = {
    "prepare": _prepare, "decide": _decide, "take": _take, "release": _release, "speak": _speak, "open": _open
}  # fmt: skip
