"""What is too long or too much, to the character. With the real client where it lets it through, by hand elsewhere."""

from __future__ import annotations

import discord as library
import pytest

from tests.wire.discord.clients import Bot, plain_view, raw, refused
from tests.wire.discord.payload import Json
from tests.wire.discord.places import Room
from tests.wire.discord.server import DiscordServer

MESSAGES = "/channels/{}/messages"


def _button(**more: object) -> Json:
    return {"type": 2, "style": 1, "label": "Yes", "custom_id": "yes", **more}


def _rows(*rows: list[Json]) -> Json:
    return {"content": "?", "components": [{"type": 1, "components": row} for row in rows]}


async def _status(discord: DiscordServer, room: Room, body: object) -> int:
    status, _ = await raw(discord, "POST", MESSAGES.format(room.id), body)
    return status


@pytest.mark.parametrize(("length", "taken"), [(1_999, True), (2_000, True), (2_001, False)])
async def test_a_message_has_two_thousand_characters_at_most(
    discord: DiscordServer, client: Bot, length: int, taken: bool
) -> None:
    where = client.get_partial_messageable(int(discord.room("ops").id))
    if taken:
        sent = await where.send("x" * length)
        await sent.edit(content="y" * length)
    else:
        assert await refused(where.send("x" * length)) == (400, 50035)
        sent = await where.send("x")
        assert await refused(sent.edit(content="y" * length)) == (400, 50035)


async def test_a_character_outside_the_first_plane_counts_twice(discord: DiscordServer, client: Bot) -> None:
    where = client.get_partial_messageable(int(discord.room("ops").id))
    await where.send("😀" * 1_000)
    assert await refused(where.send("😀" * 1_000 + "x")) == (400, 50035)


@pytest.mark.parametrize(("last", "taken"), [(1903, True), (1904, True), (1905, False)])
async def test_all_embeds_together_have_six_thousand_characters_at_most(
    discord: DiscordServer, client: Bot, last: int, taken: bool
) -> None:
    where = client.get_partial_messageable(int(discord.room("ops").id))
    embeds = [library.Embed(description="x" * 4096), library.Embed(description="y" * last)]
    if taken:
        await where.send(embeds=embeds)
    else:
        assert await refused(where.send(embeds=embeds)) == (400, 50035)


@pytest.mark.parametrize(
    ("fits", "too_long"),
    [
        ({"title": "x" * 256}, {"title": "x" * 257}),
        ({"description": "x" * 4096}, {"description": "x" * 4097}),
        ({"description": " x" + "x" * 4095 + " "}, {"description": "x" * 4097 + " "}),
        ({"footer": {"text": "x" * 2048}}, {"footer": {"text": "x" * 2049}}),
        ({"author": {"name": "x" * 256}}, {"author": {"name": "x" * 257}}),
        ({"fields": [{"name": "x" * 256, "value": "v"}]}, {"fields": [{"name": "x" * 257, "value": "v"}]}),
        ({"fields": [{"name": "n", "value": "x" * 1024}]}, {"fields": [{"name": "n", "value": "x" * 1025}]}),
        ({"fields": [{"name": "n", "value": "v"}] * 25}, {"fields": [{"name": "n", "value": "v"}] * 26}),
        ({"title": "x", "color": 0xFFFFFF}, {"title": "x", "color": 0x1000000}),
    ],
)
async def test_each_part_of_an_embed_has_its_limit(discord: DiscordServer, fits: Json, too_long: Json) -> None:
    room = discord.room("ops")
    assert await _status(discord, room, {"embeds": [fits]}) == 200
    assert await _status(discord, room, {"embeds": [too_long]}) == 400
    assert await _status(discord, room, {"embeds": [{"title": "x"}] * 10}) == 200
    assert await _status(discord, room, {"embeds": [{"title": "x"}] * 11}) == 400


@pytest.mark.parametrize(
    ("fits", "too_much"),
    [
        (_button(label="x" * 80), _button(label="x" * 81)),
        (_button(custom_id="x" * 100), _button(custom_id="x" * 101)),
        (_button(custom_id="x"), _button(custom_id="")),
        (_button(style=4), _button(style=7)),
        ({"type": 2, "style": 5, "label": "Open", "url": "https://example.invalid"}, _button(style=5)),
        (_button(), {"type": 2, "style": 1, "label": "Yes"}),
        (_button(emoji={"name": "👍"}, label=""), _button(label="")),
        (_button(disabled=True), _button(disabled="yes")),
    ],
)
async def test_a_button_is_as_discord_wants_it(discord: DiscordServer, fits: Json, too_much: Json) -> None:
    room = discord.room("ops")
    assert await _status(discord, room, _rows([fits])) == 200
    assert await _status(discord, room, _rows([too_much])) == 400


async def test_there_are_five_rows_of_five_buttons_and_each_has_its_own_id(discord: DiscordServer) -> None:
    room = discord.room("ops")
    rows = [[_button(custom_id=f"{row}.{place}") for place in range(5)] for row in range(5)]
    assert await _status(discord, room, _rows(*rows)) == 200
    assert await _status(discord, room, _rows(*rows, [_button()])) == 400
    assert await _status(discord, room, _rows([*rows[0], _button()])) == 400
    assert await _status(discord, room, _rows([])) == 400
    assert await _status(discord, room, _rows([_button()], [_button()])) == 400


async def test_the_newer_components_stand_alone_and_have_four_thousand_characters(discord: DiscordServer) -> None:
    room, flag = discord.room("ops"), 1 << 15
    text: Json = {"type": 10, "content": "x" * 4000}
    assert await _status(discord, room, {"flags": flag, "components": [text]}) == 200
    assert await _status(discord, room, {"flags": flag, "components": [text, {"type": 10, "content": "x"}]}) == 400
    assert await _status(discord, room, {"flags": flag, "components": [text], "content": "x"}) == 400
    assert await _status(discord, room, {"components": [text]}) == 400
    many: list[Json] = [{"type": 14}] * 41
    assert await _status(discord, room, {"flags": flag, "components": many[:40]}) == 200
    assert await _status(discord, room, {"flags": flag, "components": many}) == 400


EMPTY: list[Json] = [{}, {"content": ""}, {"content": " \n"}, {"embeds": []}, {"embeds": [{}]}]


@pytest.mark.parametrize("empty", EMPTY)
async def test_an_empty_message_is_refused(discord: DiscordServer, empty: Json) -> None:
    room = discord.room("ops")
    status, answer = await raw(discord, "POST", MESSAGES.format(room.id), empty)
    assert (status, answer["code"]) == (400, 50006)


async def test_a_message_cannot_be_edited_to_nothing(discord: DiscordServer, client: Bot) -> None:
    sent = await client.get_partial_messageable(int(discord.room("ops").id)).send("x")
    assert await refused(sent.edit(content="")) == (400, 50006)
    await sent.edit(content=None, embed=library.Embed(title="x"))
    assert await refused(sent.edit(embed=None)) == (400, 50006)


async def test_a_nonce_of_25_characters_makes_one_message_for_a_few_minutes(
    discord: DiscordServer, client: Bot
) -> None:
    room = discord.room("ops")
    where = client.get_partial_messageable(int(room.id))
    first = await where.send("once", nonce="n" * 25)
    discord.advance(180)
    again = await where.send("once more", nonce="n" * 25)
    assert (again.id, again.content) == (first.id, "once")
    discord.advance(1)
    assert (await where.send("late", nonce="n" * 25)).id != first.id
    assert await refused(where.send("x", nonce="n" * 26)) == (400, 50035)
    assert await _status(discord, room, {"content": "no enforcing", "nonce": "n" * 25}) == 200
    assert len(discord.posts(room)) == 3


async def test_what_is_wrong_is_named_with_its_place(discord: DiscordServer) -> None:
    room = discord.room("ops")
    _, answer = await raw(discord, "POST", MESSAGES.format(room.id), {"embeds": [{"title": "x" * 257}]})
    assert answer["code"] == 50035
    assert answer["errors"]["embeds"]["0"]["title"]["_errors"][0]["code"] == "BASE_TYPE_MAX_LENGTH"


async def test_a_nonce_is_told_to_who_sent_it_and_in_the_event_and_read_by_nobody_later(
    discord: DiscordServer, bot: Bot
) -> None:
    room = discord.room("ops")
    where = bot.get_partial_messageable(int(room.id))
    heard: list[library.Message] = []

    @bot.event
    async def on_message(message: library.Message) -> None:  # pyright: ignore[reportUnusedFunction]
        heard.append(message)

    sent = await where.send("once", nonce="out-1")
    assert sent.nonce == "out-1"
    assert (await where.send("once", nonce="out-1")).nonce == "out-1"
    await discord.until(lambda: heard)
    assert [message.nonce for message in heard] == ["out-1"]
    assert (await where.fetch_message(sent.id)).nonce is None
    assert [message.nonce async for message in where.history()] == [None]


@pytest.mark.parametrize(("limit", "status"), [("0", 400), ("1", 200), ("100", 200), ("101", 400), ("x", 400)])
async def test_a_hundred_messages_at_most_are_read_at_once(discord: DiscordServer, limit: str, status: int) -> None:
    path = f"{MESSAGES.format(discord.room('ops').id)}?limit={limit}"
    assert (await raw(discord, "GET", path))[0] == status


@pytest.mark.parametrize(
    ("commands", "status"),
    [
        ([{"name": "x" * 32, "description": "x" * 100}], 200),
        ([{"name": "x" * 33, "description": "x"}], 400),
        ([{"name": "", "description": "x"}], 400),
        ([{"name": "Case", "description": "x"}], 400),
        ([{"name": "my case", "description": "x"}], 400),
        ([{"name": "case", "description": ""}], 400),
        ([{"name": "case", "description": "x" * 101}], 400),
        ([{"name": "case"}], 400),
        ([{"name": "Open a case", "type": 3}], 200),
        ([{"name": "Open a case", "type": 3, "description": "x"}], 400),
        ([{"name": f"case{n}", "description": "x"} for n in range(100)], 200),
        ([{"name": f"case{n}", "description": "x"} for n in range(101)], 400),
        ([{"name": "case", "description": "x"}] * 2, 400),
        ([{"name": "case", "description": "x", "options": [{"type": 3, "name": "t", "description": "x"}] * 2}], 400),
        ([{"name": "case", "description": "x", "colour": 1}], 400),
    ],
)
async def test_commands_are_named_and_described_as_discord_wants_it(
    discord: DiscordServer, commands: list[Json], status: int
) -> None:
    path = f"/applications/{discord.bot.id}/commands"
    assert (await raw(discord, "PUT", path, commands))[0] == status


def _form(**more: object) -> Json:
    field: Json = {"type": 4, "custom_id": "reason", "style": 1, "label": "Reason", **more}
    return {"custom_id": "why", "title": "Why?", "components": [{"type": 1, "components": [field]}]}


@pytest.mark.parametrize(
    ("fits", "too_much"),
    [
        ({"title": "x" * 45}, {"title": "x" * 46}),
        ({"custom_id": "x" * 100}, {"custom_id": "x" * 101}),
        ({"components": _form()["components"]}, {"components": []}),
        (_form(label="x" * 45), _form(label="x" * 46)),
        (_form(value="x" * 4000), _form(value="x" * 4001)),
        (_form(max_length=4000), _form(max_length=4001)),
        (_form(min_length=3, max_length=3), _form(min_length=4, max_length=3)),
        (_form(placeholder="x" * 100), _form(placeholder="x" * 101)),
        (_form(custom_id="x" * 100), _form(custom_id="x" * 101)),
        (_form(style=2), _form(style=3)),
    ],
)
async def test_a_form_is_as_discord_wants_it(discord: DiscordServer, client: Bot, fits: Json, too_much: Json) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    await client.get_partial_messageable(int(room.id)).send("?", view=plain_view())
    card = discord.posts(room)[0]
    for form, status in ((too_much, 400), (fits, 204)):
        press = kim.presses(card, "Approve")
        path = f"/interactions/{press.id}/{press.token}/callback"
        answer = await raw(discord, "POST", path, {"type": 9, "data": {**_form(), **form}})
        assert answer[0] == status
        assert press.answered is (status == 204)


async def test_a_form_has_five_fields_at_most_each_with_its_own_id(discord: DiscordServer, client: Bot) -> None:
    kim, room = discord.member("kim"), discord.room("ops")
    await client.get_partial_messageable(int(room.id)).send("?", view=plain_view())
    press = kim.presses(discord.posts(room)[0], "Approve")
    path = f"/interactions/{press.id}/{press.token}/callback"
    rows = [_form(custom_id=f"field-{n}")["components"][0] for n in range(6)]
    for components in (rows, [rows[0], rows[0]]):
        data = {**_form(), "components": components}
        assert (await raw(discord, "POST", path, {"type": 9, "data": data}))[0] == 400
    assert (await raw(discord, "POST", path, {"type": 9, "data": {**_form(), "components": rows[:5]}}))[0] == 204
