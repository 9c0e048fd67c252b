"""Guests of a workspace get what the settings say, and by default nothing (R20)."""

from __future__ import annotations

import pytest

from casestore import cases, principals
from casestore.scope import System
from casestore.states import Role
from casestore.tx import Tx
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.wire.slack.member import Member
from tests.wire.slack.people import Standing


def guest(office: Office, standing: Standing = Standing.GUEST) -> Member:
    """Somebody who was invited into the room alone."""
    member = office.slack.member("gil", standing=standing)
    office.ops.members.add(member.id)
    return member


async def known(office: Office) -> set[str]:
    """The names of everybody known."""
    return {one.name for one in await office.service.store.read(principals.listing)}


@pytest.mark.parametrize("standing", [Standing.GUEST, Standing.ONE_ROOM_GUEST])
async def test_a_guest_does_not_exist_where_strangers_are_let_in(office: Office, standing: Standing) -> None:
    gil = guest(office, standing)
    await office.let_strangers_in()
    before = await known(office)
    said = await gil.mentions(office.ops, "help")
    ran = await gil.runs("/case", "open help", room=office.ops)
    used = await gil.uses("open_case", said)
    await office.slack.acked(*said.deliveries, ran, used)
    await office.whispered(gil, "I do not know you")  # what a command is always answered with
    assert await office.service.store.read(cases.listing, System()) == []
    assert await known(office) == before
    office.answers(says("Hello."))
    await office.shows(await office.asks("help", by=office.mallory), "Hello.")


async def test_guests_are_let_in_where_the_settings_say_so_and_slack_is_not_even_asked(office: Office) -> None:
    gil = guest(office)
    await office.let_strangers_in("requester")
    office.answers(says("Hello."))
    await office.shows(await office.asks("help", by=gil), "Hello.")
    assert office.slack.calls("users.info") == []


async def test_a_guest_whom_an_operator_has_bound_is_known_like_anybody(office: Office) -> None:
    gil = guest(office)
    await office.let_strangers_in()

    def bind(tx: Tx) -> None:
        added = principals.add(tx, 1, tenant="local", name="gil", role=Role.REQUESTER)
        principals.bind(
            tx, 1, added.id, channel="slack", space=office.slack.team, account_id=gil.id, bound_by=None
        )  # fmt: skip

    await office.service.store.write(bind)
    office.answers(says("Hello gil."))
    await office.shows(await office.asks("help", by=gil), "Hello gil.")


async def test_where_slack_does_not_say_nobody_new_is_let_in_yet_and_whoever_is_known_is_heard(office: Office) -> None:
    """R24, R29: what an unknown person wrote is not acknowledged, so that it comes again."""
    await office.let_strangers_in()
    office.slack.fail_next("users.info", error="internal_error", times=None)
    said = await office.mallory.mentions(office.ops, "help")
    office.answers(says("Hello ann."))
    await office.shows(await office.asks(), "Hello ann.")
    assert len(await office.service.store.read(cases.listing, System())) == 1
    assert not any(delivery.acked for delivery in said.deliveries)
    office.slack.heal("users.info")
    office.answers(says("Hello mallory."))
    await office.slack.advance(3)
    await office.shows(said.message, "Hello mallory.")
    await office.slack.acked(*said.deliveries)


async def test_a_guest_who_wrote_while_nobody_listened_is_not_let_in_by_catching_up(office: Office) -> None:
    gil = guest(office)
    await office.let_strangers_in()
    office.answers(says("Hello."))
    thread = await office.asks()
    await office.shows(thread, "Hello.")
    before = await known(office)
    await office.close()
    gil.writes(office.ops, "let me in", thread=thread)
    office.ann.writes(office.ops, "and me", thread=thread)
    office.answers(says("I have read it."))
    await office.open()
    await office.shows(thread, "I have read it.")
    assert await known(office) == before


async def test_slack_is_asked_once_an_hour_and_only_where_it_matters(office: Office) -> None:
    office.answers(says("One."))
    await office.shows(await office.asks(), "One.")
    assert office.slack.calls("users.info") == []
    await office.let_strangers_in()
    office.answers(says("Two."), says("Three."))
    second = await office.asks("again")
    await office.shows(second, "Two.")
    await office.ann.says(office.ops, "and again", thread=second)
    await office.shows(second, "Three.")
    assert len(office.slack.calls("users.info")) == 1


@pytest.mark.parametrize("error", ["user_not_found", "user_not_visible", "missing_scope"])
async def test_somebody_of_whom_slack_never_tells_is_a_guest_and_stops_nobody_behind_them(
    office: Office, error: str
) -> None:
    await office.let_strangers_in()
    office.answers(says("Hello."))
    thread = await office.asks()
    await office.shows(thread, "Hello.")
    before = await known(office)
    await office.close()
    office.mallory.writes(office.ops, "let me in", thread=thread)
    office.ann.writes(office.ops, "and me", thread=thread)
    office.slack.fail_next("users.info", error=error, times=None)
    office.answers(says("I have read it."))
    await office.open()
    await office.shows(thread, "I have read it.")
    assert await known(office) == before


async def test_who_is_let_in_is_shown_by_their_name_in_slack_and_by_what_nobody_else_has(
    office: Office,
) -> None:
    """An approver reads for whom something is asked; two of one name are two (R20)."""
    await office.let_strangers_in()
    before = await known(office)
    for number in (1, 2):
        pat = office.slack.member("pat \u202e by")
        office.ops.members.add(pat.id)
        office.answers(says("Hello."))
        await office.shows(await office.asks(f"{number}. help", by=pat), "Hello.")
    names = await known(office) - before
    assert len(names) == 2
    assert all(name.startswith("pat_by@slack-") for name in names)
