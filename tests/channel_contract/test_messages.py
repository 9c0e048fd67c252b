"""What passes through the port is exact, closed and cannot be malformed."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from channels.errors import BadAddress, ChannelError, RetryLater, UnknownChannel
from channels.messages import Account, Address, Content, Inbound, Outbound, Press, Text
from channels.text import style_for
from tests.channel_contract.rigs import KIM, a_card, decided

HERE = Address.parse("memory:S/R/T")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("slack:T1/C2/1710.003", ("slack", "T1", "C2", "1710.003")),
        ("discord:G1/C2/T3", ("discord", "G1", "C2", "T3")),
        ("slack:T1/D9", ("slack", "T1", "D9", "")),
        ("web:/0190-ab", ("web", "", "", "0190-ab")),
        ("console:local/you/main", ("console", "local", "you", "main")),
        ("memory:S/R/T", ("memory", "S", "R", "T")),
        ("discord:@me/C:2/T3", ("discord", "@me", "C:2", "T3")),
    ],
)
def test_an_address_reads_and_writes_the_same(text: str, parts: tuple[str, str, str, str]) -> None:
    address = Address.parse(text)
    assert (address.channel, address.space, address.room, address.thread) == parts
    assert str(address) == text


@pytest.mark.parametrize(
    "text",
    [
        "", ":", "slack", "slack:", "slack:T1", "slack:T1/", "slack:/C2/1", "slack://1", "slack:T1//1",
        "slack:T1/C2/", "slack:T1/C2/3/4", "slack:T1/C2/3/", "Slack:T1/C2/3", " slack:T1/C2/3",
        "slack:T1/C2/3 ", "slack:T1/C2/3\n", "slack:T1/C 2/3", "slack:T1/C2/\u0663", "slack:T1/C2/3\u200b",
        "slack:T1/C2/\x00", "web:", "web:/", "web:C-1", "web:a/b", "web:a/b/c", "console:/main", ":T1/C2/3",
        "sl-ack:T1/C2/3", "slack:T1/C2/" + "9" * 256, "x" * 5000, "slack:T1/C2/\ud800",
    ],
)  # fmt: skip
def test_a_malformed_address_is_refused_and_the_error_shows_a_right_one(text: str) -> None:
    with pytest.raises(BadAddress) as caught:
        Address.parse(text)
    message = str(caught.value)
    assert "slack:T1/C2/1710.003" in message
    assert message.isprintable()
    assert len(message) < 600


def test_parts_that_spell_no_address_are_refused_too() -> None:
    with pytest.raises(ValidationError, match="slash"):
        Address(channel="slack", space="T1", room="C2/D", thread="1")


def test_r21_addresses_are_compared_exactly() -> None:
    assert Address.parse("slack:T1/C2/3") == Address.parse("slack:T1/C2/3")
    assert Address.parse("slack:T1/C2/3") != Address.parse("slack:t1/C2/3")
    texts = ("slack:T1/C2", "slack:T1/C2/3", "slack:T1/C2")
    assert len({Address.parse(text) for text in texts}) == 2


def test_r20_a_display_name_takes_no_part_in_who_somebody_is() -> None:
    kim = Account(channel="slack", space="T1", account_id="U1", display_name="Kim")
    assert kim == Account(channel="slack", space="T1", account_id="U1", display_name="Boss")
    assert kim != Account(channel="slack", space="T1", account_id="U2", display_name="Kim")
    assert kim != Account(channel="slack", space="T2", account_id="U1", display_name="Kim")
    assert kim != Account(channel="slack", space="T1", account_id="u1", display_name="Kim")
    assert len({kim, kim.model_copy(update={"display_name": "Boss"})}) == 1


def test_text_from_people_is_storable_wherever_it_comes_in() -> None:
    bad = "\ud800 \x00 \u202e"
    inbound = Inbound(
        address=HERE,
        account=Account(channel="memory", space="S", account_id="U1", display_name=bad),
        platform_id="p1",
        text=bad,
        addressed=True,
        at=1,
    )
    press = Press(address=HERE, platform_id="b1", account=KIM, gate_id=1, verb="deny", digest8="00000000", reason=bad)
    for text in (inbound.text, inbound.account.display_name, press.reason):
        assert text == "⟨U+D800⟩ ⟨U+0000⟩ \u202e"
    assert Inbound.model_validate_json(inbound.model_dump_json()).address == HERE


@pytest.mark.parametrize("nonce", ["1", "a" * 25, "outbox-123456"])
def test_a_nonce_fits_every_platform(nonce: str) -> None:
    assert Outbound(address=HERE, nonce=nonce, content=Text(text="hi")).nonce == nonce


@pytest.mark.parametrize("nonce", ["", "a" * 26, "a b", "ä", "a\n"])
def test_a_nonce_that_some_platform_refuses_is_refused(nonce: str) -> None:
    with pytest.raises(ValidationError, match="nonce"):
        Outbound(address=HERE, nonce=nonce, content=Text(text="hi"))


def test_content_is_told_apart_by_its_kind_and_survives_storage() -> None:
    content: TypeAdapter[Content] = TypeAdapter(Content)
    for one in (Text(text="hi"), a_card(), decided(a_card())):
        assert content.validate_json(content.dump_json(one)) == one
    with pytest.raises(ValidationError, match="kind"):
        content.validate_python({"kind": "poll", "text": "hi"})


def test_what_is_frozen_stays_and_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Text(text="hi").text = "ho"  # pyright: ignore[reportAttributeAccessIssue] -- that it is refused is the point
    with pytest.raises(ValidationError, match="colour"):
        a_card(colour="red")


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": ("Approved by Kim",)},
        {"decides": ""},
        {"if_nobody": ""},
        {"statement": ""},
        {"digest8": "0A1B2C3D"},
        {"digest8": "0a1b2c3d4"},
        {"verbs": ("approve", "open")},
        {"case_url": "javascript:alert(1)"},
        {"gate_id": 0},
    ],
)
def test_a_card_that_nobody_could_decide_on_cannot_be_made(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        a_card(**wrong)


def test_a_card_cannot_hold_what_its_reader_would_not_see() -> None:
    card = a_card(
        statement="Delete \u200bprod\u202e",
        arguments=({"name": "path", "value": "/tmp/\ud800x\u00a0y", "was": "\u2066"},),
    )
    assert card.statement == "Delete ⟨U+200B⟩prod⟨U+202E⟩"
    assert card.arguments[0].value == "/tmp/⟨U+D800⟩x⟨U+00A0⟩y"
    assert card.arguments[0].was == "⟨U+2066⟩"


def test_every_error_is_a_channel_error_that_says_what_to_do() -> None:
    assert issubclass(BadAddress, ChannelError)
    assert str(RetryLater(250)).endswith("Try again in 250 ms.")
    assert str(RetryLater(0)).endswith("Try again in a moment.")
    with pytest.raises(ValueError, match="negative"):
        RetryLater(-1)
    with pytest.raises(UnknownChannel, match="console, discord, memory, slack, web"):
        style_for("Console")
