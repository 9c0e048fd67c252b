"""The composition root: the only place that names concrete channels and puts the parts together."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pydantic import SecretStr
from pydantic_ai.models import Model

from bot import first_start, ids, logs
from bot.clock import Clock, SystemClock
from bot.degraded.spool import Spool
from bot.degraded.standby import Standby
from bot.inbound.copying import Copying
from bot.inbound.listening import Listening
from bot.inbound.receiver import Receiver
from bot.models import prompt
from bot.models.assistant import assistant as configured_assistant
from bot.outbound.delivery import Delivery
from bot.outbound.status_line import StatusLine
from bot.policy import unknown
from bot.retelling.paraphrasing import Paraphrasing
from bot.schedule import Schedule
from bot.settings import Settings
from bot.toolkit import put, toolbox
from bot.tools.declare import Tool
from bot.tools.mcp.servers import Servers
from bot.turns import beside
from bot.turns.conduct import Conductor
from bot.turns.desk import Desk, Prompt
from bot.turns.engine import Engine
from bot.turns.preview import Previews
from bot.watch import watch
from casestore.db import Store
from casestore.locks import ServiceLock
from casestore.migrate import open_store
from casestore.models import CaseId
from casestore.turns import Worker
from channels.address import Address
from channels.console import ConsoleChannel
from channels.port import Channel

if TYPE_CHECKING:
    from channels.discord.channel import DiscordLogin
    from channels.slack.channel import SlackLogin

log = logging.getLogger("casebound.app")

_GRACE_S = 10.0


@dataclass(frozen=True)
class Service:
    """The running parts."""

    settings: Settings
    clock: Clock
    store: Store
    desk: Desk
    servers: Servers
    conductor: Conductor
    status: StatusLine
    previews: Previews
    engine: Engine
    paraphrasing: Paraphrasing
    delivery: Delivery
    copying: Copying
    schedule: Schedule
    receiver: Receiver
    standby: Standby
    channels: Mapping[str, Channel]
    zone: tzinfo | None
    api_token: str
    first_start: bool
    """Whether this start made what belongs to the file."""


@asynccontextmanager
async def running(
    settings: Settings, *, name: str, channels: Mapping[str, Channel] | None = None, clock: Clock | None = None,
    model: Model | None = None, tools: Sequence[Tool] = (),
) -> AsyncGenerator[Service]:  # fmt: skip
    """Run the service on a file until the block is left. Raises `ServiceRunning` where another process serves it.

    `name` is what another process is told about who serves the file. A first start makes the file and what belongs
    to it; a start on an existing file continues where it was. `model` stands in for the one that the settings name,
    and `tools` are there beside the bundled ones, under the same settings.
    """
    db = settings.service.db
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        service_lock, store = await _open(db, name)
        stack.callback(service_lock.release)
        stack.push_async_callback(store.close)
        assistant = await stack.enter_async_context(model or configured_assistant(settings))
        first = await store.write(first_start.principals_of_first_start, clock.now(), settings.service.tenant)
        for why in await store.read(unknown.people, settings):
            logs.event(log, "profiles.nobody", logging.WARNING, why=why)
        service = _assemble(settings, clock, store, dict(channels or {}), assistant, tools, first=first)
        async with _at_work(service):
            yield service


def configured(settings: Settings) -> dict[str, Channel]:
    """The channels that the settings name, each with its SDK, which is imported only then."""
    channels: dict[str, Channel] = {}
    if settings.slack.on:
        from channels.slack.channel import SlackChannel

        channels["slack"] = SlackChannel(slack_login(settings))
    if settings.discord.on:
        from channels.discord.channel import DiscordChannel

        channels["discord"] = DiscordChannel(discord_login(settings))
    return channels


def slack_login(settings: Settings) -> "SlackLogin":
    """What Slack's adapter needs of the settings, in the mode they name."""
    from channels.slack.channel import SlackLogin

    slack, access = settings.slack, settings.access
    over_http = slack.mode == "http"
    return SlackLogin(
        bot_token=_shown(slack.bot_token) or "", teams=slack.teams, api_url=slack.api_url,
        app_token=None if over_http else _shown(slack.app_token),
        signing_secret=_shown(slack.signing_secret) if over_http else None,
        tells_guests=access.unknown != access.guests,
    )  # fmt: skip


def discord_login(settings: Settings) -> "DiscordLogin":
    """What Discord's adapter needs of the settings."""
    from channels.discord.channel import DiscordLogin

    discord = settings.discord
    return DiscordLogin(
        token=_shown(discord.token) or "", guilds=discord.guilds, rooms=discord.rooms,
        private=discord.private_threads, approvals=discord.operators_room,
        api_url=discord.api_url, gateway_url=discord.gateway_url,
    )  # fmt: skip


def _shown(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def console_channel(
    person: str, address: Address, *, source: TextIO, output: TextIO, clock: Clock
) -> ConsoleChannel:  # fmt: skip
    """The terminal of one person as a channel, for `casebound chat`."""
    return ConsoleChannel(
        person, source=source, output=output, now=clock.now, new_id=lambda: f"{clock.now()}-{ids.nonce()[:8]}",
        address=address,
    )  # fmt: skip


async def _open(db: Path, name: str) -> tuple[ServiceLock, Store]:
    service_lock = ServiceLock.take(db, name)
    try:
        if not db.exists():  # noqa: ASYNC240 - once, at start
            # before the file: a start that is cut off here is taken for a first one again
            first_start.fill_demo_cache(db)
        return service_lock, await open_store(db, ids.nonce, serves=True, create=True, service=service_lock)
    except BaseException:
        service_lock.release()
        raise


def _assemble(
    settings: Settings, clock: Clock, store: Store, channels: dict[str, Channel], assistant: Model,
    tools: Sequence[Tool], *, first: bool,
) -> Service:  # fmt: skip
    zone = settings.service.zone
    box = toolbox(settings, first_start.caches(settings, settings.service.db), clock.now, tools)
    servers = Servers(settings.mcp, lambda server, offered: put(box, settings, server, offered))
    boot = ids.boot_id()
    desk = Desk(
        settings=settings,
        clock=clock,
        toolbox=box,
        prompt=Prompt(
            settings.prompt.label or assistant.model_name, prompt.first_part(prompt.house(settings)), box.schemas()
        ),
        worker=Worker(
            holder=f"engine {boot}",
            boot=boot,
            agent="casebound",
            model=assistant.model_name,
            lease_ttl=settings.leases.ttl,
            talks=beside.can_talk(assistant),
        ),
    )
    spool = Spool(settings.service.db)
    standby = Standby(store, desk, assistant, channels, spool, zone)
    status = StatusLine(store, clock, channels)
    previews = Previews(settings.api.listeners)
    conductor = Conductor(store, desk, assistant, spool, status=status, previews=previews)
    paraphrasing = Paraphrasing(store, desk, assistant, spool)
    engine = Engine(store, desk, conductor, standby, paraphrasing)
    delivery = Delivery(
        store, clock, channels, boot, zone, stale_after_ms=settings.delivery.stale_after,
        rooms=settings.approval_rooms(),
    )  # fmt: skip
    copying = Copying(store, clock, channels, settings.files.limit)

    def stored(case_id: CaseId) -> None:
        engine.wake(case_id)
        copying.wake()

    return Service(
        settings=settings,
        clock=clock,
        store=store,
        desk=desk,
        servers=servers,
        conductor=conductor,
        status=status,
        previews=previews,
        engine=engine,
        paraphrasing=paraphrasing,
        delivery=delivery,
        copying=copying,
        schedule=Schedule(store, clock, settings, engine, delivery, zone),
        receiver=Receiver(store, clock, settings, delivery, zone, stored, standby),
        standby=standby,
        channels=channels,
        zone=zone,
        api_token=first_start.api_token(settings, settings.service.db),
        first_start=first,
    )


@asynccontextmanager
async def _at_work(service: Service) -> AsyncGenerator[None]:
    """Delivery, engine, schedule, channels and copying, started in this order and stopped in the other.

    Whatever one of them does when it is started or stopped, what was started before it is stopped.
    """
    async with AsyncExitStack() as stack:
        _go_on(stack, "watch", watch(service.store, service.engine, service.delivery, service.standby))
        await stack.enter_async_context(service.servers.running())
        stack.push_async_callback(service.standby.stop)
        stack.push_async_callback(service.status.stop)
        _go_on(stack, "delivery", service.delivery.run())
        stack.push_async_callback(service.paraphrasing.stop)
        _go_on(stack, "engine", service.engine.run())
        stack.push_async_callback(service.engine.stop, _GRACE_S)
        stack.callback(service.schedule.stop)
        service.schedule.start()
        for channel in service.channels.values():
            stack.push_async_callback(_stop, channel)
            listening = Listening(channel, service.receiver, service.store, service.clock)
            service.receiver.catches_up[channel.name] = listening.resumed
            _go_on(stack, f"listening {channel.name}", listening.run())
            await listening.tried()
        _go_on(stack, "copying", service.copying.run())
        yield


def _go_on(stack: AsyncExitStack, name: str, work: Coroutine[object, object, None]) -> None:
    """Let a part go on in a task of its own until the stack is left. One that fails is told of at once."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_told)
    stack.push_async_callback(_end, task)


def _told(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("part.failed", exc_info=error, extra={"fields": {"part": task.get_name()}})


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _stop(channel: Channel) -> None:
    """Stop a channel; one that fails or hangs keeps nothing else from ending."""
    try:
        async with asyncio.timeout(_GRACE_S):
            await channel.stop()
    except Exception:
        log.exception("channel.not_stopped", extra={"fields": {"channel": channel.name}})
