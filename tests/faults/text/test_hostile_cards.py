"""Whatever an alert, a person or a model puts into an argument: who decides sees all of it, in its own place (R23).

Pieces, fences and escaping are in tests/text; one card drawn by hand in tests/channel_contract/test_plain.py.
"""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.gates import statement
from channels.card import Argument, Card
from channels.plain import VERB_WORDS, render_card
from channels.text import STYLES, cut, pieces, prepared
from tests.loop.effects import declared

PARTS = (
    "\n", "\r", "\x00", "\x1b[2J", "\u202e", "\u2066", "\u200b", "\u2028", "\ufeff", "\ud800", "\U000e0041", "```",
    "~~~", "<!channel>", "@everyone", "<https://x|fix>", "[ Approve ]", "gate 9", "Decides    anybody", "| ", '"', "ä",
)  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=12).map("".join)
NEEDED = HOSTILE.map(lambda text: text or "x")
SHAPELESS = ("Cc", "Cs", "Co", "Zl", "Zp")
DIRECTIONS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
TOOLS = {tool.name: tool for tool in declared()}
LABELS = ("Asked by", "Because", "Looked at", "Waiting", "Decides", "If nobody")


def seen(text: str) -> bool:
    """Whether nothing in it is hidden or turns the text around."""
    return all(
        unicodedata.category(each) not in SHAPELESS and unicodedata.bidirectional(each) not in DIRECTIONS
        for each in text.replace("\n", "")
    )  # fmt: skip


@settings(max_examples=200)
@given(HOSTILE, st.sampled_from(["svc.restart", "note", "look"]), st.booleans())
def test_a_statement_is_one_line_of_the_engines_words_around_what_was_passed(
    text: str, name: str, consent: bool
) -> None:
    tool = TOOLS[name]
    (argument,) = {"svc.restart": ["service"], "note": ["text"], "look": ["at"]}[name]
    words = statement.of_call(tool, {argument: text}, consent=consent)
    assert "\n" not in words
    assert seen(words)
    begins = {"svc.restart": "Restart ", "note": "Note ", "look": "Look at "}[name]
    assert words.startswith(("Let the assistant look: " if consent else "") + begins)


@settings(max_examples=150)
@given(NEEDED, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_no_text_in_a_card_passes_for_a_line_of_the_card_and_every_piece_of_it_fits(
    said: str, value: str, title: str, because: str, looked: str
) -> None:
    card = Card(
        gate_id=7, digest8="0123abcd", verbs=("approve", "deny"), statement=said, case_label="C-1001", case_title=title,
        origin="alert", tool="svc.restart", tier_note="consequential", asked_by="the assistant",
        arguments=(Argument(name="service", value=value), Argument(name="other", value=said, was=value)),
        because=because or None, looked_at=(looked,), decides="an operator", if_nobody="denied",
    )  # fmt: skip
    text = render_card(card)
    assert seen(text)
    lines = text.split("\n")
    assert [line for line in lines if line.startswith("[ ")] == [
        f"[ {VERB_WORDS['approve']} ] [ {VERB_WORDS['deny']} ]   gate 7"
    ]
    for label in LABELS:
        assert sum(line.startswith(label) for line in lines) <= 1, f"two lines say {label}"
    for style in STYLES.values():
        whole = prepared(style, text)
        assert "".join(each.body for each in cut(style, whole)) == whole
        assert all(style.measure(piece) <= style.limit for piece in pieces(style, text))
