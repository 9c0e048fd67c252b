"""Whoever follows a link, a crawler or a preview, with the token or without: nothing is decided by it."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from bot.web.application import application
from tests.api.rig import Served

CRAWLER = {"User-Agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"}


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_no_address_of_ours_decides_anything_when_it_is_only_looked_at(
    web: Served, db: Path, method: str
) -> None:
    gate = await web.gate()
    before = content(db)
    digest = str(gate["digest_shown"])
    addresses = [
        path.format(case=gate["case"], gate=gate["id"], run=1, file=1, name="kim")
        for path in application(web.service).openapi()["paths"]
    ]
    addresses += [f"/api/v1/gates/{gate['id']}/{verb}" for verb in ("approve", "deny", "revise", "decide")]
    addresses += ["/alerts/alertmanager", "/healthz", "/readyz", "/metrics", "/"]
    for address in addresses:
        for client in (web.api, web.anybody):
            for query in ("", f"?verb=approve&digest={digest}", f"?_method=POST&verb=approve&digest={digest}"):
                async with client.stream(method, address + query, headers=CRAWLER) as answer:
                    assert answer.status_code < 500
                    begins = [piece async for piece in until_an_event(answer)]  # one that goes on is left
                    assert method != "HEAD" or begins == []
    overridden = {**CRAWLER, "X-HTTP-Method-Override": "POST"}
    await web.api.request(method, f"/api/v1/gates/{gate['id']}/decide?verb=approve", headers=overridden)
    assert (await web.get(f"/gates/{gate['id']}"))["state"] == "open"
    assert content(db) == before


async def until_an_event(answer: httpx.Response) -> AsyncIterator[bytes]:
    """What is answered, but of a stream without end only how it begins."""
    async for piece in answer.aiter_raw():
        yield piece
        if answer.headers["content-type"].startswith("text/event-stream"):
            return


def content(db: Path) -> list[str]:
    """Every row of every table."""
    raw = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        return list(raw.iterdump())
    finally:
        raw.close()
