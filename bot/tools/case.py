"""Case tools: what the assistant may do to its own case. Each acts inside the transaction that records it."""

from bot.outbound import speech
from bot.tools.declare import Tool, ToolFailed, declare
from bot.tools.scene import Scene
from casestore import cases
from casestore.states import CaseState, Provenance, Tier
from casestore.tx import Tx

_BY = "assistant"


def set_title(tx: Tx, scene: Scene, title: str) -> str:
    """Give the case a better title, in a few words."""
    if not title.strip():
        raise ToolFailed("the title is empty")
    cases.retitle(tx, scene.now, scene.begun.case.id, title.strip(), actor=_BY)
    return "the title is set"


def set_task_state(tx: Tx, scene: Scene, state: dict[str, str]) -> str:
    """Note where you are in this matter, for yourself and for whoever takes it over."""
    cases.set_task_state(tx, scene.now, scene.begun.case.id, state, actor=_BY)
    return "noted"


def ask_requester(tx: Tx, scene: Scene, question: str) -> str:
    """Ask the person who opened the case a question, and wait for the answer. It ends your turn."""
    case = scene.begun.case
    if case.requester is None:
        raise ToolFailed("this case has no requester to ask; hand it to an operator instead")
    if not question.strip():
        raise ToolFailed("the question is empty")
    speech.say(tx, scene.now, case.id, question, provenance=Provenance.ASSISTANT, turn_id=scene.begun.turn.id)
    return "asked; the answer comes with the next turn"


def hand_off(tx: Tx, scene: Scene, reason: str) -> str:
    """Give the case to an operator, saying why. It ends your turn."""
    scene.hand_off = reason.strip() or "the assistant asked for one"
    return "handed to an operator"


def resolve(tx: Tx, scene: Scene, note: str) -> str:
    """Mark the case as resolved, with a note on how. Answer the requester afterwards."""
    cases.move(
        tx, scene.now, scene.begun.case.id, to=CaseState.RESOLVED, actor=_BY, kind="case.resolved",
        only_from=(CaseState.IN_PROGRESS,), content={"reason": note},
    )  # fmt: skip
    return "the case is resolved"


def remember_verification(tx: Tx, scene: Scene, subject: str, how: str) -> str:
    """Record who the customer was verified to be, and how they were verified."""
    if not subject.strip() or not how.strip():
        raise ToolFailed("say who was verified, and how")
    cases.verify_subject(tx, scene.now, scene.begun.case.id, verified_as=subject, how=how, actor=_BY)
    return "recorded"


def case_tools() -> list[Tool]:
    """All of them. Recording a verification is consequential: actions rely on it (R22)."""
    return [
        declare(set_title, name="case.set_title", statement="Give the case the title {title}", tier=Tier.ROUTINE,
                reversible=True, applies=True),
        declare(set_task_state, name="case.set_task_state", statement="Note the task state {state}",
                tier=Tier.ROUTINE, reversible=True, applies=True),
        declare(ask_requester, name="case.ask_requester", statement="Ask the requester: {question}",
                tier=Tier.ROUTINE, applies=True),
        declare(hand_off, name="case.hand_off", statement="Hand the case to an operator: {reason}",
                tier=Tier.ROUTINE, reversible=True, applies=True),
        declare(resolve, name="case.resolve", statement="Resolve the case: {note}", tier=Tier.ROUTINE,
                reversible=True, applies=True),
        declare(remember_verification, name="case.remember_verification",
                statement="Record that the requester was verified as {subject}, by {how}",
                tier=Tier.CONSEQUENTIAL, applies=True),
    ]  # fmt: skip
