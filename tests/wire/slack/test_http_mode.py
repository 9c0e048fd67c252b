"""HTTP mode: signed requests, which the real Bolt app checks."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from time import time

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from tests.wire.slack.bolt_app import Heard, bolt
from tests.wire.slack.server import SIGNING_SECRET, SlackServer
from tests.wire.slack.signatures import SignedRequest, request_for, sign


@asynccontextmanager
async def served(app: AsyncApp) -> AsyncGenerator[str]:
    """The app behind an address of its own."""

    async def handle(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    site = web.Application()
    site.router.add_post("/slack/events", handle)
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


async def test_everything_can_be_told_by_signed_requests(slack: SlackServer) -> None:
    heard, kim = Heard(), slack.member("kim")
    room = slack.room("ops", kim)
    slack.clock.advance(time() - slack.clock.now())
    async with served(bolt(slack, heard, signed=True)) as url:
        slack.speaks_http(url)
        said = await kim.mentions(room, "help")
        used = await kim.uses("open_case", said)
        ran = await kim.runs("/case", "list", room=room)
    assert said.acked
    assert used.acked
    assert ran.acked
    assert [body.get("type") or body.get("command") for body in heard.bodies] == [
        "event_callback", "event_callback", "message_action", "/case",
    ]  # fmt: skip


async def test_an_answer_other_than_200_brings_it_again_with_its_number(slack: SlackServer) -> None:
    heard, kim = Heard(failing=1), slack.member("kim")
    slack.clock.advance(time() - slack.clock.now())
    async with served(bolt(slack, heard, signed=True)) as url:
        slack.speaks_http(url)
        said = await kim.says(slack.room("ops", kim), "help")
        assert said.deliveries[0].attempts[0].status == 500
        await slack.advance(3)
        assert said.acked
    assert heard.retries == ["1"]


async def test_nobody_at_the_address_is_no_acknowledgement(slack: SlackServer) -> None:
    kim = slack.member("kim")
    slack.speaks_http("http://127.0.0.1:9/slack/events")
    said = await kim.says(slack.room("ops", kim), "help")
    assert not said.acked


async def posted(url: str, request: SignedRequest) -> int:
    """The status that a request is answered with."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=request.body, headers=request.headers) as response,
    ):
        return response.status


def flipped(request: SignedRequest) -> SignedRequest:
    """One bit of one letter of the body is another; it is JSON still."""
    at = request.body.index(b"Ev1")
    return replace(request, body=request.body[:at] + bytes([request.body[at] ^ 1]) + request.body[at + 1 :])


def without(request: SignedRequest, header: str) -> SignedRequest:
    """One header is missing."""
    return replace(request, headers={k: v for k, v in request.headers.items() if k != header})


@pytest.mark.parametrize("change", ["nothing", "body", "signature", "timestamp", "secret", "old", "no signature"])
async def test_the_real_client_takes_our_signature_and_nothing_else(slack: SlackServer, change: str) -> None:
    now = time()
    payload = {"type": "event_callback", "event": {"type": "message", "text": "ü 😀"}, "event_id": "Ev1"}
    request = request_for("events_api", payload, "other" if change == "secret" else SIGNING_SECRET, now)
    if change == "body":
        request = flipped(request)
    elif change == "signature":
        good = request.headers["X-Slack-Signature"]
        request = replace(request, headers={**request.headers, "X-Slack-Signature": good[:-1] + "g"})
    elif change == "timestamp":
        request = replace(request, headers={**request.headers, "X-Slack-Request-Timestamp": str(int(now) + 1)})
    elif change == "old":
        request = sign(request.body, SIGNING_SECRET, now - 301, content_type="application/json")
    elif change == "no signature":
        request = without(request, "X-Slack-Signature")
    heard = Heard()
    async with served(bolt(slack, heard, signed=True)) as url:
        assert await posted(url, request) == (200 if change == "nothing" else 401)
    assert len(heard.bodies) == (1 if change == "nothing" else 0)
    assert SignatureVerifier(SIGNING_SECRET).is_valid_request(request.body, request.headers) is (change == "nothing")


async def test_bolt_reads_a_body_before_it_checks_who_signed_it(slack: SlackServer) -> None:
    """So that a stranger's garbage is an exception, not a 401: channels/slack checks the bytes itself, first."""
    request = sign(b"{", "other", time(), content_type="application/json")
    async with served(bolt(slack, Heard(), signed=True)) as url:
        assert await posted(url, request) == 500
