"""An approver sees what is there, and no text acts on the screen that shows it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.visible import inert, one_line, visible

# Characters that fonts give no shape, though their category is a visible one.
BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\ufe00\ufe0f\uffa0\U000e0100\U000e01ef"
TAGS = "".join(map(chr, range(0xE0020, 0xE0080)))
MIXED = st.text(st.characters() | st.sampled_from(BLANK + TAGS + "\u200d\u202e\x00\x1b\x9b\u00ad\ufeff"), max_size=60)
NO_EMOJI = MIXED.map(
    lambda text: "".join(each for each in text if unicodedata.category(each) not in ("So", "Sm", "Sk"))
)


@given(NO_EMOJI)
def test_nothing_invisible_is_left(text: str) -> None:
    for character in visible(text):
        if character in "\n\t ":
            continue
        assert character not in BLANK
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"), ascii(character)


@given(MIXED)
def test_showing_twice_is_showing_once(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert inert(inert(text)) == inert(text)


@given(st.text(st.characters(categories=["L", "N", "P", "Mn"], exclude_characters=BLANK)))
@example("Zürich, 東京 — ٣ «ok»")
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == text or any(unicodedata.category(each) == "Mn" for each in text)
    assert inert(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x00", "⟨U+0000⟩"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("a\rb\r\n", "a⟨U+000D⟩b⟨U+000D⟩\n"),
        ("evil\u202egnp.exe", "evil⟨U+202E⟩gnp.exe"),
        ("\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"),
        ("pay\u200bpal", "pay⟨U+200B⟩pal"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("so\u00adft", "so⟨U+00AD⟩ft"),
        ("\ufeffx", "⟨U+FEFF⟩x"),
        ("no\u00a0break", "no⟨U+00A0⟩break"),
        ("\u2028", "⟨U+2028⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("ok\U000e0041\U000e007f", "ok⟨U+E0041⟩⟨U+E007F⟩"),
        ("x\U000e0101", "x⟨U+E0101⟩"),
        ("7\ufe0f days", "7⟨U+FE0F⟩ days"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("🔥\u200d\u200d🔥", "🔥⟨U+200D⟩⟨U+200D⟩🔥"),
        ("\u200d🔥", "⟨U+200D⟩🔥"),
        ("a\ufe0f\u200d🔥", "a⟨U+FE0F⟩⟨U+200D⟩🔥"),
        ("⟨U+202E⟩", "⟨U+202E⟩"),
    ],
)
def test_each_kind_of_unseen_character_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧\u200d👦",
        "❤️",
        "❤\ufe0f\u200d🔥",
        "7\ufe0f\u20e3",
        "👍🏽",
        "🇩🇪",
        "🏳\ufe0f\u200d🌈",
        "\U0001fae8",
        "©\ufe0f",
    ],
)
def test_emoji_stay_whole(text: str) -> None:
    assert visible(text) == text


def test_line_feeds_and_tabs_stay_except_where_there_is_one_line() -> None:
    assert visible("a\n\tb") == "a\n\tb"
    assert inert("a\n\tb") == "a\n\tb"
    assert one_line("a\n\tb") == "a⟨U+000A⟩⟨U+0009⟩b"


@given(MIXED)
def test_inert_text_has_nothing_that_acts_on_a_screen(text: str) -> None:
    safe = inert(text)
    safe.encode()
    for character in safe:
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )


def test_inert_text_keeps_what_languages_need() -> None:
    text = "نمی\u200cبینم 10\u202f% 東京\u3000 👩\u200d👧"
    assert inert(text) == text
