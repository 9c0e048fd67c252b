"""A program that Slack shows as a person, or that says what somebody told it to, has nobody's rights (R20, R23)."""

from __future__ import annotations

import pytest

from casestore import cases, leases, messages, principals
from casestore.models import Case
from casestore.scope import System
from casestore.states import LeaseKind
from casestore.tx import Tx
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.wire.slack import events
from tests.wire.slack.member import Member
from tests.wire.slack.payload import Json
from tests.wire.slack.rooms import Message

_SLACKBOT = "USLACKBOT"


async def told(office: Office, by: Member, text: str, thread: Message | None, shape: Json) -> None:
    """The app is told of a message in the room that looks like this; `None` in it: that is not there."""
    workspace = office.slack.workspace
    said = by.writes(office.ops, text, thread=thread)
    event = {**events.message(workspace, said), **shape}
    event = {key: value for key, value in event.items() if value is not None}
    wrapped = events.callback(workspace, event, workspace.id("Ev"), office.ops)
    await office.slack.acked(await office.slack.deliveries.send("events_api", wrapped))


async def all_cases(office: Office) -> list[Case]:
    return await office.service.store.read(cases.listing, System())


SHAPES: dict[str, Json] = {
    "with the app's id alone": {"app_id": "A0OTHER00", "client_msg_id": None},
    "with the bot's profile alone": {"bot_profile": {"id": "B0OTHER00", "app_id": "A0OTHER00"}, "client_msg_id": None},
    "as a bot_message of nobody's": {"subtype": "bot_message", "username": "kim", "client_msg_id": None},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_an_app_that_posts_with_an_operators_token_is_not_that_operator(office: Office, shape: Json) -> None:
    """What an operator writes there takes the case over; an app that nobody has bound is not even heard."""
    office.answers(says("Hello."))
    thread = await office.asks()
    await office.shows(thread, "Hello.")
    await told(office, office.kim, "all done here", thread, shape)
    case = await office.only_case()
    assert (await office.service.store.read(leases.of_case, case.id)).kind is not LeaseKind.HUMAN
    assert len(await office.service.store.read(messages.of_case, System(), case.id)) == 2


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_it_gives_no_command_in_their_name_either(office: Office, shape: Json) -> None:
    office.answers(says("Hello."))
    thread = await office.asks()
    await office.shows(thread, "Hello.")
    await told(office, office.kim, f"<@{office.slack.bot.id}> /case take", thread, shape)
    case = await office.only_case()
    assert (await office.service.store.read(leases.of_case, case.id)).kind is not LeaseKind.HUMAN


async def test_a_reminder_that_slackbot_speaks_opens_no_case_where_strangers_are_let_in(office: Office) -> None:
    """Else an operator who may not approve what they have asked for lets Slackbot ask (R5)."""
    await office.let_strangers_in("requester")
    before = await office.service.store.read(principals.listing)
    slackbot: Json = {"user": _SLACKBOT, "client_msg_id": None}
    await told(office, office.kim, f"<@{office.slack.bot.id}> restart the shop", None, slackbot)
    assert await all_cases(office) == []
    assert await office.service.store.read(principals.listing) == before


@pytest.mark.parametrize("shape", [{"bot_id": True}, {"bot_profile": True}, {"user": True}], ids=str)
async def test_our_own_words_are_ours_by_whatever_they_are_known(office: Office, shape: Json) -> None:
    """Also where an operator has bound us to somebody by mistake, or strangers are let in."""
    await office.let_strangers_in("requester")
    bot = office.slack.bot
    known: Json = {"bot_id": bot.bot_id, "bot_profile": {"id": bot.bot_id, "name": "casebound"}, "user": bot.id}

    def bind(tx: Tx) -> None:
        kim = principals.by_name(tx, "kim")
        principals.bind(
            tx, 1, kim.id, channel="slack", space=office.slack.team, account_id=bot.bot_id, bound_by=None
        )  # fmt: skip

    await office.service.store.write(bind)
    ours: Json = {"client_msg_id": None, "user": None, **{key: known[key] for key in shape}}
    await told(office, office.kim, f"<@{bot.id}> again", None, ours)
    assert await all_cases(office) == []
