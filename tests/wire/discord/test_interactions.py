"""Commands, buttons and forms, with the real client, and the tokens that come with them."""

from __future__ import annotations

from typing import Any

import discord as library
import pytest
from discord import app_commands

from tests.wire.discord.clients import Bot, Gate, gate_view, plain_view, refused, running
from tests.wire.discord.interactions import Interaction, Reply
from tests.wire.discord.member import Member
from tests.wire.discord.messages import Flag, Message, Type
from tests.wire.discord.places import Room
from tests.wire.discord.server import DiscordServer

# A library.Interaction. Its type takes the client as an argument, which strict types ask for everywhere.
Press = Any


async def _card(discord: DiscordServer, bot: Bot, room: Room) -> Message:
    bot.add_dynamic_items(Gate)
    await bot.get_partial_messageable(int(room.id)).send("Restart nginx?", view=gate_view(7))
    return discord.posts(room)[0]


async def test_a_button_is_pressed_acknowledged_and_the_card_changed(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    card = await _card(discord, bot, room)
    press = kim.presses(card, "Approve")
    await discord.answered(press)
    await discord.until(lambda: press.said)
    assert press.reply is Reply.DEFERRED_UPDATE
    assert bot.pressed == ["7:yes"]
    assert (card.content, card.components) == (f"yes by {kim.id}", [])
    assert press.text == "recorded"
    assert [said.content for said in kim.sees(room)][-1] == "recorded"


async def test_what_is_said_to_one_person_alone_nobody_else_sees(discord: DiscordServer, bot: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    card = await _card(discord, bot, room)
    press = kim.presses(card, "gate:7:no")
    await discord.until(lambda: press.said)
    assert "recorded" not in [said.content for said in bob.sees(room)]
    assert [said.content for said in discord.whispers(kim)] == ["recorded"]
    assert await refused(bot.http.get_message(int(room.id), int(press.said[0].id))) == (404, 10008)
    assert await refused(bot.http.delete_message(int(room.id), int(press.said[0].id))) == (404, 10008)
    kim.dismisses(press.said[0])
    assert discord.whispers(kim) == []


async def test_a_button_works_after_the_client_was_started_anew(discord: DiscordServer) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    async with running(discord, Bot()) as bot:
        card = await _card(discord, bot, room)
    async with running(discord, Bot()) as bot:
        bot.add_dynamic_items(Gate)
        await discord.answered(kim.presses(card, "Deny"))
        await discord.until(lambda: bot.pressed)
        assert bot.pressed == ["7:no"]


async def test_a_press_that_crosses_the_change_of_the_card_still_arrives(discord: DiscordServer, bot: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    card = await _card(discord, bot, room)
    await discord.answered(kim.presses(card, "Approve"))
    await discord.until(lambda: not card.components)
    with pytest.raises(AssertionError, match="no button"):
        bob.presses(card, "Deny")
    await discord.answered(bob.presses(card, "Deny", stale=True))
    await discord.until(lambda: len(bot.pressed) == 2)


async def test_an_interaction_that_is_delivered_twice_is_answered_once(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    answers: list[int] = []

    @bot.event
    async def on_interaction(press: Press) -> None:  # pyright: ignore[reportUnusedFunction]
        try:
            await press.response.send_message("done", ephemeral=True)
            answers.append(0)
        except library.HTTPException as refusal:
            answers.append(refusal.code)

    await bot.get_partial_messageable(int(room.id)).send("?", view=plain_view())
    press = kim.presses(discord.posts(room)[0], "Approve")
    kim.again(press)
    await discord.until(lambda: len(answers) == 2)
    assert sorted(answers) == [0, 40060]
    assert len(press.said) == 1


async def _caught(discord: DiscordServer, bot: Bot) -> tuple[Member, Interaction, Press]:
    """A press that nobody has answered yet, from both sides."""
    kim, room = discord.member("kim"), discord.room("ops")
    caught: list[Press] = []

    @bot.event
    async def on_interaction(press: Press) -> None:  # pyright: ignore[reportUnusedFunction]
        caught.append(press)

    await bot.get_partial_messageable(int(room.id)).send("?", view=plain_view())
    press = kim.presses(discord.posts(room)[0], "Approve")
    await discord.until(lambda: caught)
    return kim, press, caught[0]


async def test_after_three_seconds_it_is_too_late_to_answer(discord: DiscordServer, bot: Bot) -> None:
    _, press, caught = await _caught(discord, bot)
    discord.advance(3.1)
    assert await refused(caught.response.defer()) == (404, 10062)
    assert not press.answered


async def test_within_three_seconds_it_is_not(discord: DiscordServer, bot: Bot) -> None:
    _, press, caught = await _caught(discord, bot)
    discord.advance(3)
    await caught.response.defer()
    assert press.answered


async def test_for_fifteen_minutes_there_may_be_more_said_and_then_no_more(discord: DiscordServer, bot: Bot) -> None:
    _, press, caught = await _caught(discord, bot)
    await caught.response.defer()
    discord.advance(15 * 60)
    await caught.followup.send("in time", ephemeral=True)
    discord.advance(1)
    assert await refused(caught.followup.send("too late", ephemeral=True)) == (401, 50027)
    assert await refused(caught.edit_original_response(content="too late")) == (401, 50027)
    assert press.text == "in time"
    # The bot itself may change its message whenever it likes.
    await caught.message.edit(content="decided elsewhere", view=None)
    assert press.message is not None
    assert press.message.content == "decided elsewhere"


async def test_before_it_is_answered_a_token_is_good_for_nothing_else(discord: DiscordServer, bot: Bot) -> None:
    _, _, caught = await _caught(discord, bot)
    assert await refused(caught.followup.send("hello")) == (404, 10015)


async def test_an_answer_that_is_deferred_is_filled_in_by_what_follows(discord: DiscordServer, bot: Bot) -> None:
    _, press, caught = await _caught(discord, bot)
    answer = await caught.response.defer(ephemeral=True, thinking=True)
    assert answer.is_thinking()
    assert press.said[0].flags == Flag.EPHEMERAL | Flag.LOADING
    await caught.edit_original_response(content="here it is")
    assert press.text == "here it is"
    assert press.said[0].flags == Flag.EPHEMERAL
    await caught.delete_original_response()
    assert press.text == ""


async def test_a_follow_up_to_a_deferred_answer_is_that_answer(discord: DiscordServer, bot: Bot) -> None:
    _, press, caught = await _caught(discord, bot)
    await caught.response.defer(ephemeral=True, thinking=True)
    await caught.followup.send("first")
    await caught.followup.send("second", ephemeral=True)
    assert [said.content for said in press.said] == ["first", "second"]
    assert press.said[0].to is press.person


class Reason(library.ui.Modal, title="Why?"):
    """A form of two fields."""

    reason: library.ui.TextInput[Any] = library.ui.TextInput(label="Reason", custom_id="reason", max_length=20)
    more: library.ui.TextInput[Any] = library.ui.TextInput(label="More", custom_id="the-more", required=False)

    async def on_submit(self, interaction: Press, /) -> None:
        """Tell the one who sent it."""
        await interaction.response.send_message(f"{self.reason.value}/{self.more.value}", ephemeral=True)


async def test_a_form_is_shown_filled_in_and_sent_off(discord: DiscordServer, bot: Bot) -> None:
    kim, press, caught = await _caught(discord, bot)
    await caught.response.send_modal(Reason())
    modal = kim.modal
    assert modal is not None
    assert modal.title == "Why?"
    with pytest.raises(AssertionError, match="must be filled in"):
        kim.submits(modal)
    with pytest.raises(AssertionError, match="from 0 to 20"):
        kim.submits(modal, reason="x" * 21)
    sent = kim.submits(modal, reason="too risky", the_more="at night")
    await discord.answered(sent)
    assert sent.text == "too risky/at night"
    assert kim.modal is None
    assert sent.message is press.message


async def test_a_form_is_no_answer_to_a_form(discord: DiscordServer, bot: Bot) -> None:
    kim, press, caught = await _caught(discord, bot)
    modal = Reason()
    codes: list[int] = []

    async def on_submit(interaction: Press) -> None:
        codes.extend(await refused(interaction.response.send_modal(Reason())))

    modal.on_submit = on_submit
    await caught.response.send_modal(modal)
    assert press.modal is not None
    kim.submits(press.modal, reason="again")
    await discord.until(lambda: codes)
    assert codes == [400, 50035]


def _commands(bot: Bot, seen: list[tuple[object, ...]]) -> None:
    case = app_commands.Group(name="case", description="Cases")

    @case.command(name="open", description="Open a case")
    async def opens(interaction: Press, text: str, who: library.User | None = None) -> None:  # pyright: ignore[reportUnusedFunction]
        seen.append((text, None if who is None else who.id))
        await interaction.response.send_message("C-1 is open.", ephemeral=True)

    async def from_message(interaction: Press, message: library.Message) -> None:
        seen.append((message.content, message.author.id))
        await interaction.response.send_message("C-2 is open.")

    bot.tree.add_command(case)
    bot.tree.add_command(app_commands.ContextMenu(name="Open a case", callback=from_message))


async def test_a_slash_command_is_registered_run_and_answered(discord: DiscordServer, bot: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    seen: list[tuple[object, ...]] = []
    _commands(bot, seen)
    await bot.tree.sync()
    ran = kim.runs("case open", where=room, text="nginx is down", who=bob.person)
    await discord.answered(ran)
    assert seen == [("nginx is down", int(bob.id))]
    assert ran.text == "C-1 is open."
    directly = kim.runs("case open", text="help")
    await discord.answered(directly)
    assert seen[1] == ("help", None)
    with pytest.raises(AssertionError, match="does not send it without"):
        kim.runs("case open", where=room)
    with pytest.raises(AssertionError, match="No command"):
        kim.runs("gate list", where=room)
    with pytest.raises(AssertionError, match="No command"):
        kim.uses("case", kim.says(room, "a command is no entry of a menu"))


async def test_an_entry_in_the_menu_of_a_message_brings_the_message_along(discord: DiscordServer, bot: Bot) -> None:
    kim, bob, room = discord.member("kim"), discord.member("bob"), discord.room("ops")
    seen: list[tuple[object, ...]] = []
    _commands(bot, seen)
    await bot.tree.sync()
    used = kim.uses("Open a case", bob.says(room, "nginx is down"))
    await discord.answered(used)
    assert seen == [("nginx is down", int(bob.id))]
    assert bob.sees(room)[-1].content == "C-2 is open."
    assert bob.sees(room)[-1].type is Type.CONTEXT_MENU_COMMAND


async def test_commands_of_one_guild_are_offered_there_only(discord: DiscordServer, bot: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    _commands(bot, [])
    bot.tree.copy_global_to(guild=library.Object(int(discord.guild.id)))
    await bot.tree.sync(guild=library.Object(int(discord.guild.id)))
    await discord.answered(kim.runs("case open", where=room, text="here"))
    with pytest.raises(AssertionError, match="No command"):
        kim.runs("case open", text="there")


async def test_a_press_in_a_direct_conversation_changes_the_card_in_one_step(discord: DiscordServer, bot: Bot) -> None:
    kim = discord.member("kim")

    @bot.event
    async def on_interaction(press: Press) -> None:  # pyright: ignore[reportUnusedFunction]
        await press.response.edit_message(content=f"done by {press.user.id}", view=None)
        await press.edit_original_response(content=f"done by {press.user.name}")

    where = await bot.create_dm(library.Object(int(kim.id)))  # pyright: ignore[reportArgumentType]
    await where.send("?", view=plain_view())
    card = kim.sees()[0]
    press = kim.presses(card, "Approve")
    await discord.until(lambda: card.content == "done by kim")
    assert press.reply is Reply.UPDATE
    assert card.components == []
    assert press.payload["user"]["id"] == kim.id


async def test_an_answer_can_be_read_back_and_a_follow_up_changed_and_taken_away(
    discord: DiscordServer, bot: Bot
) -> None:
    _, press, caught = await _caught(discord, bot)
    await caught.response.send_message("first")
    assert (await caught.original_response()).content == "first"
    more = await caught.followup.send("second", wait=True)
    await more.edit(content="third")
    assert press.text == "first\nthird"
    assert press.said[1].replied is press.said[0]
    await more.delete()
    assert press.text == "first"
    assert press.said[0].interaction is not None
    assert press.said[0].interaction["user"]["id"] == press.person.id
