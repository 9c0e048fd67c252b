"""Cards of whatever text there is: for those who lay cards out, on any surface."""

from __future__ import annotations

from itertools import cycle, islice

from hypothesis import strategies as st

from channels.card import Argument, Card

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
PARTS = (
    "<!channel>", "<!here>", "<!everyone>", "<@U0001>", "<#C0001>", "<!subteam^S1|@team>", "<!date^1^{date}|x>",
    "<https://evil.example|https://bank.example>", "[good](https://evil.example)", "![x](https://evil.example)",
    "[a][b]", "&lt;!channel&gt;", "&amp;", "&", "@everyone", "```", "~~~", "`", "\n", "\n\n", "\t", " ", FAMILY,
    "\U0001f1e9\U0001f1ea", "e\u0301", "\U0001f600", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\x00",
    "\ud800", "word ",
)  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=12).map("".join)
LONG = st.tuples(HOSTILE, st.integers(1, 400)).map(lambda drawn: (drawn[0] * drawn[1])[:1_200])
ANY = HOSTILE | LONG
NEEDED = ANY.map(lambda text: text or "x")


def made(drawn: list[str], arguments: int, *, cut_off: bool) -> Card:
    """A card whose fields are these texts, over and over, each beginning with another one."""
    after = cycle(drawn)
    needed = (text or "x" for text in after)
    return Card(
        gate_id=7, digest8="0123abcd", verbs=("approve", "deny", "revise"), statement=next(needed),
        case_label=next(needed), case_title=next(after), origin=next(after),
        tool=next(needed), tier_note=next(after), asked_by=next(after), because=next(after),
        looked_at=tuple(islice(after, 8)), waiting=next(after), earlier=next(after), decides=next(needed),
        if_nobody=next(needed),
        arguments=tuple(
            Argument(name=next(needed), value=next(after), was=next(after) if number % 2 else None,
                     length=10**9 if cut_off else None)
            for number in range(arguments)
        ),
    )  # fmt: skip


SHOWN = st.builds(made, st.lists(ANY, min_size=1, max_size=4), st.integers(0, 20), cut_off=st.booleans())


def many(text: str, *, length: int | None = None, was: str | None = None) -> tuple[Argument, ...]:
    """Twenty arguments that are all like this."""
    return tuple(Argument(name=f"{number} {text}", value=text, was=was, length=length) for number in range(20))


def longest(text: str, **more: object) -> Card:
    """A card of which everything is this."""
    return Card.model_validate({
        "gate_id": 7, "digest8": "0123abcd", "verbs": ("approve", "deny", "revise"), "statement": text,
        "case_label": text, "case_title": text, "origin": text, "tool": text, "tier_note": text,
        "arguments": many(text), "asked_by": text, "because": f"{text}\n{text}\n{text}\n{text}",
        "looked_at": (text,) * 8, "waiting": text, "earlier": text, "decides": text, "if_nobody": text, **more,
    })  # fmt: skip
