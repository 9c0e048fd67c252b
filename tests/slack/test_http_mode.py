"""Slack in HTTP mode: it posts to an address of ours, and nothing is read that it has not signed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from time import time

import aiohttp
import pytest

from bot import app
from bot.errors import SettingsError
from bot.inbound import intake
from bot.settings import Service as ServiceSection
from bot.settings import Settings, Slack, load
from bot.web.server import serving
from casestore import cases, messages
from casestore.scope import System
from casestore.states import Direction
from channels.slack.channel import SlackChannel, SlackLogin
from channels.slack.signature import Signature
from channels.slack.transport import MOST_BYTES
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import read
from tests.wire.slack.server import BOT_TOKEN, SIGNING_SECRET, SlackServer
from tests.wire.slack.signatures import SignedRequest, request_for, sign

JSON = "application/json"


@pytest.fixture
async def over_http(tmp_path: Path) -> AsyncIterator[Office]:
    """The service, which Slack posts to; Slack's time is ours, as a signature's has to be."""
    async with SlackServer() as slack:
        slack.clock.advance(time() - slack.clock.now())
        office = Office(slack, tmp_path / "c.db", mode="http")
        await office.open()
        yield office
        await office.close()


async def posted(office: Office, request: SignedRequest) -> tuple[int, str]:
    """What a request is answered with."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(office.url, data=request.body, headers=request.headers) as response,
    ):
        return response.status, await response.text()


async def heard(office: Office) -> list[str]:
    """All that people have said, in any case."""
    found: list[str] = []
    for case in await office.service.store.read(cases.listing, System()):
        said = await office.service.store.read(messages.of_case, System(), case.id)
        found += [message.text for message in said if message.direction is Direction.IN]
    return found


def mention(office: Office, text: str = "help") -> SignedRequest:
    """A mention by somebody we know, signed now; Slack's server knows nothing of it."""
    event = {
        "type": "app_mention", "user": office.ann.id, "team": office.slack.team, "channel": office.ops.id,
        "ts": "1790000000.000100", "text": f"<@{office.slack.bot.id}> {text}",
    }  # fmt: skip
    payload: dict[str, object] = {
        "type": "event_callback", "team_id": office.slack.team, "event_id": "Ev1", "event": event,
        "authorizations": [{"team_id": office.slack.team, "user_id": office.slack.bot.id, "is_bot": True}],
    }  # fmt: skip
    return request_for("events_api", payload, SIGNING_SECRET, time())


async def test_the_whole_way_of_a_case_goes_over_signed_requests(over_http: Office) -> None:
    office = over_http
    office.answers(calls(("svc.restart", {"service": "nginx"})), says("It is up again."))
    asked = await office.asks()
    card = await office.card(asked)
    denied = await office.mallory.presses(card, "Approve")
    await office.whispered(office.mallory, "I do not know you")
    pressed = await office.kim.presses(card, "Approve")
    await office.shows(asked, "It is up again.")
    await office.slack.acked(denied, pressed)
    assert office.effects.made == ["restart nginx"]
    assert office.service.channels["slack"].connected
    assert office.slack.sockets.open() == []
    assert office.slack.calls("apps.connections.open") == []


async def test_a_modal_and_a_command_come_over_signed_requests_too(over_http: Office) -> None:
    office = over_http
    office.answers(calls(("svc.restart", {"service": "nginx"})), says("Then not."))
    asked = await office.asks()
    card = await office.card(asked)
    await office.kim.presses(card, "Deny")
    await office.kim.submits(await office.modal(office.kim), reason="at night")
    await office.shows(asked, "Then not.")
    assert "at night" in read(office.slack.posts(asked)[0])


def changed(request: SignedRequest, **headers: str) -> SignedRequest:
    """With these headers in place of its own; `_` stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return replace(request, headers={**request.headers, **named})


def signed_at(office: Office, seconds: float, secret: str = SIGNING_SECRET) -> SignedRequest:
    """The mention, signed at another time or with another secret."""
    return sign(mention(office).body, secret, time() + seconds, content_type=JSON)


def flipped(request: SignedRequest) -> SignedRequest:
    """One bit of one letter of the body is another; it is JSON still."""
    at = request.body.index(b"Ev1")
    return replace(request, body=request.body[:at] + bytes([request.body[at] ^ 1]) + request.body[at + 1 :])


def other_digit(request: SignedRequest) -> SignedRequest:
    """One hexadecimal digit of the signature is another."""
    good = request.headers["X-Slack-Signature"]
    return changed(request, X_Slack_Signature=good[:-1] + ("0" if good[-1] != "0" else "1"))


def without(request: SignedRequest, name: str) -> SignedRequest:
    """One header is missing."""
    return replace(request, headers={key: value for key, value in request.headers.items() if key != name})


REFUSED: dict[str, Callable[[Office], SignedRequest]] = {
    "one bit of the body": lambda office: flipped(mention(office)),
    "a byte more": lambda office: replace(mention(office), body=mention(office).body + b" "),
    "one digit of the signature": lambda office: other_digit(mention(office)),
    "no signature": lambda office: without(mention(office), "X-Slack-Signature"),
    "an empty signature": lambda office: changed(mention(office), X_Slack_Signature=""),
    "a signature that is no ASCII": lambda office: changed(mention(office), X_Slack_Signature="v0=\u00e4"),
    "no time": lambda office: without(mention(office), "X-Slack-Request-Timestamp"),
    "another time": lambda office: changed(mention(office), X_Slack_Request_Timestamp=str(int(time()) - 1)),
    "a time that is none": lambda office: changed(mention(office), X_Slack_Request_Timestamp="soon"),
    "a time in other digits": lambda office: changed(mention(office), X_Slack_Request_Timestamp="\u00b2"),
    "a negative time": lambda office: changed(mention(office), X_Slack_Request_Timestamp="-1"),
    "a time without end": lambda office: changed(mention(office), X_Slack_Request_Timestamp="9" * 400),
    "another secret": lambda office: signed_at(office, 0, "8f742231b10e8888abcd99yyyzzz85a6"),
    "garbage of nobody": lambda office: SignedRequest(b"\xff{", {"Content-Type": JSON}),
    "garbage, signed by somebody else": lambda office: sign(b"\xff{", "other", time(), content_type=JSON),
    "no UTF-8, though the signature is right": lambda office: sign(
        b'{"type": "\xff"}', SIGNING_SECRET, time(), content_type=JSON
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", REFUSED)
async def test_what_slack_has_not_signed_just_now_is_refused_and_nothing_of_it_is_read(
    over_http: Office, how: str
) -> None:
    status, text = await posted(over_http, REFUSED[how](over_http))
    assert (status, text) == (401, "This is not signed by Slack, or too old.")
    assert await heard(over_http) == []


@pytest.mark.parametrize("seconds", [0, -290, 290])
async def test_what_slack_has_signed_within_five_minutes_is_taken(over_http: Office, seconds: int) -> None:
    over_http.answers(says("Hello."))
    assert (await posted(over_http, signed_at(over_http, seconds)))[0] == 200
    assert await heard(over_http) == ["help"]


@pytest.mark.parametrize(("seconds", "taken"), [(299, True), (300, True), (301, False)])
@pytest.mark.parametrize("way", [-1, 1])
def test_five_minutes_to_the_second_both_ways(seconds: int, taken: bool, way: int) -> None:
    """https://docs.slack.dev/authentication/verifying-requests-from-slack: more than five minutes off is a replay."""
    signature, now = Signature(SIGNING_SECRET, lambda: 1_790_000_000.0), 1_790_000_000
    request = sign(b"{}", SIGNING_SECRET, now + way * seconds, content_type=JSON)
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert signature.signed(headers, request.body) is taken


@pytest.mark.parametrize(("more", "status"), [(0, 401), (1, 413)])
@pytest.mark.parametrize("says_how_long", [True, False])
async def test_a_body_that_is_longer_than_slack_sends_is_not_read_to_its_end(
    over_http: Office, more: int, status: int, says_how_long: bool
) -> None:
    """Before anything is known of who sends it."""
    body = b"x" * (MOST_BYTES + more)

    async def in_pieces() -> AsyncIterator[bytes]:
        yield body

    sent = BytesIO(body) if says_how_long else in_pieces()
    async with aiohttp.ClientSession() as session, session.post(over_http.url, data=sent) as response:
        assert response.status == status
    assert await heard(over_http) == []


async def test_a_request_that_is_played_back_within_its_time_is_one_message(over_http: Office) -> None:
    over_http.answers(says("Once."))
    recorded = mention(over_http)
    assert [(await posted(over_http, recorded))[0] for _ in range(3)] == [200, 200, 200]
    assert await heard(over_http) == ["help"]


async def test_slack_can_see_that_the_address_is_ours(over_http: Office) -> None:
    """https://docs.slack.dev/reference/events/url_verification"""
    challenge = {"type": "url_verification", "token": "t", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7"}
    asked = request_for("events_api", challenge, SIGNING_SECRET, time())
    status, text = await posted(over_http, asked)
    assert status == 200
    assert challenge["challenge"] in text
    assert (await posted(over_http, changed(asked, X_Slack_Signature="v0=0")))[0] == 401


async def test_what_cannot_be_taken_is_not_acknowledged_and_comes_again(
    over_http: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R29"""
    office, receive, failed = over_http, intake.receive, 0

    def failing(*args: object) -> object:
        nonlocal failed
        failed += 1
        if failed == 1:
            raise RuntimeError("a bug")
        return receive(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(intake, "receive", failing)
    office.answers(says("Once."))
    said = await office.ann.says(None, "help")
    assert not said.acked
    assert said.deliveries[0].attempts[0].status == 500
    await office.slack.advance(3)
    assert said.acked
    await office.shows(said.message, "Once.")
    assert await heard(office) == ["help"]


async def test_while_the_channel_is_stopped_slack_is_asked_to_come_again(over_http: Office) -> None:
    await over_http.service.channels["slack"].stop()
    assert (await posted(over_http, mention(over_http)))[0] == 503
    assert not over_http.service.channels["slack"].connected
    assert await heard(over_http) == []


async def test_over_a_socket_there_is_no_address_that_anybody_could_post_to(office: Office) -> None:
    async with serving(office.service, "127.0.0.1", 0) as port:
        office.url = f"http://127.0.0.1:{port}/slack/events"
        assert (await posted(office, mention(office)))[0] == 404


@pytest.mark.parametrize("secret", ["", "   "])
def test_an_empty_signing_secret_which_anybody_could_sign_with_is_no_secret(secret: str) -> None:
    """R24"""
    with pytest.raises(ValueError, match="must not be empty"):
        Signature(secret)
    with pytest.raises(ValueError, match="must not be empty"):
        SlackChannel(SlackLogin(BOT_TOKEN, ["T1"], signing_secret=secret))


def test_without_either_secret_there_is_no_channel() -> None:
    with pytest.raises(ValueError, match="app token, or a signing secret"):
        SlackChannel(SlackLogin(BOT_TOKEN, ["T1"]))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"mode": "http"}, "slack.bot_token is missing"),
        ({"mode": "http", "bot_token": BOT_TOKEN}, "slack.signing_secret is missing"),
        ({"mode": "http", "bot_token": BOT_TOKEN, "app_token": "xapp-1"}, "slack.signing_secret is missing"),
        ({"mode": "http", "bot_token": BOT_TOKEN, "signing_secret": " "}, "slack.signing_secret: is empty"),
        ({"mode": "http", "signing_secret": SIGNING_SECRET}, "slack.bot_token is missing"),
        ({"bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET}, "slack.app_token is missing"),
        ({"mode": "https", "bot_token": BOT_TOKEN}, "slack.mode"),
    ],
)
def test_settings_that_are_not_whole_do_not_start_and_say_what_is_missing(
    tmp_path: Path, given: dict[str, str], why: str
) -> None:
    (tmp_path / "casebound.toml").write_text("[slack]\n" + "".join(f"{k} = {v!r}\n" for k, v in given.items()))
    with pytest.raises(SettingsError) as refused:
        load(tmp_path / "casebound.toml")
    assert why in str(refused.value)
    assert SIGNING_SECRET not in str(refused.value)


async def test_the_channel_of_http_mode_is_made_from_the_settings(tmp_path: Path) -> None:
    slack = Slack.model_validate(
        {"mode": "http", "bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET, "teams": ["T1"]}
    )
    settings = Settings(service=ServiceSection(db=tmp_path / "c.db"), slack=slack)
    (channel,) = app.configured(settings).values()
    assert isinstance(channel, SlackChannel)
    assert channel.webhook is not None
    assert channel.webhook.path == "/slack/events"
    assert SIGNING_SECRET in settings.secrets()
    assert SIGNING_SECRET not in repr(app.slack_login(settings))
