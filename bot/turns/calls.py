"""Working the calls of a response, in its order (R7): which run now, which are refused, which one is asked.

Everything here happens inside one transaction and is derived from what is stored, so it is the same for a fresh
response, after a decision, and after a crash (R13).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.gates import statement
from bot.policy import policy, profiles
from bot.tools import results
from bot.tools.declare import BadArguments, Tool, ToolFailed
from bot.tools.results import CallResult, ResultKind
from bot.tools.scene import Scene
from bot.turns import endings
from bot.turns.desk import Desk
from bot.turns.instruct import ToRun
from bot.turns.journal import as_written
from casestore import asking, cases, episodes, gates, principals, recovery, runs, spending, steps
from casestore.canonical import decode
from casestore.errors import MoveRefused
from casestore.models import Gate, Step, StepId
from casestore.spending import NotSpent, Spent
from casestore.states import CaseState, GateKind, GateState, OnExpiry, StepState, Tier, Verb
from casestore.turns import Begun
from casestore.tx import Tx
from channels.text import storable

_MARGIN_MS = 5_000
_BESIDE = "while another call waits for a decision"
_HANDED_OFF = "the case was handed to an operator: {}"


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of a response's calls: some to run now, or else one to be asked, or else all have results."""

    to_run: tuple[ToRun, ...] = ()
    ask: asking.Question | None = None
    too_many: bool = False
    """The run may make no more calls, and some still wait."""


def work(tx: Tx, now: int, desk: Desk, begun: Begun, calls: Sequence[Step], because: str) -> Worked:
    """Go through the calls. Refusals, spends and case tools are done here; outside calls are started and returned."""
    worker = _Worker(tx, now, desk, begun, because)
    if (why := endings.handed_off(tx, calls)) is not None:
        worker.stop_the_rest(_HANDED_OFF.format(why))
    for step in calls:
        if step.result is None:
            worker.take(step)
    if worker.to_run:
        return Worked(to_run=tuple(worker.to_run))
    return Worked(ask=worker.ask, too_many=worker.too_many)


class _Worker:
    """The pass over one response's calls."""

    def __init__(self, tx: Tx, now: int, desk: Desk, begun: Begun, because: str) -> None:
        self.tx, self.now, self.desk, self.begun, self.because = tx, now, desk, begun, because
        self.to_run: list[ToRun] = []
        self.ask: asking.Question | None = None
        self.too_many = False
        self._may_start = desk.settings.limits.tool_calls - runs.by_id(tx, begun.run.id).tool_calls
        self._gated_before = False
        self._effect_under_way = False
        self._rest_refused: str | None = None
        self._waiting: list[Step] = []
        self._acts_for = None if begun.turn.acts_for is None else principals.get(tx, begun.turn.acts_for)
        self._narrowing = profiles.of(desk.settings, self._acts_for)

    def take(self, step: Step) -> None:
        """Decide on one call that has no result yet."""
        if step.state is StepState.UNKNOWN:
            self._unknown(step)
        elif step.state is StepState.WAITING and self._rest_refused is not None:
            self._refuse(step, results.not_asked(self._rest_refused))
        elif step.state is StepState.WAITING:
            self._waiting_call(step)

    def stop_the_rest(self, why: str) -> None:
        """Every call that still waits, before or after this one, gets the result "not asked" (R7)."""
        self._rest_refused, self.ask = why, None
        for step in self._waiting:
            self._refuse(step, results.not_asked(why))

    def _waiting_call(self, step: Step) -> None:
        tool = self.desk.toolbox.get(step.tool or "")
        beside = self.begun.turn.beside is not None
        if tool is None or not policy.offered(tool, self.desk.settings, beside=beside) or not step.tool_version:
            known = ", ".join(t.wire_name for t in self.desk.offer(self.tx, self.begun.turn).tools)
            why = f"{step.tool} is not run {_BESIDE}" if tool and beside else f"there is no tool {step.tool}"
            told = f"there is no tool {step.tool}" if tool is None else policy.withheld(tool, self.desk.settings)
            self._refuse(step, CallResult(ResultKind.INVALID, f"{why}; there are: {known}"), void=told)
            return
        try:
            args = tool.validate(as_written(decode(step.args or "{}")))
        except BadArguments as error:
            self._refuse(step, CallResult(ResultKind.INVALID, str(error)))
            return
        held = gates.of_call(self.tx, step.id)
        asked, consent = held.get(GateKind.APPROVAL), held.get(GateKind.CONSENT)
        for gate in (consent, asked):
            if gate is not None and gate.state in (GateState.DENIED, GateState.EXPIRED, GateState.WITHDRAWN):
                self._denied(step, gate)
                return
        if asked is not None and asked.state is GateState.APPROVED:
            if (why := policy.withheld(tool, self.desk.settings, self._narrowing)) is not None:
                self._refuse(step, CallResult(ResultKind.REFUSED, f"approved, but refused: {why}"))
            else:
                self._spend(step, tool, asked)
            return
        for gate in (consent, asked):
            if gate is not None and gate.state is GateState.VOID and not _asked_anew(gate):
                self._refuse(step, results.withdrawn(gate.void_reason or "the answer was void"))
                return
        agreed = consent if consent is not None and consent.state is GateState.APPROVED else None
        self._judge(step, tool, args, agreed)

    def _judge(self, step: Step, tool: Tool, args: dict[str, object], agreed: Gate | None) -> None:
        case = cases.by_id(self.tx, self.begun.case.id)
        key = tool.effect(args)
        earlier = steps.earlier_effect(self.tx, case.tenant, key) if key is not None else None
        verdict = policy.judge(
            tool, self.desk.settings, case=case, consented=agreed is not None, effect_key=key, earlier=earlier,
            actor=self._acts_for,
        )  # fmt: skip
        match verdict:
            case policy.Refuse(why):
                self._refuse(step, CallResult(ResultKind.REFUSED, why))
            case policy.Ask() if self.begun.turn.beside is not None:
                self._refuse(step, CallResult(ResultKind.REFUSED, f"refused: nothing is asked {_BESIDE}"))
            case policy.Ask():
                self._to_be_asked(step, tool, args, verdict)
            case policy.Free() if (unknown := recovery.attempt_before(self.tx, step)) is not None:
                # never again by itself: the answer that let it be run again does not stand any more (R14)
                self._to_be_asked(step, tool, args, policy.Ask(GateKind.APPROVAL, key, unknown))
            case policy.Free() if agreed is not None:
                self._spend(step, tool, agreed)  # a consent is spent like an approval, with all its checks (R9)
            case policy.Free():
                self._free(step, tool, args, key)

    def _to_be_asked(self, step: Step, tool: Tool, args: dict[str, object], ask: policy.Ask) -> None:
        if cases.by_id(self.tx, self.begun.case.id).state is not CaseState.IN_PROGRESS:
            self._refuse(step, results.not_asked("the case is not in progress any more"))
            return
        if episodes.all_over(self.tx, self.begun.case.id):
            self._refuse(step, results.not_asked("the alert resolved"))
            return
        self._waiting.append(step)
        if self._gated_before:
            return  # its turn comes when the one before it is decided
        self._gated_before = True
        self.ask = asking.Question(
            kind=ask.kind, step=step, tool_version=tool.version, reversible=tool.reversible,
            statement=statement.of_call(tool, args, consent=ask.kind is GateKind.CONSENT),
            policy=policy.of_gate(self.desk.settings, self.now, ask.kind, tool.ttl_ms),
            because=storable(self.because), effect_key=ask.effect_key,
            effect_nth=0 if ask.earlier is None else ask.earlier.effect_nth + 1,
            earlier_step=None if ask.earlier is None else ask.earlier.id,
        )  # fmt: skip

    def _free(self, step: Step, tool: Tool, args: dict[str, object], effect_key: str | None) -> None:
        if tool.tier is not Tier.READ_ONLY and (self._gated_before or self._effect_under_way):
            self._waiting.append(step)
            return  # an effect waits behind the gate before it, and behind another effect
        if not self._may_start_another(step):
            return
        if tool.tier is not Tier.READ_ONLY and tool.apply is None:
            self._effect_under_way = True
        steps.start_tool(
            self.tx, self.now, self.begun.lease, self.begun.run.id, step,
            deadline=self.now + tool.timeout_ms + _MARGIN_MS, effect_key=effect_key,
            idempotency_key=f"{step.id}" if tool.idempotent else None,
        )  # fmt: skip
        self._make(step, tool, args)

    def _spend(self, step: Step, tool: Tool, gate: Gate) -> None:
        if self._effect_under_way:
            self._waiting.append(step)
            return
        if not self._may_start_another(step):
            return
        spent = spending.spend(
            self.tx, self.now, self.begun.lease, self.begun.run.id, gate, tool_version=tool.version,
            deadline=self.now + tool.timeout_ms + _MARGIN_MS,
            idempotency_key=f"{step.id}" if tool.idempotent else None,
        )  # fmt: skip
        match spent:
            case Spent(started, args):
                self._gated_before = self._effect_under_way = tool.apply is None
                self._make(started, tool, args)
            case NotSpent():
                self._not_spent(step, spent)

    def _may_start_another(self, step: Step) -> bool:
        """Whether the run's limit of calls leaves room for one more; if not, this one stays waiting."""
        if self._may_start <= 0:
            self.too_many = True
            self._waiting.append(step)
            return False
        self._may_start -= 1
        return True

    def _not_spent(self, step: Step, why: NotSpent) -> None:
        """The gate is void now: the call, by its newest attempt, is judged and asked anew, or not run at all."""
        newest = next(
            s for s in steps.of_response(self.tx, StepId(step.model_step or 0)) if s.position == step.position
        )
        if why in spending.ASK_ANEW:
            self._waiting_call(newest)
        elif newest.id != step.id:  # a further attempt, of a call of which nobody knows what became of it
            self._refuse(newest, results.left_unknown(f"it was not run again: {why}"))
        else:
            self._refuse(newest, results.withdrawn(str(why)))

    def _make(self, step: Step, tool: Tool, args: dict[str, object]) -> None:
        if tool.apply is None:
            self.to_run.append(ToRun(step.id, tool, args))
            return
        scene = Scene(self.now, self.begun)
        try:
            result = results.ok(tool.apply(self.tx, scene, args))
        except (ToolFailed, MoveRefused) as error:
            result = results.failed(str(error))
        steps.finish_tool(self.tx, self.now, step.id, ok=result.kind is ResultKind.OK, result=result.stored())
        if scene.hand_off is not None:
            self.stop_the_rest(_HANDED_OFF.format(scene.hand_off))

    def _denied(self, step: Step, gate: Gate) -> None:
        self._refuse(step, statement.denial(self.tx, gate))
        revised = gate.verb is Verb.REVISE
        if gate.state is GateState.WITHDRAWN or revised:
            self.stop_the_rest("the call before it was " + ("sent back for revision" if revised else "withdrawn"))
        elif gate.state is GateState.EXPIRED and gate.on_expiry is OnExpiry.HANDOFF:
            self.stop_the_rest(_HANDED_OFF.format("nobody decided in time"))

    def _unknown(self, step: Step) -> None:
        gate = gates.of_step(self.tx, step.id, GateKind.OUTCOME)
        if gate is None and self._rest_refused is None:
            self._ask_outcome(step)
            return
        if gate is None:
            self._left_unknown(step, "nobody was asked")
            return
        if gate.state is GateState.APPROVED and gate.verb is Verb.RERUN:
            self._rerun(step, gate)
        elif gate.state is GateState.APPROVED:
            happened = gate.verb is Verb.HAPPENED
            told = statement.outcome_told(self.tx, gate)
            recovery.settle_unknown(
                self.tx, self.now, step, happened=happened, result=told.stored(), actor=statement.decider(self.tx, gate)
            )  # fmt: skip
        elif gate.state in (GateState.WITHDRAWN, GateState.VOID):
            recovery.leave_unknown(self.tx, step, results.left_unknown("the question was withdrawn").stored())
            self.stop_the_rest("the call before it was withdrawn")
        else:
            self._left_unknown(step, "nobody could say")

    def _rerun(self, step: Step, gate: Gate) -> None:
        tool = self.desk.toolbox.get(gate.tool)
        if tool is None:
            self._left_unknown(step, "it was to be run again, but the tool is gone")
        elif (why := policy.withheld(tool, self.desk.settings, self._narrowing)) is not None:
            self._left_unknown(step, f"it was to be run again, but {why}")
        elif not self._effect_under_way:
            self._spend(step, tool, gate)

    def _left_unknown(self, step: Step, why: str) -> None:
        recovery.leave_unknown(self.tx, step, results.left_unknown(why).stored())
        self.stop_the_rest(_HANDED_OFF.format(f"it is not known whether {step.tool} was done"))

    def _ask_outcome(self, step: Step) -> None:
        self._waiting.append(step)
        if self._gated_before:
            return
        self._gated_before = True
        case = cases.by_id(self.tx, self.begun.case.id)
        if case.state is CaseState.RESOLVED:  # resolved in the same breath; but nothing is, before this is known
            cases.begin(self.tx, self.now, case, actor="engine")
        self.ask = asking.Question(
            kind=GateKind.OUTCOME, step=step, tool_version=step.tool_version or "", reversible=False,
            statement=statement.of_unknown(step, self.desk.toolbox.get(step.tool or "")), because="",
            policy=policy.of_gate(self.desk.settings, self.now, GateKind.OUTCOME, None), effect_key=step.effect_key,
            effect_nth=step.effect_nth + 1,
        )  # fmt: skip

    def _refuse(self, step: Step, result: CallResult, void: str | None = None) -> None:
        """A call that is not made, and with it the approval it may have had (R9); `void`: why, as people are told."""
        steps.refuse(self.tx, self.now, self.begun.run.id, step, result.stored(), why=result.kind)
        approved = gates.of_step(self.tx, step.id, GateKind.APPROVAL)
        if approved is not None and approved.state is GateState.APPROVED:
            gates.void(self.tx, self.now, approved, by="engine", reason=void or str(result.content))


def _asked_anew(gate: Gate) -> bool:
    return any(gate.void_reason == str(why) for why in spending.ASK_ANEW)
