"""Where older turns may be cut off: a turn is made shorter whole or not at all, so each call keeps its result (R7)."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelRequest, UserPromptPart

from bot.retelling import compaction, retold
from bot.turns import window
from casestore.models import CaseId, TurnId
from casestore.transcript import Line

turns = st.integers(1, 5).map(TurnId)


@given(of=st.lists(turns, max_size=12), unsettled=st.sets(turns, max_size=2))
def test_it_is_cut_wherever_all_before_is_settled_and_no_turn_lies_on_both_sides(
    of: list[TurnId], unsettled: set[TurnId]
) -> None:
    rows = [Line(CaseId(1), place, "request", "{}", turn) for place, turn in enumerate(of)]

    may_be = [
        place
        for place in range(1, len(of))
        if not set(of[:place]) & set(of[place:]) and not set(of[:place]) & unsettled
    ]
    assert compaction.cuts(rows, unsettled) == may_be


def test_all_of_a_turn_is_covered_and_told_as_it_was_stored_in_whatever_order_it_was_shown() -> None:
    rows = [
        Line(CaseId(1), seq, "request", window.dump(ModelRequest([UserPromptPart(f"ann: {seq}")])))
        for seq in (3, 4, 7, 5, 6)
    ]

    piece = compaction.Piece(CaseId(1), None, tuple(rows))
    assert piece.upto == 7
    assert compaction.request(piece, 1_000).splitlines() == [f"ann: {seq}" for seq in (3, 4, 5, 6, 7)]


@given(text=st.text(st.characters(categories=["L", "P"]), min_size=200), most=st.integers(100, 150))
def test_what_follows_a_cut_in_what_somebody_said_is_still_theirs(text: str, most: int) -> None:
    _, *further = retold.bounded(text, most).splitlines()
    assert len(further) == 2
    assert all(line.startswith("| ") for line in further)
    assert len(retold.bounded(text, most)) == most
