"""What runs do: begin, ask the model, make calls, record them; and what holders do whose time is over."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from pydantic_ai.messages import ModelResponse

from bot.tools import results
from bot.tools.results import CallResult
from bot.turns import advance
from bot.turns.instruct import CallModel, Lost, RunCalls
from casestore import asking, model_steps, spending, steps
from casestore.asking import Policy
from casestore.errors import LeaseLost
from casestore.model_steps import ModelCall
from casestore.models import CaseId, Gate, StepId
from casestore.spending import NotSpent, Spent
from casestore.states import OnExpiry, Role
from casestore.turns import Begun
from tests.conftest import HOUR, MINUTE, question_for
from tests.faults.machine.acts import Job, response_of
from tests.faults.machine.model import has_work, holds, is_free
from tests.faults.machine.people import NUMBER, People
from tests.faults.machine.picture import Picture
from tests.faults.machine.service import Hand
from tests.loop.scripted import calls, says

Wanted = tuple[str, dict[str, object]]
CALLS: st.SearchStrategy[Wanted] = st.sampled_from(
    [("look", {"at": "logs"}), ("note", {"text": "n"}), ("svc.restart", {"service": "nginx"}),
     ("svc.restart", {"service": "nginx"}), ("wipe", {"place": "tmp"}), ("refund", {"order": 1, "amount": 5}),
     ("diary", {"of": "ann"}), ("case.resolve", {"note": "done"}), ("case.hand_off", {"reason": "no idea"}),
     ("case.ask_requester", {"question": "which?"}), ("no_such_tool", {}), ("wipe", {"nonsense": 1})],
)  # fmt: skip
HELD: st.SearchStrategy[Wanted] = st.sampled_from(
    [("svc.restart", {"service": "nginx"}), ("wipe", {"place": "tmp"}), ("note", {"text": "n"}),
                        ("refund", {"order": 1, "amount": 5}), ("look", {"at": "logs"})])  # fmt: skip


def _calls(wanted: Sequence[Wanted]) -> ModelResponse:
    return calls(*wanted)


ANSWER: st.SearchStrategy[ModelResponse | None] = st.one_of(
    st.lists(HELD, min_size=1, max_size=4).map(_calls),
    st.lists(HELD, min_size=1, max_size=2).map(_calls),
    st.lists(HELD, min_size=2, max_size=3).map(_calls),
    st.lists(CALLS, min_size=1, max_size=3).map(_calls),
    st.sampled_from(["I see.", ""]).map(says),
    st.sampled_from(["length", "content_filter"]).map(lambda finish: says("Hm", finish)),  # pyright: ignore[reportArgumentType]
    st.none(),
)
"""What the model answers; None: nothing."""
SOME = st.lists(ANSWER, min_size=2, max_size=5)
ENDS = st.sampled_from(["ok", "ok", "ok", "failed", "out of time"])
ENDINGS = st.lists(ENDS, min_size=1, max_size=3)
ANSWERS = st.sampled_from(["approve", "approve", "approve", "deny", "revise"])


class Engine(People):
    """The runs of the one service, and of those before it."""

    # Beginning

    @initialize(answer=ANSWER, by=st.sampled_from(["ann", "kim"]), talks=st.booleans())
    def something_is_under_way(self, answer: ModelResponse | None, by: str, talks: bool) -> None:
        """Every history begins with a question, and a model that has answered it."""
        self.model.talks = self.service.talks = talks
        self.service.kill(stopped=False)
        self.do(*self.saying(by, "t1", "m0", addressed=True))
        self.begin_what_is_ready_now(answer)

    def beginning(self, case_id: int) -> tuple[Job, Any]:
        """A case is taken to be worked, and what is expected of it."""
        may = self.works(case_id) and is_free(self.picture, self.now, case_id)
        boot = self.service.boot

        def after(value: object) -> None:
            turn = next((t for t in self.picture.all("turns", case_id=case_id) if t["not_before"] > self.now), None)
            assert value is None or may, "R10, R11: somebody else's case was begun"
            assert value is not None or not may or turn is not None, "R11: what has work was not begun"
            self.model.tally["begun"] += value is not None
            self.follow(boot, value)

        return self.bound(advance.begin, self.service.desk, CaseId(case_id)), after

    @precondition(lambda self: self.picture.tables["cases"])
    @rule(number=NUMBER)
    def begin(self, number: int) -> None:
        """The engine looks into a case."""
        case = self.case(number)
        assert case is not None
        self.do(*self.beginning(case["id"]))

    def begin_what_is_ready_now(self, answer: ModelResponse | None) -> None:
        """The engine takes what has work, and the model answers at once."""
        self.do(*self.beginning(self.ready()[0]))
        if self.service.hands and isinstance(self.service.hands[-1].instruction, CallModel):
            self.do(*self.responding(self.service.hands[-1], answer))

    def ready(self) -> list[int]:
        """Cases that the model says are ready."""
        found = [case["id"] for case in self.picture.all("cases")]
        return [id for id in found if self.works(id) and is_free(self.picture, self.now, id)]

    def works(self, case_id: int) -> bool:
        """Whether the model says that a case has work."""
        return has_work(self.picture, self.now, case_id, talks=self.model.talks)

    # Going on

    def responding(self, hand: Hand, answer: ModelResponse | None) -> tuple[Job, Any]:
        """The model has answered, or has not."""
        call, desk = hand.instruction, self.service.desk
        assert isinstance(call, CallModel)
        if answer is None:
            job = self.bound(advance.no_response, desk, call.begun, call.step_id, "busy", again=True)
        else:
            job = self.bound(advance.respond, desk, call.begun, call.step_id, response_of(answer))
        return job, self.went_on(hand)

    def went_on(self, hand: Hand) -> Any:
        """What is expected of an act of this hand, and what it does next."""
        stood, before, case_id = self.stands(hand), self.picture, hand.instruction.begun.case.id

        def after(value: object) -> None:
            if hand in self.service.hands:
                self.service.hands.remove(hand)
            if not stood:
                self.stale(before, case_id, value)
            else:
                assert not isinstance(value, Lost), "R10: whose lease stands may act"
                self.follow(hand.boot, value)

        return after

    def make(self, hand: Hand) -> None:
        """The calls are made: what happens in the world happens now."""
        assert isinstance(hand.instruction, RunCalls)
        if hand.made:
            return
        hand.made = True
        for call in hand.instruction.calls:
            if call.tool.tier != "read_only":
                self.model.made[call.step_id] += 1
                self.model.tally["effect"] += 1

    def recording(self, hand: Hand, ends: list[str]) -> tuple[Job, Any]:
        """What came of the calls is recorded, the last of them with what follows."""
        run = hand.instruction
        assert isinstance(run, RunCalls)
        done: list[tuple[StepId, CallResult]] = []
        unknown: list[StepId] = []
        for number, call in enumerate(run.calls):
            end = ends[number % len(ends)]
            if end == "out of time" and call.tool.tier != "read_only":
                unknown.append(call.step_id)
            else:
                done.append((call.step_id, results.ok("done") if end == "ok" else results.failed("it broke")))
        return self.bound(advance.all_finished, self.service.desk, run.begun, done, unknown), self.went_on(hand)

    @precondition(lambda self: self.service.hands)
    @rule(number=NUMBER, answer=ANSWER, ends=ENDINGS, stopped=st.booleans())
    def dies_before_it_tells(self, number: int, answer: ModelResponse | None, ends: list[str], stopped: bool) -> None:
        """A run has made its calls, and is cut off before it has told anybody."""
        hand = self.service.hands[number % len(self.service.hands)]
        if isinstance(hand.instruction, CallModel):
            self.go_on_with(hand, answer, ends)
            return
        self.make(hand)
        self.service.lose(hand, stopped=stopped)

    def go_on_with(self, hand: Hand, answer: ModelResponse | None, ends: list[str]) -> None:
        """A run does what is next."""
        if isinstance(hand.instruction, CallModel):
            self.do(*self.responding(hand, answer))
            return
        self.make(hand)
        for call, end in zip(hand.instruction.calls[1:], ends, strict=False):
            if end == "ok":  # recorded by itself, before the others
                self.do(self.bound(advance.finished, call.step_id, results.ok("done")))
        self.do(*self.recording(hand, ends))

    def forward(self, answers: list[ModelResponse | None], ends: list[str], verb: str) -> None:
        """Some of what would happen next if nothing came between: people answer, the engine works."""
        for answer in answers:
            before, opened = self.picture, next(self.picture.all("gates", state="open"), None)
            if self.service.hands:
                self.go_on_with(self.service.hands[0], answer, ends)
            elif opened is not None and opened["expires_at"] > self.now:
                self.answer_rightly(opened, verb)
            elif self.ready():
                self.begin_what_is_ready_now(answer)
            elif any(self.picture.all("leases", kind="human")):
                self.release()
            else:
                self.do(*self.saying("ann", "t1", f"m{len(self.model.said)}", addressed=True))
            if len(ends) > 1 and list(self.picture.added(before, "gates")):
                return  # somebody is asked: a good moment for anything else

    # More than once, since most of what happens is that things go on.
    goes_on = rule(answers=SOME, ends=ENDINGS, verb=ANSWERS)(forward)
    goes_on_well = rule(answers=SOME, ends=st.just(["ok"]), verb=st.just("approve"))(forward)
    goes_on_still = rule(answers=SOME, ends=ENDINGS, verb=ANSWERS)(forward)

    # Too late

    @precondition(lambda self: self.service.ghosts)
    @rule(number=NUMBER, answer=ANSWER, ends=ENDINGS)
    def ghost_goes_on(self, number: int, answer: ModelResponse | None, ends: list[str]) -> None:
        """A process that was stopped goes on as if nothing had happened."""
        ghost = self.service.ghosts.pop(number % len(self.service.ghosts))
        if isinstance(ghost.instruction, CallModel):
            self.do(*self.responding(ghost, answer))
            return
        self.make(ghost)
        self.do(*self.recording(ghost, ends))

    def misuse_old_leases(self) -> None:
        """Holders whose time is over start, ask and spend with the lease they had (R10)."""
        for begun in [each for each in self.service.begun if not self.still(each)][-3:]:
            case_id = begun.case.id
            acts: list[Job] = [
                self.bound(model_steps.start, begun.lease, begun.run, ModelCall("{}", "d", self.now + MINUTE))
            ]
            for row in list(self.picture.all("steps", case_id=case_id, kind="tool"))[-2:]:
                step = self.service.read(steps.by_id, row["id"])
                policy = Policy((Role.OPERATOR,), True, OnExpiry.TELL, self.now + HOUR)
                acts.append(self.bound(steps.start_tool, begun.lease, begun.run.id, step, deadline=self.now + MINUTE))
                acts.append(self.bound(asking.ask, begun.lease, begun.turn.id, question_for(step, policy)))
            for gate in list(self.picture.all("gates", case_id=case_id))[-2:]:
                if gate["kind"] != "outcome" or gate["verb"] == "rerun":
                    acts.append(self.spending(begun, gate["id"], gate["tool_version"]))
            for act in acts:
                before = self.picture
                self.do(act, partial(self.refused_as_stale, before, case_id))

    def refused_as_stale(self, before: Picture, case_id: int, value: object) -> None:
        """It was refused, and because of the lease."""
        assert isinstance(value, LeaseLost), "R10"
        self.stale(before, case_id, value)

    def misuse_gates(self) -> None:
        """A run whose lease stands spends gates that are open, decided otherwise, void or spent (R9)."""
        for hand in self.held()[:1]:
            begun = hand.instruction.begun
            spent = {step["gate_id"] for step in self.picture.all("steps")}
            for gate in list(self.picture.all("gates", case_id=begun.case.id))[-4:]:
                if (gate["state"] != "approved" or gate["id"] in spent) and gate["kind"] != "outcome":
                    self.model.tally["spent wrongly"] += 1
                    self.do(self.spending(begun, gate["id"], gate["tool_version"]), _refused)

    def misuse_results(self) -> None:
        """Calls that have a result are given another one (R14)."""
        for step in [s for s in self.picture.all("steps", kind="tool") if s["result"] is not None][-4:]:
            other = results.ok("something else").stored()
            self.do(self.bound(steps.finish_tool, StepId(step["id"]), ok=True, result=other), _not_taken)

    @rule()
    def misuse(self) -> None:
        """All that no holder should try."""
        self.misuse_old_leases()
        self.misuse_gates()
        self.misuse_results()

    def still(self, begun: Begun) -> bool:
        """Whether its lease stands."""
        return holds(self.picture, self.now, begun.lease.case_id, begun.lease.fence)

    def held(self) -> list[Hand]:
        """Hands whose lease stands."""
        return [hand for hand in self.service.hands if self.stands(hand)]

    def spending(self, begun: Any, gate_id: int, version: str) -> Job:
        """An attempt to spend a gate."""
        gate = self.service.read(_gate, gate_id)
        return partial(_spend, self.now, begun, gate, version, self.now + MINUTE)


def _not_taken(value: object) -> None:
    assert not value, "R14: a second result was taken"


def _refused(value: object) -> None:
    assert isinstance(value, NotSpent), f"R9: {value} was spent"
    assert not isinstance(value, Spent)


def _gate(tx: Any, gate_id: int) -> Gate:
    return tx.one(Gate, "SELECT * FROM gates WHERE id = :id", id=gate_id)


def _spend(now: int, begun: Any, gate: Gate, version: str, deadline: int, tx: Any) -> object:
    return spending.spend(tx, now, begun.lease, begun.run.id, gate, tool_version=version, deadline=deadline)
