"""Any text that comes in can be stored, is seen for what it was, and can be had back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.text import original, storable, visible

NASTY = st.text(st.characters() | st.sampled_from("⟨⟩U+0DE27⟨⟩\x00\ud800\udfff"), max_size=80)
LOOKALIKES = st.lists(
    st.sampled_from(["⟨", "U+", "0000", "D800", "27E8", "⟩", "\x00", "\ud800", "⟨U+0000⟩", "⟨U+27E8⟩", "x"])
).map("".join)


@given(NASTY | LOOKALIKES)
def test_what_is_stored_can_be_encoded_and_gives_the_text_back(text: str) -> None:
    stored = storable(text)
    assert "\x00" not in stored
    assert stored.encode().decode() == stored
    assert original(stored) == text


@given(st.text())
def test_text_without_such_characters_is_stored_as_it_is(text: str) -> None:
    if "\x00" not in text and "⟨U+" not in text:
        assert storable(text) == text


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("a\x00b", "a⟨U+0000⟩b"),
        ("\ud83d", "⟨U+D83D⟩"),
        ("\ud83d\udd25", "⟨U+D83D⟩⟨U+DD25⟩"),
        ("🔥", "🔥"),
        ("\u202e\u200d", "\u202e\u200d"),
        ("⟨U+0000⟩", "⟨U+27E8⟩U+0000⟩"),
        ("⟨U+202E⟩", "⟨U+202E⟩"),
    ],
)
def test_only_what_cannot_be_stored_is_changed(text: str, stored: str) -> None:
    assert storable(text) == stored
    assert original(stored) == text


def test_what_was_stored_is_shown_readably() -> None:
    assert visible(storable("\x00\ud800\u202e")) == "⟨U+0000⟩⟨U+D800⟩⟨U+202E⟩"
