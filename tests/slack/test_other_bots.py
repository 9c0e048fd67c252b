"""Other bots: nobody to us until an admin binds their account, and even then never the end of a quiet night."""

from __future__ import annotations

from casestore import cases, leases, messages, principals
from casestore.scope import System
from casestore.states import Direction, LeaseKind, Role
from casestore.tx import Tx
from tests.loop.scripted import Held, Waits, says
from tests.slack.office import Office
from tests.wire.slack.member import Member
from tests.wire.slack.rooms import Message

MOST = 5
ENOUGH = f"I have answered {MOST} messages of another bot in a row, and go on when a person writes here."


async def bound(office: Office, bot: Member, role: Role = Role.REQUESTER) -> None:
    """An operator says that this bot is to be heard."""

    def bind(tx: Tx) -> None:
        added = principals.add(tx, 1, tenant="local", name=bot.person.name, role=role)
        principals.bind(
            tx, 1, added.id, channel="slack", space=office.slack.team, account_id=bot.person.bot_id, bound_by=None
        )  # fmt: skip

    await office.service.store.write(bind)


async def heard(office: Office) -> list[str]:
    """What was said to us in the one case there is."""
    case = await office.only_case()
    said = await office.service.store.read(messages.of_case, System(), case.id)
    return [message.text for message in said if message.direction is Direction.IN]


async def goes_round(office: Office, bot: Member, thread: Message, rounds: int, first: int = 0) -> None:
    """The bot says something, is answered, and says something again."""
    for number in range(first, first + rounds):
        office.answers(says(f"answer {number}"))
        await bot.says(office.ops, f"beep {number}", thread=thread)
        await office.shows(thread, f"answer {number}")


async def test_a_bot_that_nobody_has_bound_is_nobody_even_where_strangers_are_let_in(office: Office) -> None:
    await office.let_strangers_in()
    bot = office.slack.other_bot("jira")
    said = await bot.says(office.ops, f"<@{office.slack.bot.id}> do it")
    await office.slack.acked(*said.deliveries)
    assert await office.service.store.read(cases.listing, System()) == []
    assert [call.args for call in office.slack.calls("users.info")] == []


async def test_two_bots_that_answer_each_other_are_stopped_after_a_few_rounds_until_a_person_speaks(
    office: Office,
) -> None:
    bot = office.slack.other_bot("jira")
    await bound(office, bot)
    office.answers(says("Hello."))
    thread = await office.asks()
    await office.shows(thread, "Hello.")
    await goes_round(office, bot, thread, MOST)

    for number in range(3):
        said = await bot.says(office.ops, f"and again {number}", thread=thread)
        await office.slack.acked(*said.deliveries)
    await office.shows(thread, ENOUGH)
    await office.restart()
    await office.slack.connected()
    said = await bot.says(office.ops, "after a restart", thread=thread)
    await office.slack.acked(*said.deliveries)
    assert len(office.model.sent) == 1 + MOST
    assert (await heard(office))[-4:] == [*(f"and again {number}" for number in range(3)), "after a restart"]
    case = await office.only_case()
    assert await office.service.store.read(messages.unread, case.id) == []

    office.answers(says("Yes?"))
    await office.ann.says(office.ops, "what do you say?", thread=thread)
    await office.shows(thread, "Yes?")
    await goes_round(office, bot, thread, 1, first=10)
    assert [ENOUGH in str(post.blocks) for post in office.slack.posts(thread)].count(True) == 1


async def test_what_a_bot_says_while_a_run_is_under_way_is_read_with_what_comes_next(office: Office) -> None:
    bot = office.slack.other_bot("jira")
    await bound(office, bot)
    held = Held()
    office.answers(Waits(held, says("Hello.")), says("Beep to you too."))
    thread = await office.asks()
    await held.reached.wait()
    said = await bot.says(office.ops, "beep", thread=thread)
    await office.slack.acked(*said.deliveries)
    held.release.set()
    await office.shows(thread, "Beep to you too.")


async def test_a_bot_that_is_bound_as_an_operator_takes_no_case_over_by_writing(office: Office) -> None:
    bot = office.slack.other_bot("jira")
    await bound(office, bot, Role.OPERATOR)
    office.answers(says("Hello."), says("Noted."))
    thread = await office.asks()
    await office.shows(thread, "Hello.")
    await bot.says(office.ops, "deployed v2", thread=thread)
    await office.shows(thread, "Noted.")
    case = await office.only_case()
    assert (await office.service.store.read(leases.of_case, case.id)).kind is not LeaseKind.HUMAN
