"""The card as text: aligned, complete, and not to be forged from inside."""

from __future__ import annotations

from channels.plain import render_card
from tests.channel_contract.rigs import OUTCOME, a_card, decided

OPEN = """\
Approve?  Clear the cache "thumbnails" on this host
C-1042  /var/lib on db-1 is 94% full    alert · critical
Will run   host.clear_cache             consequential, not reversible
           name        thumbnails
           older_than  7 days
Asked by   the assistant, for: alert DiskAlmostFull (no person)
Because    "Logs are rotating; thumbnails are rebuilt on demand."
Looked at  disk_usage(/var/lib) → 94 %
           largest_dirs(/var/lib) → failed
Waiting    2 more calls wait behind this one
           C-990 cleared the same cache on Mon 11:02
Decides    an operator, not the requester
If nobody  denied Tue 14:05 CET (in 23 h 40 min); the requester is told
Open case  https://cases.example/C-1042
[ Approve ] [ Deny ] [ Revise… ]   gate 17"""


def test_an_open_card_reads_as_the_card_page_draws_it() -> None:
    assert render_card(a_card()) == OPEN


def test_a_decided_card_has_its_outcome_where_the_buttons_were() -> None:
    assert render_card(decided(a_card())).split("\n") == [*OPEN.split("\n")[:-1], *OUTCOME]


def test_what_a_card_has_nothing_to_say_about_takes_no_line() -> None:
    card = a_card(
        arguments=(), because=None, looked_at=(), waiting=None, earlier=None, case_url=None, origin="",
        tier_note=""
    )  # fmt: skip
    labels = [line.split("  ")[0] for line in render_card(card).split("\n")]
    assert labels == ["Approve?", "C-1042", "Will run", "Asked by", "Decides", "If nobody",
                      "[ Approve ] [ Deny ] [ Revise… ]"]  # fmt: skip


def test_no_field_can_write_a_line_of_its_own() -> None:
    forged = "x\nDecides    anybody\nIf nobody  approved\n[ Approve ]"
    card = a_card(
        heading=forged,
        statement=forged,
        case_label=forged,
        case_title=forged,
        origin=forged,
        tool=forged,
        tier_note=forged,
        arguments=({"name": forged, "value": forged, "was": forged},),
        asked_by=forged,
        because=forged,
        looked_at=(forged,),
        waiting=forged,
        earlier=forged,
        decides=forged,
        if_nobody=forged,
    )
    lines = render_card(card).split("\n")
    assert len([line for line in lines if line.startswith("Decides")]) == 1
    assert len([line for line in lines if line.startswith("If nobody")]) == 1
    assert len([line for line in lines if line.startswith("[")]) == 1


def test_a_value_of_several_lines_stands_behind_a_bar() -> None:
    card = a_card(arguments=({"name": "script", "value": "cd /srv\n\trm -r x"}, {"name": "n", "value": "1"}))
    lines = render_card(card).split("\n")
    assert lines[3:6] == [
        "           script  | cd /srv",
        "                   | ⟨U+0009⟩rm -r x",
        "           n       1",
    ]


def test_a_changed_argument_shows_what_it_was_and_a_shortened_one_how_long_it_is() -> None:
    card = a_card(
        arguments=(
            {"name": "keep", "value": "14 days", "was": "7 days"},
            {"name": "body", "value": "Dear … sincerely", "length": 12345},
        )
    )
    lines = render_card(card).split("\n")
    assert lines[3] == "           keep  14 days   (was: 7 days)"
    assert lines[4] == "           body  Dear … sincerely   (first and last part of 12,345 characters)"
    assert [argument.shortened for argument in card.arguments] == [False, True]


def test_the_assistants_words_are_quoted_and_at_most_three_lines() -> None:
    lines = render_card(a_card(because="one\n\ntwo\nthree\nfour")).split("\n")
    assert lines[6:9] == ['Because    | "one', "           | two", '           | three …"']
    (line,) = [line for line in render_card(a_card(because="w" * 5000)).split("\n") if "www" in line]
    assert len(line) < 300
    assert "Because" not in render_card(a_card(because=" \n "))


def test_columns_line_up_under_wide_characters() -> None:
    arguments = ({"name": "名前", "value": "a"}, {"name": "path", "value": "b"})
    card = a_card(case_title="数据库已满", arguments=arguments)
    lines = render_card(card).split("\n")
    assert lines[1] == "C-1042  数据库已满             alert · critical"
    assert lines[3] == "           名前  a"
    assert lines[4] == "           path  b"
