"""App Home in blocks. What people wrote stands in rich text, in which no character of it is live.

https://docs.slack.dev/surfaces/app-home
"""

from __future__ import annotations

from collections.abc import Iterator

from channels.card import Verb
from channels.home import CaseLine, Home, Waiting
from channels.plain import VERB_WORDS
from channels.slack.cards import Block, bold, cut, header, plain, rich, section
from channels.visible import one_line

HAND = "case_hand"
_HANDS = {"take": "Take over", "release": "Hand back"}
_ASKED = {"approve": "View all and decide…", "deny": "Deny…", "revise": "Revise…"}


def view(home: Home, said: str) -> Block:
    """The page; `said` stands at its top: what has just become of what the person pressed."""
    return {"type": "home", "blocks": list(_blocks(home, said))}


def nobodys() -> Block:
    """The page of whom we knew and do not know any more: it takes the place of what they could see."""
    return {"type": "home", "blocks": [rich(section(plain("There is nothing here for you any more.")))]}


def hand_value(line: CaseLine) -> str:
    """What a button carries: the command that it stands for."""
    return f"/case {line.hand} {line.number}"


def _blocks(home: Home, said: str) -> Iterator[Block]:
    if said:
        yield rich(section(bold(cut(said, 1_000))))
    yield header("Gates waiting for me")
    for gate in home.waiting:
        yield rich(section(bold(cut(gate.statement)), plain(f"\n{gate.case_label}, until {cut(gate.until)}")))
        yield {
            "type": "actions", "block_id": f"home:{gate.gate_id}:{gate.digest8}",
            "elements": [_answer(gate, verb) for verb in gate.verbs],
        }  # fmt: skip
    if not home.waiting:
        yield rich(section(plain("None.")))
    yield header("Cases of mine")
    yield from _cases(home.mine, "mine")
    if home.is_operator:
        yield header("What wants an operator")
        yield from _cases(home.wanting, "wanting")
    if home.more:
        yield rich(section(plain(f"And {', '.join(map(one_line, home.more))}.")))


def _cases(lines: tuple[CaseLine, ...], name: str) -> Iterator[Block]:
    for line in lines:
        yield rich(section(bold(cut(line.label)), plain(f"  {cut(line.stands)}  {cut(line.title)}")))
        if line.hand is not None:
            yield {
                "type": "actions", "block_id": f"{name}:{line.number}:{line.hand}",
                "elements": [_button(HAND, _HANDS[line.hand], hand_value(line))],
            }  # fmt: skip
    if not lines:
        yield rich(section(plain("None.")))


def _answer(gate: Waiting, verb: Verb) -> Block:
    """Approving is behind the whole call; what became of an outcome is answered at once."""
    action = "gate_view" if verb == "approve" else f"gate_{verb}"
    return _button(action, _ASKED.get(verb, VERB_WORDS[verb]), f"gate:{gate.gate_id}:{verb}:{gate.digest8}")


def _button(action: str, words: str, value: str) -> Block:
    text: Block = {"type": "plain_text", "text": words, "emoji": False}
    return {"type": "button", "action_id": action, "value": value, "text": text}
