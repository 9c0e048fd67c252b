"""A person's own page in Slack: what waits for them, their cases, and what wants an operator."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casestore import cases, leases, principals
from casestore.scope import System
from casestore.states import LeaseKind, WaitingOn
from casestore.tx import Tx
from channels.address import Account
from channels.home import CaseLine, Home, Waiting
from channels.slack import home
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import texts
from tests.wire.slack.blocks import MOST_IN_VIEW, VIEW, check
from tests.wire.slack.member import Member
from tests.wire.slack.payload import Json
from tests.wire.slack.rooms import Message
from tests.wire.slack.views import View

RESTART = ("svc.restart", {"service": "shop"})


async def page(office: Office, of: Member, words: str = "") -> View:
    """What somebody sees, once it shows these words."""
    return await office.until(
        lambda: of.home if of.home is not None and words in "\n".join(texts(of.home.blocks)) else None,
        f"{words!r} on the page; there is {texts(of.home.blocks) if of.home else None}",
    )


def pressable(view: View) -> list[str]:
    """What it lets one press, by its words."""
    actions = [block for block in view.blocks if block["type"] == "actions"]
    return [str(element["text"]["text"]) for block in actions for element in block["elements"]]


@pytest.fixture
async def asked(office: Office) -> Message:
    """A thread in which a restart waits for a decision."""
    office.answers(calls(RESTART), says("It is back."))
    thread = await office.asks()
    await office.card(thread)
    return thread


async def test_an_operator_sees_what_waits_and_decides_it_there(office: Office, asked: Message) -> None:
    await office.kim.opens_home()
    view = await page(office, office.kim, "Restart")
    shown = texts(view.blocks)
    assert shown[:2] == ["Gates waiting for me", 'Restart "shop"\nC-1001, until ' + shown[1].rpartition("until ")[2]]
    assert "What wants an operator" in shown
    assert pressable(view) == ["View all and decide…", "Deny…", "Revise…"]
    await office.kim.presses(view, "View all and decide…")
    modal = await office.modal(office.kim)
    assert any("service" in line for line in texts(modal.blocks))
    await office.kim.submits(modal)
    await office.shows(asked, "It is back.")
    assert office.effects.made == ["restart shop"]
    after = await page(office, office.kim, "Approved: ")
    assert pressable(after) == []
    assert (await office.gate()).decided_via == "slack"


async def test_a_denial_there_takes_a_reason_and_shows_what_is_denied(office: Office, asked: Message) -> None:
    await office.kim.opens_home()
    await office.kim.presses(await page(office, office.kim, "Restart"), "Deny…")
    modal = await office.modal(office.kim)
    assert 'Restart "shop"' in texts(modal.blocks)
    await office.kim.submits(modal, reason="at night")
    await page(office, office.kim, "Denied: ")
    await office.shows(asked, "at night")
    assert office.effects.made == []


async def test_what_was_decided_meanwhile_is_said_on_the_page(office: Office, asked: Message) -> None:
    await office.kim.opens_home()
    view = await page(office, office.kim, "Restart")
    await office.kim.presses(view, "Deny…")
    modal = await office.modal(office.kim)
    await office.lee.presses(await office.card(asked), "gate_approve")
    await office.shows(asked, "It is back.")
    await office.kim.submits(modal, reason="too late")
    await page(office, office.kim, "already decided: Approved by lee")


async def test_who_may_not_decide_any_more_hears_so_on_the_page_and_is_asked_for_no_reason(
    office: Office, asked: Message
) -> None:
    await office.kim.opens_home()
    view = await page(office, office.kim, "Restart")
    await office.lee.presses(await office.card(asked), "gate_approve")
    await office.shows(asked, "It is back.")
    await office.kim.presses(view, "Deny…")
    await page(office, office.kim, "already decided: Approved by lee")
    assert office.kim.modal is None


async def test_a_requester_sees_their_cases_and_no_gate_that_is_not_theirs_to_decide(
    office: Office, asked: Message
) -> None:
    await office.ann.opens_home()
    view = await page(office, office.ann, "C-1001")
    assert texts(view.blocks) == [
        "Gates waiting for me", "None.", "Cases of mine", "C-1001  waits for a decision  the shop is down"
    ]  # fmt: skip
    assert pressable(view) == []


async def test_a_case_is_taken_over_and_handed_back_by_button(office: Office, asked: Message) -> None:
    case = await office.only_case()
    await office.service.store.write(cases.wait, 1, case.id, WaitingOn.OPERATOR)
    await office.kim.opens_home()
    view = await page(office, office.kim, "waits for an operator")
    await office.kim.presses(view, "Take over")
    after = await page(office, office.kim, "C-1001 is yours. Hand it back: /case release C-1001")
    assert (await office.service.store.read(leases.of_case, case.id)).kind is LeaseKind.HUMAN
    assert "Hand back" in pressable(after)
    await office.shows(asked, "kim has taken over C-1001")
    await office.kim.presses(after, "Hand back")
    await page(office, office.kim, "C-1001 is the assistant's again.")
    assert (await office.service.store.read(leases.of_case, case.id)).kind is not LeaseKind.HUMAN


async def test_of_two_who_take_it_at_once_the_second_hears_who_has_it(office: Office, asked: Message) -> None:
    case = await office.only_case()
    await office.service.store.write(cases.wait, 1, case.id, WaitingOn.OPERATOR)
    for who in (office.kim, office.lee):
        await who.opens_home()
    views = {who: await page(office, who, "waits for an operator") for who in (office.kim, office.lee)}
    await office.kim.presses(views[office.kim], "Take over")
    await page(office, office.kim, "is yours")
    await office.lee.presses(views[office.lee], "Take over")
    await page(office, office.lee, "C-1001 is with kim.")


async def test_a_button_that_a_requester_should_not_have_does_nothing(office: Office, asked: Message) -> None:
    """R20: what a button carries is anybody's to forge; who presses decides."""
    await office.ann.opens_home()
    view = await page(office, office.ann, "C-1001")
    forged = home.view(
        Home(waiting=(), mine=(CaseLine(number=1001, label="C-1001", stands="x", title="x", hand="take"),), wanting=(),
             is_operator=False), ""
    )  # fmt: skip
    view.content["blocks"] = forged["blocks"]
    await office.ann.presses(view, "Take over")
    await page(office, office.ann, "Only an operator takes cases over")
    case = await office.only_case()
    assert (await office.service.store.read(leases.of_case, case.id)).kind is not LeaseKind.HUMAN


async def test_whom_we_do_not_know_gets_no_page_at_all(office: Office, asked: Message) -> None:
    """R20"""
    await office.slack.acked(*await office.mallory.opens_home())
    await office.kim.opens_home()
    await page(office, office.kim, "Restart")
    assert office.mallory.home is None
    assert await office.service.receiver.home(account(office, office.mallory)) is None


async def test_whoever_has_left_gets_no_page_any_more(office: Office, asked: Message) -> None:
    def leave(tx: Tx) -> None:
        kim = principals.by_name(tx, "kim")
        principals.revoke(tx, 1, kim.id, revoked_by=kim.id)

    assert await office.service.receiver.home(account(office, office.kim)) is not None
    await office.service.store.write(leave)
    assert await office.service.receiver.home(account(office, office.kim)) is None


@pytest.mark.parametrize("how", ["opens it again", "presses what it still shows"])
async def test_the_page_of_whoever_has_left_is_emptied(office: Office, asked: Message, how: str) -> None:
    """Slack goes on showing what was published last: to somebody who may see none of it any more (R20, R21)."""
    await office.kim.opens_home()
    view = await page(office, office.kim, "Restart")

    def leave(tx: Tx) -> None:
        kim = principals.by_name(tx, "kim")
        principals.revoke(tx, 1, kim.id, revoked_by=kim.id)

    await office.service.store.write(leave)
    if how == "opens it again":
        await office.kim.opens_home()
    else:
        await office.kim.presses(view, "View all and decide…")
    after = await page(office, office.kim, "nothing here for you any more")
    assert len(texts(after.blocks)) == 1
    assert pressable(after) == []
    assert office.kim.modal is None
    await office.lee.presses(await office.card(asked), "gate_approve")
    await office.shows(asked, "It is back.")


async def test_what_is_on_a_page_is_what_that_person_may_see_and_decide(office: Office) -> None:
    """R21: four eyes too, so that nobody is asked for what they cannot give."""
    office.answers(calls(RESTART), calls(("svc.restart", {"service": "mail"})))
    await office.card(await office.asks())
    own = await office.asks("mail is down", by=office.kim)
    await office.card(own)
    pages = {
        who: await office.service.receiver.home(account(office, who)) for who in (office.ann, office.kim, office.lee)
    }
    found = {who: page for who, page in pages.items() if page is not None}
    assert {who.person.name: [gate.case_label for gate in page.waiting] for who, page in found.items()} == {
        "ann": [], "kim": ["C-1001"], "lee": ["C-1001", "C-1002"]
    }  # fmt: skip
    assert {who.person.name: [line.label for line in page.mine] for who, page in found.items()} == {
        "ann": ["C-1001"], "kim": ["C-1002"], "lee": []
    }  # fmt: skip
    first = await office.service.store.read(cases.get, System(), 1001)
    await office.service.store.write(cases.wait, 1, first.id, WaitingOn.OPERATOR)
    for who, wanting in ((office.ann, 0), (office.lee, 1)):
        page = await office.service.receiver.home(account(office, who))
        assert page is not None
        assert len(page.wanting) == wanting


async def test_the_tab_of_messages_is_no_reason_to_show_the_page(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, asked_for = office.service.receiver.home, list[str]()

    async def noted(of: Account) -> Home | None:
        asked_for.append(of.account_id)
        return await really(of)

    monkeypatch.setattr(office.service.receiver, "home", noted)
    await office.slack.acked(*await office.lee.opens_home("messages"))
    await office.kim.opens_home()
    await page(office, office.kim, "None.")
    assert asked_for == [office.kim.id]


def account(office: Office, who: Member) -> Account:
    """Somebody's account."""
    return Account(channel="slack", space=office.slack.team, account_id=who.id)


TEXT = st.text(max_size=3_500)
LINES = st.lists(
    st.builds(
        CaseLine, number=st.integers(1, 10**17), label=TEXT.filter(bool), stands=TEXT, title=TEXT,
        hand=st.sampled_from([None, "take", "release"]),
    ),
    max_size=10, unique_by=lambda line: line.number,
)  # fmt: skip
WAITING = st.lists(
    st.builds(
        Waiting, gate_id=st.integers(1, 10**17), digest8=st.just("0123abcd"), case_label=TEXT.filter(bool),
        statement=TEXT, until=TEXT,
        verbs=st.sampled_from([("approve", "deny", "revise"), ("happened", "not_happened", "rerun")]),
    ),
    max_size=10, unique_by=lambda gate: gate.gate_id,
)  # fmt: skip


@given(waiting=WAITING, mine=LINES, wanting=LINES, said=TEXT, more=st.lists(TEXT, max_size=3))
def test_whatever_is_on_it_slack_takes_it(
    waiting: list[Waiting], mine: list[CaseLine], wanting: list[CaseLine], said: str, more: list[str]
) -> None:
    made = home.view(
        Home(waiting=tuple(waiting), mine=tuple(mine), wanting=tuple(wanting), is_operator=True, more=tuple(more)), said
    )
    blocks = made["blocks"]
    assert isinstance(blocks, list)
    check(cast("list[Json]", blocks), VIEW, MOST_IN_VIEW, "home")
