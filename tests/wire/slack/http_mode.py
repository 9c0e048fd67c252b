"""HTTP mode: what Slack tells the app is posted to it, signed.

https://docs.slack.dev/apis/events-api/#request-urls
"""

import json
from typing import cast

from aiohttp import ClientError, ClientSession

from tests.wire.slack.deliveries import Attempt, Deliveries, Delivery
from tests.wire.slack.payload import Json
from tests.wire.slack.signatures import request_for
from tests.wire.slack.workspace import Workspace


class HttpMode:
    """Posts to `url`. A status of 200 is the acknowledgement, its body the answer."""

    def __init__(self, workspace: Workspace, deliveries: Deliveries, url: str, secret: str) -> None:
        self._workspace = workspace
        self._deliveries = deliveries
        self._url = url
        self._secret = secret
        self._session = ClientSession()

    async def carry(self, delivery: Delivery, attempt: Attempt) -> None:
        """One request; whatever is not a 200 is no acknowledgement."""
        request = request_for(
            delivery.kind, delivery.payload, self._secret, self._workspace.clock.now(), retry=attempt.number
        )  # fmt: skip
        attempt.by = self._url
        try:
            async with self._session.post(self._url, data=request.body, headers=request.headers) as response:
                attempt.status = response.status
                text = await response.text()
        except ClientError:
            return
        if attempt.status == 200:
            is_json = response.content_type == "application/json" and text
            answer = cast("Json", json.loads(text)) if is_json else {"text": text} if text else {}
            self._deliveries.acknowledge(attempt.envelope_id, answer)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._session.close()
