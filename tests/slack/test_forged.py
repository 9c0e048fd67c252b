"""What Slack would never send, and what somebody makes up: it decides nothing, and the service goes on (R5, R23)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator

import pytest

from casestore.states import GateState
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.wire.slack import events
from tests.wire.slack.payload import Json
from tests.wire.slack.rooms import Message

_JUNK: tuple[object, ...] = (None, 7, -1.5, True, "", "x" * 5_000, [], {}, [None], {"a": {"b": []}}, "\ud800", "\uff11")


@pytest.fixture
async def asked(office: Office) -> tuple[Message, Message]:
    """A thread in which a restart waits for a decision, and its card."""
    office.answers(calls(("svc.restart", {"service": "shop"})), says("It is back."))
    thread = await office.asks()
    return thread, await office.card(thread)


async def decides_after_all(office: Office, card: Message, thread: Message) -> None:
    """The service is well: nothing was decided, and an operator still can."""
    assert (await office.gate()).state is GateState.OPEN
    assert office.effects.made == []
    await office.kim.presses(card, "gate_approve")
    await office.shows(thread, "It is back.")
    assert office.effects.made == ["restart shop"]


def no_traceback(caplog: pytest.LogCaptureFixture) -> bool:
    """Whether nothing was logged with a traceback, and no token."""
    told = [record for record in caplog.records if record.name.startswith(("casebound", "channels", "bot"))]
    return not any(record.exc_info for record in told) and "xoxb-" not in caplog.text and "xapp-" not in caplog.text


@pytest.mark.parametrize(
    "value",
    [
        "gate:2:approve:{digest}", "gate:1:approve:00000000", "gate:1:approved:{digest}", "gate:1:happened:{digest}",
        "gate:\u0661:approve:{digest}", "gate:999999999999999999999:approve:{digest}", "gate:-1:approve:{digest}",
        "gate:1:approve:{digest}\n", " gate:1:approve:{digest}", "gate:1:approve", "", "approve", None, 1,
    ],
)  # fmt: skip
async def test_a_button_with_a_made_up_value_decides_nothing(
    office: Office, asked: tuple[Message, Message], value: object
) -> None:
    thread, card = asked
    payload = _press(office, card)
    digest = (await office.gate()).digest_shown[:8]
    payload["actions"][0]["value"] = value.format(digest=digest) if isinstance(value, str) else value
    await office.slack.acked(await office.slack.deliveries.send("interactive", payload))
    await decides_after_all(office, card, thread)


async def test_a_button_of_another_workspaces_person_decides_nothing(
    office: Office, asked: tuple[Message, Message]
) -> None:
    """The id is an operator's here: it is somebody else's there (R20)."""
    thread, card = asked
    payload = _press(office, card)
    payload["user"]["team_id"] = payload["team"]["id"] = "TOTHER000"
    await office.slack.acked(await office.slack.deliveries.send("interactive", payload))
    await decides_after_all(office, card, thread)


@pytest.mark.parametrize(
    "held",
    [
        {"gate_id": 99}, {"verb": "approve"}, {"digest8": "00000000"}, {"account": {"channel": "slack"}}, {"more": 1},
        {"platform_id": None}, {"address": "slack:T/C/1"}, None, "no json", "[]", "7",
    ],
)  # fmt: skip
async def test_a_modal_that_says_something_made_up_approves_nothing(
    office: Office, asked: tuple[Message, Message], held: Json | str | None
) -> None:
    """Its `private_metadata` comes back through the client of whoever was asked: it is judged like a press."""
    thread, card = asked
    await office.kim.presses(card, "gate_deny")
    view = await office.modal(office.kim)
    before = json.loads(str(view.content["private_metadata"]))
    view.content["private_metadata"] = (
        held if isinstance(held, str) else json.dumps(None if held is None else {**before, **held})
    )
    await office.slack.acked(await office.ann.submits(view, reason="mine"))
    await decides_after_all(office, card, thread)


def mangled(event: Json) -> Iterator[Json]:
    """The event with one field left out, or with something else in it."""
    for key in event:
        yield {name: value for name, value in event.items() if name != key}
        for junk in _JUNK:
            yield {**event, key: junk}


@pytest.mark.parametrize("kind", ["message", "app_mention", "message_changed", "message_deleted", "channel_archive"])
async def test_an_event_in_which_anything_is_missing_or_of_another_kind_breaks_nothing(
    office: Office, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    office.answers(says("Hello."))
    thread = await office.asks("hi")
    await office.shows(thread, "Hello.")
    said = {"type": "message", "user": office.mallory.id, "text": "psst", "ts": "1790000000.000100",
            "channel": "CNOWHERE0", "team": office.slack.team, "event_ts": "1790000000.000100"}  # fmt: skip
    made: dict[str, Json] = {
        "message": said,
        "app_mention": {
            **said,
            "type": "app_mention",
            "text": f"<@{office.slack.bot.id}> psst",
            "files": [{"id": "F1"}],
        },
        "message_changed": {**said, "subtype": kind, "message": {**said, "text": "new"}, "previous_message": said},
        "message_deleted": {**said, "subtype": kind, "deleted_ts": said["ts"], "previous_message": said},
        "channel_archive": {"type": kind, "channel": "CNOWHERE0", "user": office.mallory.id, "event_ts": said["ts"]},
    }
    wrap: Callable[[Json], Json] = lambda event: events.callback(  # noqa: E731 - short
        office.slack.workspace, event, office.slack.workspace.id("Ev"), office.ops
    )
    with caplog.at_level(logging.INFO):
        for event in mangled(made[kind]):
            await office.slack.deliveries.send("events_api", wrap(event))
        office.answers(says("Still here."))
        await office.ann.says(office.ops, "are you there?", thread=thread)
        await office.shows(thread, "Still here.")
    assert (await office.only_case()).title == "hi"
    assert no_traceback(caplog)


async def test_an_edit_and_a_deletion_of_what_nobody_holds_change_nothing(office: Office) -> None:
    office.answers(says("Hello."))
    thread = await office.asks("hi")
    await office.shows(thread, "Hello.")
    said = await office.mallory.says(office.ops, "not for the bot")
    await office.slack.acked(*(await office.mallory.edits(said, "edited")))
    await office.slack.acked(*(await office.mallory.deletes(said)))
    assert (await office.only_case()).title == "hi"


def _press(office: Office, card: Message) -> Json:
    """What Slack sends when kim presses Approve, not sent yet."""
    return office.kim.pressing(card, "gate_approve")
