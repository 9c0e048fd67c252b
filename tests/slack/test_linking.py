"""A person lets their account in Slack speak for them, by a code that they were given."""

from __future__ import annotations

import pytest

from bot.people import linking
from casestore import linking as links
from casestore import messages, principals
from casestore.models import LinkCode, Principal
from casestore.scope import System
from casestore.states import Role
from casestore.tx import Tx
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.reading import read
from tests.wire.slack.member import Member

CODE = "CB-7K3M-Q9XT-2VHB-D4NR"


async def given(office: Office) -> LinkCode:
    """An admin has made a code for max, who is an operator."""

    def made(tx: Tx, now: int) -> LinkCode:
        ada = principals.add(tx, now, tenant="local", name="ada", role=Role.ADMIN)
        principals.add(tx, now, tenant="local", name="max", role=Role.OPERATOR)
        return linking.make(tx, now, ada, "max", CODE, via="cli").row

    return await office.service.store.write(made, office.clock.now())


async def whose(office: Office, who: Member) -> Principal | None:
    return await office.service.store.read(principals.by_account, "slack", office.slack.team, who.id)


@pytest.mark.parametrize("direct", [False, True])
async def test_whoever_sends_the_code_is_known_from_then_on(office: Office, direct: bool) -> None:
    made = await given(office)
    await office.mallory.runs("/case", f"link {CODE.lower()}", room=None if direct else office.ops)
    await office.whispered(office.mallory, "Your account speaks for max from now on")
    who = await whose(office, office.mallory)
    assert who is not None
    assert who.name == "max"
    ((row, _),) = await office.service.store.read(links.listing, tenant="local")
    room = office.slack.direct(office.mallory) if direct else office.ops
    assert (row.id, row.account) == (made.id, f"slack/{office.slack.team}/{office.mallory.id}")
    assert row.used_from == f"slack:{office.slack.team}/{room.id}"
    assert office.slack.posts(office.ops) == []


async def test_an_account_of_somebody_else_is_refused_and_says_what_to_do(office: Office) -> None:
    await given(office)
    await office.ann.runs("/case", f"link {CODE}", room=office.ops)
    await office.whispered(office.ann, "Your account speaks for ann already.")
    await office.mallory.runs("/case", f"link {CODE}", room=office.ops)
    await office.whispered(office.mallory, "Your account speaks for max")


async def test_a_code_that_is_typed_where_others_read_it_is_kept_out_told_once_and_counts_no_longer(
    office: Office,
) -> None:
    await given(office)
    office.answers(says("Hello."))
    asked = await office.asks("the shop is down")
    await office.shows(asked, "Hello.")
    await office.slack.acked(*(await office.ann.mentions(office.ops, f"it is {CODE}", thread=asked)).deliveries)
    await office.whispered(office.ann, "use /case link.")
    await office.slack.acked(*(await office.kim.mentions(office.ops, f"/case link {CODE}", thread=asked)).deliveries)
    await office.whispered(office.kim, "use /case link.")
    for who in (office.ann, office.kim):
        (told,) = office.slack.whispers(who)
        assert "7K3M" not in told.text
    case = await office.only_case()
    kept = await office.service.store.read(messages.of_case, System(), case.id)
    assert [message.text for message in kept] == ["the shop is down", "Hello."]
    assert [read(said) for said in office.slack.posts(asked)] == ["Hello."]
    assert len(office.model.sent) == 1
    await office.mallory.runs("/case", f"link {CODE}", room=office.ops)
    await office.whispered(office.mallory, "That code is not good.")
    assert await whose(office, office.mallory) is None


async def test_somebody_of_a_workspace_that_is_not_listed_cannot_use_a_code(office: Office) -> None:
    """Slack offers our slash commands to nobody else's people; a message is the way that is left to them."""
    await given(office)
    pat = office.slack.member("pat", team="T0OTHER")
    office.ops.members.add(pat.id)
    said = await pat.mentions(office.ops, f"/case link {CODE}")
    await office.slack.acked(*said.deliveries)
    await office.mallory.runs("/case", f"link {CODE}", room=office.ops)
    await office.whispered(office.mallory, "Your account speaks for max")
    assert office.slack.whispers(pat) == []
