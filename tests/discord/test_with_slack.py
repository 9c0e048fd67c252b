"""One case in a thread on Discord and in one on Slack at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.clock import SystemClock
from bot.settings import Cases
from casestore import bindings, principals
from casestore.tx import Tx
from channels.slack.channel import SlackChannel, SlackLogin
from tests.channel_contract.slack_rig import unhurried
from tests.discord import reading
from tests.discord.household import Household
from tests.loop.scripted import calls, says
from tests.slack.reading import buttons, read
from tests.wire.discord.places import Thread
from tests.wire.discord.server import DiscordServer
from tests.wire.slack.member import Member
from tests.wire.slack.rooms import Message
from tests.wire.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer


class Both(Household):
    """A household that is on Slack too, where bea is an operator, and sue a requester."""

    def __init__(self, discord: DiscordServer, slack: SlackServer, db: Path) -> None:
        super().__init__(discord, db)
        self.slack = slack
        self.bea, self.sue = slack.member("bea"), slack.member("sue")
        self.ops = slack.room("ops", self.bea, self.sue)
        self.settings = self.settings.model_copy(update={"cases": Cases(mirror=False)})
        self.on_slack()

    def on_slack(self) -> None:
        """A channel that is not started yet."""
        login = SlackLogin(BOT_TOKEN, [self.slack.team], APP_TOKEN, api_url=self.slack.api_url)
        self.others = {"slack": SlackChannel(login, unhurried(), look_every_s=0.5)}

    async def open(self) -> None:
        self.on_slack()
        await super().open()
        await self.service.store.write(self._known_on_slack)

    async def slack_shows(self, thread: Message, words: str) -> Message:
        """Until a message of ours in the thread on Slack shows these words."""
        found = await self.slack.until(
            lambda: next((said for said in self.slack.posts(thread) if words in read(said)), None), what=words
        )
        assert found is not None
        return found

    def said_on_slack(self, thread: Message) -> list[str]:
        """All that we have said in a thread on Slack."""
        return [read(said) for said in self.slack.posts(thread)]

    def _known_on_slack(self, tx: Tx) -> None:
        for member, name in ((self.bea, "kim"), (self.sue, "ann")):
            if principals.by_account(tx, "slack", self.slack.team, member.id) is None:
                person = principals.by_name(tx, name)
                principals.bind(
                    tx, 1, person.id, channel="slack", space=self.slack.team, account_id=member.id, bound_by=None
                )


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[Both]:
    """The service is on both."""
    async with DiscordServer(at=SystemClock().now() / 1_000) as discord, SlackServer() as slack:
        made = Both(discord, slack, tmp_path / "c.db")
        await made.open()
        await slack.connected()
        yield made
        await made.close()


async def bound(both: Both) -> tuple[Thread, Message]:
    """A case of ann's in a thread on Discord, which an operator has bound to a thread on Slack too."""
    both.answers(says("Hello."))
    here = await both.asks("the oven is off")
    await both.shows(here, "Hello.")
    there = (await both.bea.says(both.ops, "about the oven")).message
    await both.bea.mentions(both.ops, "/case bind C-1001", thread=there)

    async def twice() -> bool:
        case = await both.only_case()
        return len(await both.service.store.read(bindings.of_case, case.id)) == 2

    await both.until_so(twice)
    return here, there


async def say_there(both: Both, text: str, thread: Message, by: Member | None = None) -> None:
    """Somebody says something in the thread on Slack."""
    await (by or both.sue).says(both.ops, text, thread=thread)


async def test_only_an_operator_binds_a_case_to_a_further_thread(both: Both) -> None:
    both.answers(says("Hello."))
    here = await both.asks("the oven is off")
    await both.shows(here, "Hello.")
    there = (await both.sue.says(both.ops, "about the oven")).message
    await both.sue.mentions(both.ops, "/case bind C-1001", thread=there)
    await both.slack.until(lambda: [one for one in both.slack.whispers(both.sue) if "operator" in one.text])
    case = await both.only_case()
    assert len(await both.service.store.read(bindings.of_case, case.id)) == 1


async def test_a_message_is_answered_where_it_was_asked_and_nowhere_else(both: Both) -> None:
    here, there = await bound(both)
    both.answers(says("On Slack."))
    await say_there(both, "still off?", there)
    await both.slack_shows(there, "On Slack.")
    both.answers(says("On Discord."))
    both.ann.says(here, "and now?")
    await both.shows(here, "On Discord.")
    assert [reading.read(said) for said in both.discord.posts(here)] == ["Hello.", "On Discord."]
    assert both.said_on_slack(there) == ["On Slack."]


async def test_where_the_settings_say_so_it_is_shown_in_the_other_thread_with_its_name_and_never_back(
    both: Both,
) -> None:
    here, there = await bound(both)
    both.settings = both.settings.model_copy(update={"cases": Cases(mirror=True)})
    await both.restart()
    await both.slack.connected()
    both.answers(says("To both."))
    await say_there(both, "still off?", there)
    await both.slack_shows(there, "To both.")
    await both.shows(here, "To both.")
    both.answers(says("Again."))
    both.ann.says(here, "and now?")
    await both.shows(here, "Again.")
    await both.slack_shows(there, "Again.")
    assert [reading.read(said) for said in both.discord.posts(here)] == [
        "Hello.", "ann (slack): still off?", "To both.", "Again.",
    ]  # fmt: skip
    assert both.said_on_slack(there) == ["To both.", "ann (discord): and now?", "Again."]


@pytest.mark.parametrize("on", ["slack", "discord"])
async def test_a_gate_is_asked_on_both_decided_once_and_both_cards_say_so(both: Both, on: str) -> None:
    here, there = await bound(both)
    both.answers(calls(("svc.restart", {"service": "oven"})), says("It is warm."))
    both.ann.says(here, "please restart it")
    mine = await both.card(here)
    found = await both.slack.until(lambda: next((one for one in both.slack.posts(there) if buttons(one)), None))
    assert found is not None
    if on == "slack":
        await both.bea.presses(found, "gate_approve")
        both.kim.presses(mine, "Approve", stale=True)
    else:
        both.kim.presses(mine, "Approve")
    await both.shows(here, "It is warm.")
    assert both.effects.made == ["restart oven"]
    await both.until(lambda: reading.buttons(mine) == [] or None, "a card on Discord without buttons")
    await both.slack.until(lambda: buttons(found) == [])
    assert f"Approved by kim via {on.capitalize()}" in reading.read(mine)
    assert f"Approved by kim via {on.capitalize()}" in read(found)
