"""Text is escaped once, measured after that, and split so that nothing is lost and no fence is broken."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.style import STYLES, Style, code_points, utf16_units
from channels.text import cut, pieces, prepared


def entities(text: str) -> str:
    """The escape of platforms with HTML's three entities: one character becomes up to five."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


PLAIN = Style("plain", limit=60)
UNITS = Style("units", limit=40, measure=utf16_units)
ENTITIES = Style("entities", limit=100, escape=entities, whole=re.compile(r"&(?:amp|lt|gt);"))
SLACK_LIKE = Style("slack-like", limit=3000, escape=entities, whole=ENTITIES.whole)
DISCORD_LIKE = Style("discord-like", limit=2000, measure=utf16_units)
STYLED = st.sampled_from([PLAIN, UNITS, ENTITIES, *STYLES.values()])

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
FLAG = "🇩🇪"

# Long lines with marks in the middle: a cut before or inside such a mark could make a fence of it.
LONG_LINES = st.lists(
    st.sampled_from([" ", "```", " ```", "``` ", "~~~", " ~~~~", "`", "word ", "xxxxxxxxxxxxxxxx", "🔥", "&"]),
    max_size=25,
).map("".join)
LINES = st.one_of(
    LONG_LINES,
    st.sampled_from(
        ["", "", "```", "```", "```py", "~~~", "~~~~", "  ```sh", "`````", "``` a`b", "a ```", " ~~~ x", "``"]
    ),
    st.sampled_from(["<!channel> & <b>", FAMILY * 3, FLAG * 7, "e\u0301" * 9, "word " * 12, "x" * 70, "&" * 30]),
    st.text(st.sampled_from("ab `~&<\u200d🔥"), max_size=50),
)
MARKDOWN = st.lists(LINES, max_size=25).map("\n".join)
ANYTHING = st.text(st.characters(), max_size=400)
FENCES = st.text(st.sampled_from("``~~ a\n\n"), max_size=300)


def open_at_the_end(piece: str, longest: int) -> str | None:
    """The mark of the fence that a reader of this piece alone would see left open."""
    mark: str | None = None
    for line in piece.split("\n"):
        found = re.match(r"[ \t]*(```+|~~~+)(.*)", line)
        if found is None or len(line) > longest or (found[1][0] == "`" and "`" in found[2]):
            continue
        if mark is None:
            mark = found[1]
        elif found[1].startswith(mark) and not found[2].strip(" \t"):
            mark = None
    return mark


@given(STYLED, MARKDOWN | ANYTHING | FENCES)
@settings(max_examples=300)
@example(UNITS, "🔥" * 100)
@example(UNITS, "`" * 500)
@example(UNITS, " \n" * 500)
@example(UNITS, f"~~~{'🔥' * 7}\n" + "🔥" * 90)
@example(UNITS, "```\n" * 60)
def test_no_piece_is_over_the_limit_or_blank(style: Style, text: str) -> None:
    for piece in pieces(style, text):
        assert style.measure(piece) <= style.limit
        assert piece.strip()


@given(STYLED, MARKDOWN | ANYTHING | FENCES)
@settings(max_examples=300)
def test_the_bodies_add_up_to_the_text_and_only_blank_pieces_are_left_out(style: Style, text: str) -> None:
    whole = prepared(style, text)
    cuts = list(cut(style, whole))
    assert "".join(each.body for each in cuts) == whole
    assert pieces(style, text) == [each.piece for each in cuts if each.piece.strip()]
    for each in cuts:
        assert each.body
        assert re.fullmatch(r"(?:[ \t]*(?:```+|~~~+)[^\n]*\n)?", each.opened)
        assert re.fullmatch(r"(?:\n?[ \t]*(?:```+|~~~+))?", each.closed)


@given(st.sampled_from([PLAIN, UNITS, ENTITIES]), MARKDOWN | FENCES)
@settings(max_examples=500)
def test_every_fence_is_closed_in_the_piece_it_is_opened_in(style: Style, text: str) -> None:
    for piece in pieces(style, text):
        assert open_at_the_end(piece, style.limit // 4) is None


@given(st.sampled_from([PLAIN, UNITS, ENTITIES]), MARKDOWN | FENCES)
@settings(max_examples=500)
def test_what_is_code_stays_code_and_what_is_not_does_not_become_code(style: Style, text: str) -> None:
    """Each body's characters, by whether they stand in a fence: the same in the pieces as in the whole."""

    def coloured(text: str, longest: int) -> str:
        mark, seen = None, ""
        for line in text.split("\n"):
            before, mark = mark, open_at_the_end(f"{mark}\n{line}" if mark else line, longest)
            inside = before is not None and mark is not None
            is_fence = (before is None) != (mark is None)
            seen += "" if is_fence else "".join(f"{'c' if inside else 't'}{each}" for each in line)
        return seen

    longest = style.limit // 4
    whole = coloured(prepared(style, text), longest)
    assert "".join(coloured(each.piece, longest) for each in cut(style, prepared(style, text))) == whole


@given(ANYTHING)
def test_text_within_the_limit_is_one_piece_unchanged_but_for_escaping(text: str) -> None:
    style = Style("wide", limit=10_000, escape=entities)
    whole = prepared(style, text)
    if whole.strip():
        (only,) = cut(style, whole)
        assert only.body == whole
        assert only.opened == ""


@pytest.mark.parametrize("style", [SLACK_LIKE, DISCORD_LIKE, *STYLES.values()], ids=lambda style: style.name)
@pytest.mark.parametrize(("beyond", "count"), [(-1, 1), (0, 1), (1, 2)])
def test_the_limit_itself_fits_and_one_more_does_not(style: Style, beyond: int, count: int) -> None:
    parts = pieces(style, "x" * (style.limit + beyond))
    assert len(parts) == count
    assert "".join(parts) == "x" * (style.limit + beyond)


@pytest.mark.parametrize(("beyond", "count"), [(-1, 1), (0, 1), (1, 2)])
def test_a_closing_fence_counts(beyond: int, count: int) -> None:
    """The text leaves its fence open; closing it takes four characters."""
    parts = pieces(PLAIN, "```\n" + "x" * (60 - 8 + beyond))
    assert len(parts) == count
    assert all(part.startswith("```\n") and part.endswith("\n```") for part in parts)


@pytest.mark.parametrize(("ampersands", "count"), [(599, 1), (600, 1), (601, 2), (3000, 5)])
def test_length_is_measured_after_escaping_and_no_entity_is_cut(ampersands: int, count: int) -> None:
    parts = pieces(SLACK_LIKE, "&" * ampersands)
    assert len(parts) == count
    assert all(re.fullmatch(r"(?:&amp;)+", part) for part in parts)


@pytest.mark.parametrize("shift", range(5))
def test_no_entity_is_cut_wherever_it_stands(shift: int) -> None:
    parts = pieces(ENTITIES, "x" * shift + "<&" * 100)
    assert all(re.fullmatch(r"x*(?:&amp;|&lt;)+", part) for part in parts)


@pytest.mark.parametrize(("emoji", "count"), [(999, 1), (1000, 1), (1001, 2)])
def test_an_emoji_is_two_units_and_is_never_cut_in_two(emoji: int, count: int) -> None:
    parts = pieces(DISCORD_LIKE, "🔥" * emoji)
    assert len(parts) == count
    assert "".join(parts) == "🔥" * emoji


def test_the_family_emoji_has_seven_code_points_and_eleven_units() -> None:
    assert code_points(FAMILY) == 7
    assert utf16_units(FAMILY) == 11
    assert utf16_units("\ud83d\udd25") == 2


@pytest.mark.parametrize("sign", [FAMILY, FLAG, "e\u0301", "👍🏽", "\u1112\u1161\u11ab"])
@pytest.mark.parametrize("shift", range(6))
def test_a_sign_made_of_several_characters_is_not_cut(sign: str, shift: int) -> None:
    text = "x" * shift + sign * 40
    for part in pieces(UNITS, text)[1:]:
        assert part.startswith(sign)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("a" * 40 + "\n\nb\nc d" + "e" * 60, "a" * 40 + "\n\n"),
        ("a a " * 10 + "\n" + "b b " * 20, "a a " * 10 + "\n"),
        ("a" * 50 + " " + "b" * 50, "a" * 50 + " "),
        ("a" * 10 + "\n\n" + "b" * 100, "a" * 10 + "\n\n" + "b" * 48),
    ],
    ids=["paragraph", "line", "space", "no break far enough on"],
)
def test_a_cut_prefers_a_paragraph_then_a_line_then_a_space(text: str, first: str) -> None:
    assert pieces(PLAIN, text)[0] == first


def test_a_fence_that_fits_a_piece_is_kept_whole() -> None:
    fence = "```py\nprint(1)\nprint(2)\n```\n"
    parts = pieces(PLAIN, "Some words before it, as one writes.\n" + fence + "And after.")
    assert parts == ["Some words before it, as one writes.\n", fence + "And after."]


def test_a_long_fence_is_opened_again_as_it_was() -> None:
    code = "".join(f"line_{number} = {number}\n" for number in range(20))
    parts = pieces(PLAIN, f"Look:\n  ~~~~py\n{code}  ~~~~\nDone.")
    assert len(parts) > 3
    for part in parts[1:]:
        assert part.startswith("  ~~~~py\nline_")
    assert parts[0].startswith("Look:\n  ~~~~py\nline_0 = 0\n")
    assert parts[-1].endswith("  ~~~~\nDone.")
    assert re.findall(r"line_\d+ = \d+\n", "".join(parts)) == code.splitlines(keepends=True)


def test_a_fence_of_another_mark_inside_a_fence_is_code() -> None:
    parts = pieces(PLAIN, "````\n" + "```\ncode\n```\n" * 10 + "````")
    assert all(part.startswith("````\n") and part.endswith("\n````") for part in parts)


def test_backquotes_in_the_middle_of_a_line_do_not_become_a_fence_by_a_cut() -> None:
    for text in ("a" * 50 + " ```" + "b" * 30, "a" * 58 + "```" + "b" * 9, "a" * 50 + " ~~~ b b ~~~" + "c" * 9):
        assert not any(part.startswith(("```", "~~~")) for part in pieces(PLAIN, text))


def test_a_line_that_is_no_fence_only_because_of_its_end_is_not_cut_into_one() -> None:
    assert pieces(PLAIN, "a" * 20 + "\n``` " + "b " * 22 + "`" + "c" * 30)[0] == "a" * 20 + "\n"


def test_a_line_that_opens_a_fence_is_not_cut() -> None:
    parts = pieces(PLAIN, "a" * 49 + "\n``` b c d e f g\n" + "x = 1\n" * 20 + "```")
    assert parts[0] == "a" * 49 + "\n"
    assert all(part.startswith("``` b c d e f g\nx = 1") for part in parts[1:])


def test_a_long_fence_does_not_begin_at_the_end_of_a_piece() -> None:
    parts = pieces(PLAIN, "a " * 22 + "\n```\n" + "x = 1\n" * 20 + "```")
    assert parts[0] == "a " * 22 + "\n"


def test_a_fence_is_not_opened_again_only_to_be_closed() -> None:
    parts = pieces(PLAIN, "```\n" + "x" * 52 + "\n```\nAnd more, so that it is too much for one.")
    assert not any("```\n```" in part for part in parts)


@pytest.mark.parametrize("text", ["", " ", "\n\n", " \n\t" * 500])
def test_nothing_to_say_is_no_message(text: str) -> None:
    assert pieces(UNITS, text) == []


def test_line_ends_become_line_feeds_and_what_is_live_becomes_notation() -> None:
    assert pieces(PLAIN, "a\r\nb\rc\x1b[2J\u202e") == ["a\nb⟨U+000D⟩c⟨U+001B⟩[2J⟨U+202E⟩"]


@pytest.mark.parametrize(
    "text", ["x" * 3_000_000, "`" * 300_000, "```\n" * 100_000, " \n" * 300_000, "x ```" * 100_000]
)
def test_much_text_is_much_work_but_not_more_than_that(text: str) -> None:
    """Nothing quadratic: were it so, the time limit of the test would stop it."""
    assert sum(map(len, pieces(DISCORD_LIKE, text))) >= len(text.strip())


def test_a_limit_that_leaves_no_room_for_a_fence_is_refused() -> None:
    with pytest.raises(ValueError, match="40"):
        Style("tiny", limit=39)
