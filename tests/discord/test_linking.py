"""A person lets their account on Discord speak for them, by a code that they were given."""

from __future__ import annotations

import logging

import pytest

from bot.people import linking
from casestore import cases, messages, principals
from casestore import linking as links
from casestore.models import LinkCode, Principal
from casestore.scope import System
from casestore.states import Role
from casestore.tx import Tx
from tests.discord.household import Household
from tests.discord.reading import read
from tests.loop.scripted import says
from tests.wire.discord.member import Member

CODE, WRONG = "CB-7K3M-Q9XT-2VHB-D4NR", "CB-0000-1111-2222-3333"
HOUR = 3_600_000


async def given(home: Household, code: str = CODE, *, name: str = "max") -> LinkCode:
    """An admin has made a code for somebody who is known."""

    def made(tx: Tx, now: int) -> LinkCode:
        for who, role in (("ada", Role.ADMIN), (name, Role.OPERATOR)):
            if who not in {one.name for one in principals.listing(tx)}:
                principals.add(tx, now, tenant="local", name=who, role=role)
        return linking.make(tx, now, principals.by_name(tx, "ada"), name, code, via="cli").row

    return await home.service.store.write(made, home.clock.now())


def told(home: Household, who: Member) -> list[str]:
    """What we have said to them alone."""
    return [words for said in home.discord.whispers(who) if (words := read(said))]


async def sends(home: Household, who: Member, code: str = CODE) -> str:
    """Somebody sends a code as the command; what they are told."""
    before = len(told(home, who))
    await home.discord.answered(who.runs("case link", where=home.kitchen, text=code))
    await home.until(lambda: len(told(home, who)) > before or None, "an answer")
    return told(home, who)[-1]


async def whose(home: Household, who: Member) -> Principal | None:
    return await home.service.store.read(principals.by_account, "discord", "", who.id)


async def test_whoever_sends_the_code_is_known_from_then_on(home: Household, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "casebound")
    made = await given(home)
    assert await sends(home, home.mallory) == "Your account speaks for max from now on, who is an operator here."
    who = await whose(home, home.mallory)
    assert who is not None
    assert who.name == "max"
    assert home.discord.posts(home.kitchen) == [], "nobody else has seen anything"
    ((row, _),) = await home.service.store.read(links.listing, tenant="local")
    assert (row.id, row.account) == (made.id, f"discord//{home.mallory.id}")
    assert row.used_from == f"discord:{home.discord.guild.id}/{home.kitchen.id}"
    (linked,) = [record for record in caplog.records if record.message == "account.linked"]
    assert vars(linked)["fields"]["code"] == made.id
    ours = [str(vars(record)) for record in caplog.records if record.name.startswith("casebound")]
    assert not any("7K3M" in said for said in ours)
    home.mallory.runs("gate list", where=home.kitchen)
    await home.whispered(home.mallory, "Nothing waits for a decision.")


async def test_an_account_that_nobody_is_bound_to_may_do_nothing_else(home: Household) -> None:
    for verb in ("list", "mine"):
        home.mallory.runs(f"case {verb}", where=home.kitchen)
        await home.whispered(home.mallory, "I do not know you")
    home.mallory.runs("case open", where=home.kitchen, text="the tap drips")
    assert len(await home.service.store.read(cases.listing, System())) == 0


async def test_a_wrong_code_and_one_that_is_used_or_over_are_answered_alike(home: Household) -> None:
    await given(home)
    await sends(home, home.mallory)
    kay, lou, ida = (home.discord.member(name) for name in ("kay", "lou", "ida"))
    used, wrong = await sends(home, kay), await sends(home, lou, WRONG)
    await given(home, "CB-AAAA-BBBB-CCCC-DDDD", name="maya")
    home.clock.ms += 10 * 60_000
    over = await sends(home, ida, "CB-AAAA-BBBB-CCCC-DDDD")
    assert used == wrong == over
    assert wrong.startswith("That code is not good.")
    assert wrong.endswith("within the hour: 4.")


async def test_after_five_wrong_codes_not_even_the_right_one_is_tried_for_an_hour(home: Household) -> None:
    for nth in range(5):
        assert (await sends(home, home.mallory, WRONG)).endswith(f": {4 - nth}.")
    await given(home)
    assert await sends(home, home.mallory) == "Too many wrong codes have come from your account. Try again in 60 min."
    assert await whose(home, home.mallory) is None
    home.clock.ms += HOUR
    await given(home, "CB-AAAA-BBBB-CCCC-DDDD")
    assert (await sends(home, home.mallory, "CB-AAAA-BBBB-CCCC-DDDD")).startswith("Your account speaks for max")


async def test_an_account_of_somebody_else_is_refused_and_the_code_is_still_good(home: Household) -> None:
    await given(home)
    for code in (CODE, WRONG):
        told = await sends(home, home.ann, code)
        assert told.startswith("Your account speaks for ann already.")
        assert told.endswith("casebound principal unbind ACCOUNT")
    assert (await sends(home, home.mallory)).startswith("Your account speaks for max")


async def test_a_code_in_a_message_is_kept_out_and_counts_no_longer(
    home: Household, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "casebound")
    home.answers(says("Hello."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    second = CODE.replace("D4NR", "AAAA")
    for nth, (code, said) in enumerate(((CODE, f"my code is {CODE.lower()}"), (second, f"/case link {second}"))):
        await given(home, code)
        home.ann.says(thread, said)
        answered = await home.until(lambda: home.discord.posts(thread)[nth + 1 :], "an answer")  # noqa: B023
        assert "use /case link." in read(answered[0])
        assert "7K3M" not in read(answered[0])
        assert (await sends(home, home.discord.member(f"kay{nth}"), code)).startswith("That code is not good.")
    case = await home.only_case()
    kept = await home.service.store.read(messages.of_case, System(), case.id)
    assert [message.text for message in kept] == ["the oven is off", "Hello."]
    assert len(home.model.sent) == 1
    ours = [record for record in caplog.records if record.name.startswith("casebound")]
    assert "message.kept_out" in [record.message for record in ours]
    assert not any("7k3m" in str(vars(record)).lower() for record in ours)


async def test_a_code_in_talk_that_is_none_of_our_business_is_not_answered(home: Household) -> None:
    home.mallory.says(home.kitchen, f"look: {CODE}")
    home.answers(says("Hello."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    assert home.discord.posts(home.kitchen) == []


async def test_a_code_that_comes_by_an_edit_is_left_out(home: Household) -> None:
    home.answers(says("Hello."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    await given(home)
    (asked,) = [said for said in home.kitchen.messages.values() if said.author is home.ann.person]
    home.ann.edits(asked, f"<@{home.discord.bot.id}> the oven is off {CODE}")
    case = await home.only_case()

    async def left_out() -> bool:
        first = (await home.service.store.read(messages.of_case, System(), case.id))[0]
        return first.text == f"the oven is off {linking.LEFT_OUT}"

    await home.until_so(left_out)
    assert (await sends(home, home.mallory)).startswith("That code is not good.")


async def test_a_code_in_another_command_or_on_a_message_opens_no_case(home: Household) -> None:
    await given(home)
    await home.discord.answered(home.ann.runs("case open", where=home.kitchen, text=f"it is {CODE}"))
    await home.whispered(home.ann, "use /case link.")
    said = home.mallory.says(home.kitchen, f"it is {WRONG}")
    await home.discord.answered(home.kim.uses("Open a case", said))
    await home.whispered(home.kim, "use /case link.")
    assert await home.service.store.read(cases.listing, System()) == []
    assert (await sends(home, home.mallory)).startswith("That code is not good.")


async def test_in_a_server_that_is_not_listed_no_code_is_taken(home: Household) -> None:
    await given(home)
    elsewhere = home.discord.new_guild("elsewhere")
    room = home.discord.room("hall", guild=elsewhere)
    pat = home.discord.member("pat", elsewhere)
    pat.mentions(room, f"/case link {CODE}")
    assert (await sends(home, home.mallory)).startswith("Your account speaks for max")
    assert home.discord.posts(room) == []
