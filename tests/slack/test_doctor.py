"""`casebound doctor` on a workspace in which one thing or another is not set up: it says what to click."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from bot import doctor
from bot.app import slack_login
from bot.settings import Settings, Slack
from casestore.states import GateState
from channels.findings import Finding
from channels.slack import scopes
from channels.slack.channel import SlackChannel
from tests.channel_contract.slack_rig import unhurried
from tests.loop.scripted import Held, calls, says
from tests.slack.office import Office
from tests.wire.slack.rooms import Room
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, SlackServer
from tests.wire.slack.tokens import EVERY_SCOPE


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """A workspace in which all is well."""
    async with SlackServer() as slack:
        yield slack


@pytest.fixture
def ops(slack: SlackServer) -> Room:
    """A room that the app was invited to."""
    return slack.room("ops", slack.member("kim"))


async def examined(slack: SlackServer, room: str | None, **given: object) -> dict[str, Finding]:
    """What is found, by what was looked at."""
    settings = Slack.model_validate(
        {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "teams": [slack.team], "api_url": slack.api_url, **given}
    )
    channel = SlackChannel(slack_login(Settings(slack=settings)), unhurried())
    return {finding.what: finding async for finding in channel.examine(doctor.SAMPLE, room)}


async def test_where_all_is_well_everything_was_tried_and_nothing_stays_behind(slack: SlackServer, ops: Room) -> None:
    found = await examined(slack, ops.id)
    assert [one.what for one in found.values()] == [
        "bot token", "scopes", "workspace", "connection", "room", "card round trip"
    ]  # fmt: skip
    assert [one for one in found.values() if not one.ok] == []
    assert slack.posts(ops) == []
    assert [call.method for call in slack.calls()].count("chat.delete") == 1
    assert slack.sockets.open() == []


async def test_the_test_card_says_what_it_is_and_pings_nobody(slack: SlackServer, ops: Room) -> None:
    held = slack.hold("chat.delete")
    task = asyncio.create_task(examined(slack, ops.id))
    await held.arrived()
    (card,) = slack.posts(ops)
    text = json.dumps(card.blocks)
    assert "casebound doctor" in text
    assert "A test" in text
    held.release()
    await task


async def test_a_service_beside_it_misses_nothing(office: Office) -> None:
    said = await office.ann.says(None, "hello")
    found = await examined(office.slack, office.ops.id)
    assert found["connection"].ok
    await office.slack.connected()
    await office.slack.acked(*said.deliveries)


async def test_what_slack_sends_over_the_socket_of_the_doctor_comes_again_and_reaches_the_service(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each event goes over one of the connections; the doctor acknowledges nothing."""
    held, receive = Held(), aiohttp.ClientWebSocketResponse.receive_json

    async def waiting(socket: aiohttp.ClientWebSocketResponse) -> object:
        await held.wait()
        return await receive(socket)

    monkeypatch.setattr(aiohttp.ClientWebSocketResponse, "receive_json", waiting)
    looking = asyncio.create_task(examined(office.slack, None))
    await held.reached.wait()
    await office.slack.connected(2)
    office.answers(says("One."), says("Two."))
    said = [await office.ann.says(None, text) for text in ("one", "two")]
    held.release.set()
    assert (await looking)["connection"].ok
    assert [one.acked for one in said].count(False) >= 1, "one of them went to the doctor"
    await office.slack.until(lambda: len(office.slack.sockets.open()) == 1, what="the service's own socket alone")
    await office.slack.advance(3)
    for one, words in zip(said, ("One.", "Two."), strict=True):
        await office.slack.acked(*one.deliveries)
        await office.until(lambda one=one: office.slack.posts(one) or None, words)


Amiss = Callable[[SlackServer, Room], object]


def without_scope(name: str) -> Amiss:
    """The app was made without it."""
    return lambda slack, room: setattr(slack.workspace.tokens.bot, "scopes", EVERY_SCOPE - {name})


def archived(slack: SlackServer, room: Room) -> None:
    room.archived = True


def uninvited(slack: SlackServer, room: Room) -> None:
    room.members.discard(slack.bot.id)


def bot_token_gone(slack: SlackServer, room: Room) -> None:
    slack.workspace.tokens.bot.gone = "token_revoked"


def app_token_gone(slack: SlackServer, room: Room) -> None:
    slack.workspace.tokens.app.gone = "invalid_auth"


def sockets_closed(slack: SlackServer, room: Room) -> None:
    slack.sockets.refuse = True


def nothing_is_changed(slack: SlackServer, room: Room) -> None:
    slack.fail_next("chat.update", status=503, times=None)


def nothing_is_found(slack: SlackServer, room: Room) -> None:
    slack.fail_next("conversations.history", status=503, times=None)


@pytest.mark.parametrize(
    ("amiss", "what", "found", "to_do"),
    [
        (bot_token_gone, "bot token", "token revoked", "copy the Bot User OAuth Token"),
        (app_token_gone, "connection", "invalid auth", "App-Level Tokens: generate one with connections:write"),
        (sockets_closed, "connection", "The socket did not open", "wss, port 443"),
        (archived, "room", "#ops is archived", "Un-archive it"),
        (uninvited, "room", "not in #ops", "/invite @casebound"),
        (nothing_is_found, "card round trip", "found again", "Mend that"),
        (nothing_is_changed, "card round trip", "could not be changed", "Mend that"),
        *[(without_scope(one), "scopes", one, "Reinstall to Workspace") for one in scopes.BOT],
    ],
)
async def test_what_is_amiss_is_named_with_what_to_click(
    slack: SlackServer, ops: Room, amiss: Amiss, what: str, found: str, to_do: str
) -> None:
    amiss(slack, ops)
    one = (await examined(slack, ops.id))[what]
    assert found in one.found
    assert to_do in one.to_do
    assert slack.posts(ops) == []


async def test_a_workspace_that_is_not_listed_is_named_as_it_is_to_be_listed(slack: SlackServer) -> None:
    found = await examined(slack, None, teams=["T0OTHER"])
    assert f'teams = ["{slack.team}"]' in found["workspace"].to_do
    assert not found["card round trip"].ok, "what was not tried is not said to be well"
    assert "--room" in found["card round trip"].to_do
    assert "Not tried" in found["card round trip"].found
    assert slack.calls("chat.postMessage") == []


async def test_in_http_mode_no_socket_is_opened_and_the_address_is_named(slack: SlackServer) -> None:
    found = await examined(slack, None, mode="http", app_token=None, signing_secret=SIGNING_SECRET)
    assert "/slack/events" in found["connection"].found
    assert slack.calls("apps.connections.open") == []


async def test_no_secret_is_in_what_it_says(slack: SlackServer, ops: Room) -> None:
    bot_token_gone(slack, ops)
    app_token_gone(slack, ops)
    said = repr(await examined(slack, ops.id))
    assert BOT_TOKEN not in said
    assert APP_TOKEN not in said


async def test_an_operator_whose_account_is_bound_is_named_and_without_one_it_is_said(office: Office) -> None:
    listed = {"slack": [office.slack.team]}
    told = [one async for one in doctor.of_people(office.service.store, {"slack": office.channel()}, listed)]
    assert ("kim" in told[0].found, told[0].ok) == (True, True)
    none = [one async for one in doctor.of_people(office.service.store, {"discord": office.channel()}, listed)]
    assert "principal bind NAME discord:ID" in none[0].to_do


async def test_an_operator_in_a_workspace_that_is_not_listed_can_decide_nothing_and_is_not_named(
    office: Office,
) -> None:
    listed = {"slack": ["T0OTHER"]}
    told = [one async for one in doctor.of_people(office.service.store, {"slack": office.channel()}, listed)]
    assert ("kim" in told[0].found, told[0].ok) == (False, False)


async def test_a_room_that_the_app_does_not_see_is_said_to_be_none_and_no_case_is_spoken_of(slack: SlackServer) -> None:
    found = (await examined(slack, "C0NOSUCH"))["room"]
    assert "The app sees no room C0NOSUCH" in found.found
    assert "case" not in found.found
    assert "/invite @casebound" in found.to_do


async def test_a_press_on_its_card_while_it_stands_is_answered_in_one_sentence_and_decides_nothing(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})))
    await office.card(await office.asks())
    held = office.slack.hold("chat.delete")
    looking = asyncio.create_task(examined(office.slack, office.ops.id))
    await held.arrived()
    sample = office.slack.posts(office.ops)[-1]
    sample.blocks = sample.versions[0]  # as it was before it was changed
    await office.kim.presses(sample, "gate_approve")
    heard = await office.whispered(office.kim, "There is no gate 999999999999999 here that you may decide.")
    assert heard.text.count(".") == 1
    await office.lee.presses(sample, "gate_deny")
    await office.whispered(office.lee, "There is no gate")
    await office.mallory.presses(sample, "gate_approve")
    await office.whispered(office.mallory, "do not know you")
    assert (await office.gate()).state is GateState.OPEN
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
    held.release()
    assert (await looking)["card round trip"].ok
