"""Our own work per message on Slack, beside a bare slack-bolt app and a bare client of slack_sdk, on the same server.

Coming in: from an envelope that is sent until it is acknowledged. Going out: from an outbox row that is due until its
request is at the server. The pace of posts never makes anything wait here, and no model is asked.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, cast

from slack_sdk.web.async_client import AsyncWebClient

from bench.installation import CLOCK, TENANT
from bench.slack_process import ROOMS, SlackProcess, bare_bolt, slack_process
from bench.table import Finding, spread
from bench.workload import MESSAGE, REPLY, filler
from bot import ids
from bot.inbound.receiver import Receiver
from bot.outbound import speech
from bot.outbound.delivery import Delivery
from bot.settings import Access, Settings
from casestore import bindings, outbox, principals
from casestore.db import Store
from casestore.migrate import open_store
from casestore.models import CaseId
from casestore.states import Role
from casestore.tx import Tx
from channels.slack.channel import SlackChannel, SlackLogin

_POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class Plan:
    """So many rounds; in each, so many messages one after the other and so many together, both sides by turns.

    On a slow or busy machine no round is begun after `budget_s` seconds, but there are two at least.
    """

    rounds: int
    budget_s: float
    one: int
    together: int


FULL = Plan(rounds=7, budget_s=25, one=60, together=200)
QUICK = Plan(rounds=2, budget_s=0, one=20, together=40)


@dataclass
class Side:
    """What was measured of one side: milliseconds and CPU milliseconds a message, messages a second."""

    ms: list[float] = field(default_factory=list[float])
    done_ms: list[float] = field(default_factory=list[float])
    cpu_ms: list[float] = field(default_factory=list[float])
    rate: list[float] = field(default_factory=list[float])


Both = tuple[Side, Side]
"""Ours, and the floor."""


async def measure(folder: Path, plan: Plan) -> list[Finding]:
    """The findings on Slack."""
    coming, going = (Side(), Side()), (Side(), Side())
    async with (
        slack_process() as slack, slack_process() as bare,
        _ours(folder / "slack.db", slack) as ours, bare_bolt(bare) as client,
    ):  # fmt: skip
        threads = await bare.begin(filler(MESSAGE))
        cases = await ours.cases(await slack.begin(filler(MESSAGE)))
        posts = [_post(client, room, ts) for room, ts in threads]
        began = time.perf_counter()
        for number in range(-1, plan.rounds):
            if number >= 2 and time.perf_counter() - began > plan.budget_s:
                break
            await ours.store.checkpoint()
            warm = number < 0
            one, together = (ROOMS, ROOMS) if warm else (plan.one, plan.together)
            for kept, server in zip(coming, (slack, bare), strict=True):
                await _coming_in(Side() if warm else kept, server, one, together)
            await _posting(Side() if warm else going[1], bare, posts, one, together)
            await _going_out(Side() if warm else going[0], slack, ours, cases, one, together)
    return [*_coming(coming, plan), *_going(going, plan)]


@dataclass(frozen=True, slots=True)
class _Ours:
    """What takes a message and what delivers one, as the service puts them together, without an engine."""

    store: Store
    delivery: Delivery
    team: str

    async def cases(self, threads: Sequence[tuple[str, str]]) -> list[CaseId]:
        """The cases that were opened in these threads."""

        def at_all(tx: Tx) -> list[CaseId]:
            found = [bindings.case_at(tx, f"slack:{self.team}/{room}/{ts}") for room, ts in threads]
            return [case.id for case in found if case is not None]

        cases = await self.store.read(at_all)
        if len(cases) != len(threads):
            raise RuntimeError("not every thread has a case")
        return cases


@asynccontextmanager
async def _ours(db: Path, slack: SlackProcess) -> AsyncGenerator[_Ours]:
    settings = Settings(access=Access(unknown="ignore"))
    login = SlackLogin(slack.bot_token, [slack.team], slack.app_token, api_url=slack.api_url)
    store = await open_store(db, ids.nonce, serves=True, create=True)
    # a clock by which ten seconds have passed whenever it is looked at: the pace is asked, and nobody waits for it
    channel = SlackChannel(login, count(step=10.0).__next__)
    try:
        await store.write(_people, slack)
        delivery = Delivery(store, CLOCK, {channel.name: channel}, ids.boot_id(), None)
        await channel.start(Receiver(store, CLOCK, settings, delivery, None, _wake))
        yield _Ours(store, delivery, slack.team)
    finally:
        await channel.stop()
        await store.close()


def _wake(_: CaseId) -> None:
    """There is no engine: what a turn costs is measured elsewhere."""


def _people(tx: Tx, slack: SlackProcess) -> None:
    ann = principals.add(tx, CLOCK.now(), tenant=TENANT, name="ann", role=Role.REQUESTER)
    principals.bind(
        tx, CLOCK.now(), ann.id, channel="slack", space=slack.team, account_id=slack.person, bound_by=None
    )  # fmt: skip


async def _coming_in(side: Side, slack: SlackProcess, one: int, together: int) -> None:
    cpu = time.process_time()
    side.ms += [seconds * 1_000 for seconds in await slack.say(one, filler(MESSAGE))]
    side.cpu_ms.append((time.process_time() - cpu) / one * 1_000)
    (seconds,) = await slack.say(together, filler(MESSAGE), together=True)
    side.rate.append(together / seconds)


def _post(client: AsyncWebClient, room: str, ts: str) -> Callable[[], Awaitable[object]]:
    """What we send, by a bare client."""
    text = filler(REPLY)
    message: dict[str, object] = {
        "channel": room, "thread_ts": ts, "text": text[:200], "blocks": [{"type": "markdown", "text": text}],
        "metadata": {"event_type": "bench", "event_payload": {"nonce": "1"}},
        "unfurl_links": False, "unfurl_media": False,
    }  # fmt: skip
    return lambda: cast("Any", client).chat_postMessage(**message)


async def _posting(
    side: Side, slack: SlackProcess, posts: Sequence[Callable[[], Awaitable[object]]], one: int, together: int
) -> None:
    begun: list[float] = []
    cpu = time.process_time()
    for number in range(one):
        begun.append(time.perf_counter())
        await posts[number % len(posts)]()
        side.done_ms.append((time.perf_counter() - begun[-1]) * 1_000)
    side.cpu_ms.append((time.process_time() - cpu) / one * 1_000)
    side.ms += _between(begun, await slack.heard(one))

    async def one_after_the_other(post: Callable[[], Awaitable[object]]) -> None:
        for _ in range(together // len(posts)):
            await post()

    began = time.perf_counter()
    await asyncio.gather(*map(one_after_the_other, posts))
    side.rate.append(together / (max(await slack.heard(together)) - began))


async def _going_out(
    side: Side, slack: SlackProcess, ours: _Ours, cases: Sequence[CaseId], one: int, together: int
) -> None:
    begun: list[float] = []
    used = 0.0
    for number in range(one):
        await ours.store.write(_say, cases[number % len(cases)])
        cpu = time.process_time()
        begun.append(time.perf_counter())
        await ours.delivery.deliver_due()
        side.done_ms.append((time.perf_counter() - begun[-1]) * 1_000)
        used += time.process_time() - cpu
    side.cpu_ms.append(used / one * 1_000)
    side.ms += _between(begun, await slack.heard(one))
    for number in range(together):
        await ours.store.write(_say, cases[number % len(cases)])
    began = time.perf_counter()
    running = asyncio.create_task(ours.delivery.run())
    side.rate.append(together / (max(await slack.heard(together)) - began))
    while sum((await ours.store.read(outbox.counts)).values()):  # noqa: ASYNC110 - until the last is recorded
        await asyncio.sleep(_POLL_S)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def _say(tx: Tx, case: CaseId) -> None:
    speech.say(tx, CLOCK.now(), case, filler(REPLY))


def _between(begun: Sequence[float], at: Sequence[float]) -> list[float]:
    return [(heard - began) * 1_000 for began, heard in zip(begun, at, strict=True)]


def _coming(both: Both, plan: Plan) -> list[Finding]:
    ours, floor = both
    return [
        _slower("ms from a Slack envelope to its acknowledgement", ours.ms, floor.ms),
        _slower("CPU ms a message from Slack", ours.cpu_ms, floor.cpu_ms, f"{len(ours.cpu_ms)} x {plan.one}"),
        _faster(f"messages/s from Slack, {plan.together} at once", both, plan),
    ]


def _going(both: Both, plan: Plan) -> list[Finding]:
    ours, floor = both
    return [
        _slower("ms from an outbox row to its request at Slack", ours.ms, floor.ms),
        _slower("ms from an outbox row until it is recorded as sent", ours.done_ms, floor.done_ms),
        _slower("CPU ms a message to Slack", ours.cpu_ms, floor.cpu_ms, f"{len(ours.cpu_ms)} x {plan.one}"),
        _faster(f"messages/s to Slack, {plan.together} over {ROOMS} threads at once", both, plan),
    ]


def _slower(what: str, ours: Sequence[float], floor: Sequence[float], n: str = "") -> Finding:
    ratio = f"ours/floor {median(ours) / median(floor):.2f}"
    return Finding(what, spread(ours), spread(floor), ratio, n=n or f"{len(ours)}")


def _faster(what: str, both: Both, plan: Plan) -> Finding:
    ours, floor = both[0].rate, both[1].rate
    ratio = f"floor/ours {spread([bare / own for own, bare in zip(ours, floor, strict=True)])}"
    return Finding(what, spread(ours, 0), spread(floor, 0), ratio, n=f"{len(ours)} x {plan.together}")
