"""The socket: deaf, asked to refresh, warned, dropped in the middle of something. Nothing is lost or done twice."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from channels.slack.socket_mode import Socket
from tests.loop.scripted import Held, says
from tests.slack.office import Office
from tests.slack.test_tokens_refused import says_of_health, well
from tests.slack.test_what_arrives import stored


async def test_a_socket_that_has_gone_deaf_makes_health_red_and_is_replaced_and_nothing_is_lost(office: Office) -> None:
    office.answers(says("Once."))
    office.slack.sockets.connections[-1].deaf = True
    office.slack.sockets.refuse = True
    said = await office.ann.mentions(office.ops, "help")  # it takes what is sent, and acknowledges nothing
    deaf = office.slack.sockets.connections[-1]
    await office.until_so(lambda: says_of_health(office, "connect"))
    office.slack.sockets.forget_tickets()
    office.slack.sockets.refuse = False
    await office.slack.until(lambda: any(one is not deaf for one in office.slack.sockets.open()), what="a new socket")
    await office.until_so(lambda: well(office))
    await office.slack.advance(3)
    await office.slack.acked(*said.deliveries)
    await office.shows(said.message, "Once.")
    assert await stored(office) == ["help"]
    assert len(office.model.sent) == 1


async def test_an_address_that_lets_nobody_in_any_more_is_not_knocked_at_for_ever(office: Office) -> None:
    """Slack's own client would: it holds on to the address that it has."""
    office.slack.sockets.refuse = True
    await office.slack.sockets.drop()
    await office.slack.until(lambda: office.slack.sockets.turned_away >= 1, what="a knock")
    office.slack.sockets.forget_tickets()
    office.slack.sockets.refuse = False
    await office.slack.connected()
    office.answers(says("Here."))
    await office.shows(await office.asks(), "Here.")


@pytest.fixture
def held(office: Office, monkeypatch: pytest.MonkeyPatch) -> Held:
    """What is to be stored next waits until it is released."""
    held, write = Held(), cast("Callable[..., Awaitable[object]]", office.service.store.write)

    async def waiting(*args: object, **kwargs: object) -> object:
        if not held.release.is_set() and getattr(args[0], "__name__", "") == "receive":
            await held.wait()
        return await write(*args, **kwargs)

    monkeypatch.setattr(office.service.store, "write", waiting)
    return held


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_what_is_being_stored_while_slack_asks_for_a_new_connection_is_acknowledged_over_the_old_one(
    office: Office, held: Held, reason: str
) -> None:
    office.answers(says("Once."))
    said = await office.ann.says(None, "help")
    await held.reached.wait()
    old = office.slack.sockets.connections[-1]
    await office.slack.sockets.disconnect(reason)
    await office.slack.until(lambda: any(one is not old for one in office.slack.sockets.open()), what="a new socket")
    held.release.set()
    await office.slack.acked(*said.deliveries)
    assert [len(delivery.attempts) for delivery in said.deliveries] == [1]
    await office.shows(said.message, "Once.")
    assert await stored(office) == ["help"]
    assert office.slack.sockets.mistakes == []
    await office.slack.until(lambda: old.socket.closed, what="the old socket to be closed")


async def test_what_is_being_stored_while_the_connection_drops_comes_again_and_is_worked_once(
    office: Office, held: Held
) -> None:
    office.answers(says("Once."))
    said = await office.ann.says(None, "help")
    await held.reached.wait()
    await office.slack.sockets.drop()
    held.release.set()
    await office.shows(said.message, "Once.")
    assert not said.acked
    await office.slack.connected()
    await office.slack.advance(3)
    await office.slack.acked(*said.deliveries)
    assert await stored(office) == ["help"]
    assert len(office.model.sent) == 1


async def test_a_connection_that_slack_ends_at_once_is_not_asked_for_again_and_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, sleep = list[float](), asyncio.sleep

    async def sleeping(seconds: float) -> None:
        if seconds >= office.look_every_s:
            waits.append(seconds)
        await sleep(0 if seconds > office.look_every_s else seconds)

    monkeypatch.setattr(asyncio, "sleep", sleeping)
    asked = len(office.slack.calls("apps.connections.open"))
    for ended in range(1, 4):
        await office.slack.sockets.disconnect("warning")
        await office.slack.called("apps.connections.open", at_least=asked + ended)
        await office.slack.until(lambda n=ended: len(office.slack.sockets.connections) == asked + n)
    await office.until_so(lambda: longer(waits, office.look_every_s))
    office.answers(says("Here."))
    await office.shows(await office.asks(), "Here.")


async def longer(waits: list[float], than: float) -> bool:
    return any(one == 2 * than for one in waits)


async def test_an_answer_that_names_no_address_is_trouble_that_health_tells_of_and_ends(office: Office) -> None:
    office.slack.fail_next(
        "apps.connections.open", body='{"ok": true}', content_type="application/json", times=None
    )  # fmt: skip
    await office.slack.sockets.drop()
    await office.until_so(lambda: says_of_health(office, "names no address"))
    office.slack.heal("apps.connections.open")
    await office.slack.connected()
    office.answers(says("Here."))
    await office.shows(await office.asks(), "Here.")


async def test_a_bug_met_while_connecting_is_logged_and_connecting_goes_on(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    opened = getattr(Socket, "_opened")  # noqa: B009 - of our own client
    broken = True

    async def opening(*args: Any, **kwargs: Any) -> Any:
        if broken:
            raise ZeroDivisionError
        return await opened(*args, **kwargs)

    monkeypatch.setattr(Socket, "_opened", opening)
    await office.slack.sockets.drop()
    await office.until_so(lambda: says_of_health(office, "nobody foresaw"))
    assert "ZeroDivisionError" in caplog.text
    broken = False
    await office.slack.connected()
    office.answers(says("Here."))
    await office.shows(await office.asks(), "Here.")
