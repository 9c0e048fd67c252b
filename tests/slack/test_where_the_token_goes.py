"""The bot's token is shown to Slack alone, whatever an address of a file says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from casestore.models import File
from casestore.states import FileState
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.test_files import copies, settled
from tests.wire.slack.files import DOWNLOAD
from tests.wire.slack.workspace import Shared


class Elsewhere:
    """Another host, which notes who comes and with what."""

    def __init__(self) -> None:
        self.came: list[str] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.Response:
        """Give a file to anybody."""
        self.came.append(f"{request.path} {request.headers.get('Authorization', '')}")
        return web.Response(body=b"bait", content_type="image/png")


@pytest.fixture
async def elsewhere() -> AsyncIterator[Elsewhere]:
    """Its server is running."""
    made, app = Elsewhere(), web.Application()
    app.router.add_route("*", "/{tail:.*}", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


async def refused(office: Office, file: Shared) -> File:
    """Ann attaches it, and it is not kept."""
    office.answers(says("I see."))
    said = await office.ann.says(None, "look", files=[file])
    await office.shows(said.message, "I see.")
    (found,) = await settled(office, FileState.REFUSED)
    assert await copies(office) == []
    return found


async def test_a_redirect_is_not_followed(office: Office, elsewhere: Elsewhere) -> None:
    file = office.ann.shares("a.png", b"bait", "image/png")
    file.redirects_to = f"{elsewhere.url}/a.png"
    found = await refused(office, file)
    assert "files:read" in str(found.reason)
    assert len(office.slack.calls(DOWNLOAD)) == 1
    assert elsewhere.came == []


@pytest.mark.parametrize(
    "address", ["{elsewhere}", "http://{slack}@{host}", "http://{host}\\@{slack}", "http://me:secret@{slack}"]
)
async def test_a_link_that_leads_elsewhere_or_as_somebody_else_is_not_followed(
    office: Office, elsewhere: Elsewhere, address: str
) -> None:
    slack, host = (urlsplit(url).netloc for url in (office.slack.api_url, elsewhere.url))
    file = office.ann.shares("a.png", b"bait", "image/png")
    file.address = address.format(elsewhere=elsewhere.url, slack=slack, host=host)
    found = await refused(office, file)
    assert "address" in str(found.reason) or "outside of Slack" in str(found.reason)
    assert elsewhere.came == []
    assert office.slack.calls(DOWNLOAD) == []
