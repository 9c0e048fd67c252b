"""All is right but for one thing; and an answer is given just before something else happens."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from pydantic_ai.messages import ModelResponse

from bot.turns.instruct import RunCalls
from casestore import holds, principals
from casestore.models import PrincipalId
from channels.messages import Address
from tests.conftest import HOUR
from tests.faults.machine.engine import ANSWER, ENDINGS, Engine
from tests.faults.machine.people import NUMBER
from tests.faults.machine.picture import Row
from tests.loop.scripted import calls, says

FLAWS = ("late", "revoked", "twice")
NEXT = ("taken over", "resolve", "close", "frozen", "revoked", "kill", "stopped", "late", "dies", "dies")


class Flaws(Engine):
    """What most of a random history would miss."""

    def opened(self) -> Row:
        """The gate that is open."""
        return next(self.picture.all("gates", state="open"))

    def almost_right(self, flaw: str) -> None:
        """Everything about an answer is as it has to be, but for one thing; each thing in turn (R5, R6)."""
        gate = self.opened()
        right = "approve" if gate["kind"] != "outcome" else "rerun"
        requester = self.picture.one("cases", gate["case_id"])["requester"]
        own = self.picture.one("principals", requester)["name"]
        who = own if gate["kind"] == "consent" else "lee"
        for name, verb, digest in (
            (who, right, "stale"), (who, right, "short"), (own if who == "lee" else "root", right, "right"),
            ("ben", right, "right"), ("eve", right, "right"),
            (who, "rerun" if right == "approve" else "approve", "right"),
        ):  # fmt: skip
            if not any(self.picture.all("gates", state="open")):
                return  # it was right after all: they may decide what others asked for
            self.do(*self.deciding(gate, name, verb, digest))
        if flaw == "late":
            self.service.clock.ms = max(self.now, gate["expires_at"])
        elif flaw == "revoked":
            self.leaves("lee")
        self.do(*self.deciding(gate, who, right, "right"))
        self.do(*self.deciding(gate, who, "deny" if right == "approve" else "happened", "right"))

    def an_answer_and_then(self, what: str) -> None:
        """A gate is answered rightly, and before it is spent something else happens (R9)."""
        gate = self.opened()
        if what == "late":
            self.service.clock.ms = gate["expires_at"] - 1
        if gate["kind"] == "approval":
            self.do(*self.deciding(gate, "lee", "approve", "right"))
        else:
            self.answer_rightly(gate, "approve")
        match what:
            case "taken over":
                self.do(*self.taking(gate["case_id"], "root"))
            case "resolve" | "close":
                self.do(*self.ending(gate["case_id"], what))
            case "frozen":
                self.do(self.bound(holds.place, tool=None, reason="so", by=self.service.people["root"].id))
            case "revoked":
                self.leaves("lee")
            case "late":
                self.service.clock.pass_by(HOUR)
            case "dies":
                self.dies_in_the_middle(gate["case_id"])
            case _:
                self.service.kill(stopped=what == "stopped")
                self.look()
        if gate["case_id"] in self.ready():
            self.do(*self.beginning(gate["case_id"]))

    @rule(flaw=st.sampled_from(FLAWS), number=NUMBER)
    def asked_and_almost_right(self, flaw: str, number: int) -> None:
        """Somebody is asked in a case, and the answer is right but for one thing."""
        if self.ask(number):
            self.almost_right(flaw)

    @rule(what=st.sampled_from(NEXT), number=NUMBER)
    def asked_answered_and_then(self, what: str, number: int) -> None:
        """Somebody is asked in a case, answers, and something comes between."""
        if self.ask(number):
            self.an_answer_and_then(what)

    answered = precondition(lambda self: any(self.picture.all("gates", state="open")))(
        rule(flaw=st.sampled_from(FLAWS))(almost_right)
    )
    then = precondition(lambda self: any(self.picture.all("gates", state="open")))(
        rule(what=st.sampled_from(NEXT))(an_answer_and_then)
    )

    @rule(said=st.lists(ANSWER, min_size=1, max_size=3), ends=ENDINGS, cut=st.integers(0, 5), number=NUMBER)
    def asked_and_talked(self, said: list[ModelResponse | None], ends: list[str], cut: int, number: int) -> None:
        """Somebody is asked in a case, and what is said there is answered beside it, or is cut off in the midst."""
        if not self.model.talks or not self.ask(number):
            return
        gate = self.opened()
        thread = next(self.picture.all("bindings", case_id=gate["case_id"], state="live"))["address"]
        self.do(*self.saying("ann", Address.parse(thread).thread, f"m{len(self.model.said)}", addressed=True))
        for nth, answer in enumerate([*said, says("It waits.")]):
            if nth == cut:
                self.service.kill(stopped=number % 2 == 0)
                self.look()
            held = [hand for hand in self.held() if hand.instruction.begun.case.id == gate["case_id"]]
            if held:
                self.go_on_with(held[0], answer, ends)
            elif gate["case_id"] in self.ready():
                self.do(*self.beginning(gate["case_id"]))

    def ask(self, number: int) -> bool:
        """Bring it about that somebody is asked, if nothing is in the way."""
        wanted = [("svc.restart", {"service": "nginx"}), ("wipe", {"place": "tmp"}), ("diary", {"of": "ann"})]
        answer = calls(wanted[number % 3], wanted[number % 2])
        if not any(self.picture.all("gates", state="open")):
            if not self.service.hands and not self.ready():
                self.do(*self.saying("ann", "t1", f"m{len(self.model.said)}", addressed=True))
            self.forward([answer] * 2, ["ok", "ok"], "approve")
        return any(self.picture.all("gates", state="open"))

    def dies_in_the_middle(self, case_id: int) -> None:
        """What was approved is begun, made, and never told of; then its time is over (R14)."""
        if case_id not in self.ready():
            return
        self.do(*self.beginning(case_id))
        for hand in [each for each in self.service.hands if isinstance(each.instruction, RunCalls)][-1:]:
            self.make(hand)
            self.service.lose(hand, stopped=case_id % 2 == 0)
            self.service.clock.ms = max(self.now, self.picture.one("leases", case_id)["until"] or 0)
            self.look()

    def leaves(self, name: str) -> None:
        """Somebody has left, if they had not before."""
        if any(self.picture.all("principals", name=name, revoked_at=None)):
            who, root = self.service.people[name].id, self.service.people["root"].id
            self.do(self.bound(principals.revoke, PrincipalId(who), revoked_by=root))
