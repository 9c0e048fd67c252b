"""Modals and the App Home.

https://docs.slack.dev/reference/views
"""

import json
from dataclasses import dataclass, field
from typing import cast

from tests.wire.slack.blocks import MOST_IN_VIEW, VIEW, check
from tests.wire.slack.elements import plain
from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.people import Person
from tests.wire.slack.shapes import Misshapen, anything, boolean, by_type, shape, string

# reference/views/home-tab-views: private_metadata 3,000, callback_id 255, external_id 255.
EVERY_VIEW = {
    "private_metadata": string(3000, 0), "callback_id": string(255), "external_id": string(255, 0),
}  # fmt: skip
KINDS = by_type({
    # reference/views/modal-views: title, close and submit are plain text of at most 24 characters.
    "modal": shape(
        {"title": plain(24), "blocks": anything},
        {
            "close": plain(24), "submit": plain(24), "clear_on_close": boolean, "notify_on_close": boolean,
            "submit_disabled": boolean, **EVERY_VIEW,
        },
    ),
    "home": shape({"blocks": anything}, EVERY_VIEW),
})  # fmt: skip

# https://docs.slack.dev/reference/methods/views.open#errors: "greater than 250kb".
MOST_BYTES = 250_000


@dataclass(eq=False)
class View:
    """What a person has before them. `errors` are those an app has answered a submission with."""

    id: str
    person: Person
    content: Json
    hash: str
    closed: bool = False
    errors: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def blocks(self) -> list[Json]:
        """Its blocks."""
        return cast("list[Json]", self.content["blocks"])

    def as_json(self, team: str, app: str, bot: str, values: Json | None = None) -> Json:
        """As Slack gives it back: with what it adds, and what the person has entered."""
        return {
            **{"private_metadata": "", "callback_id": "", "external_id": "", "close": None, "submit": None},
            **self.content,
            "id": self.id, "team_id": team, "app_id": app, "app_installed_team_id": team, "bot_id": bot,
            "state": {"values": values or {}}, "hash": self.hash, "root_view_id": self.id, "previous_view_id": None,
        }  # fmt: skip


def check_view(value: object, *kinds: str) -> Json:
    """The view, as an object, or `invalid_arguments`, `view_too_large`."""
    view = cast("object", json.loads(value)) if isinstance(value, str) else value
    try:
        KINDS(view, "/view")
        content = cast("Json", view)
        if content["type"] not in kinds:
            raise Misshapen(f"must be one of {', '.join(kinds)}", "/view/type")
        if not isinstance(content["blocks"], list):
            raise Misshapen("must be an array", "/view/blocks")
        blocks = cast("list[Json]", content["blocks"])
        check(blocks, VIEW, MOST_IN_VIEW, "/view/blocks")
        # reference/views/modal-views: "submit is required when an input block is within the blocks array".
        if content["type"] == "modal" and "submit" not in content and any(b["type"] == "input" for b in blocks):
            raise Misshapen("submit is required when an input block is present", "/view")
    except Misshapen as wrong:
        raise Refused("invalid_arguments", str(wrong)) from wrong
    if len(json.dumps(content).encode()) > MOST_BYTES:
        raise Refused("view_too_large")
    return with_names(content)


def with_names(content: Json) -> Json:
    """Every block with a block_id and every element with an action_id, as Slack adds them where there are none."""
    blocks: list[Json] = []
    for index, block in enumerate(cast("list[Json]", content["blocks"])):
        named = {"block_id": f"b{index}", **block}
        if block["type"] == "actions":
            named["elements"] = [{"action_id": f"a{n}", **element} for n, element in enumerate(block["elements"])]
        for part in ("accessory", "element"):
            if part in block:
                named[part] = {"action_id": "a0", **block[part]}
        blocks.append(named)
    return {**content, "blocks": blocks}
