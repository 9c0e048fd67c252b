"""What nobody wants: the clock jumps, sweeps come when they like, processes die, writes fail; and the end of it all."""

from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from bot import schedule
from bot.turns.instruct import CallModel
from casestore import gates, outbox
from tests.conftest import DAY, HOUR, MINUTE
from tests.faults.machine.acts import Job
from tests.faults.machine.engine import ANSWER, ENDINGS
from tests.faults.machine.flaws import Flaws
from tests.faults.machine.model import LIVE, UNSETTLED, due, newest
from tests.faults.machine.people import NUMBER
from tests.faults.machine.service import Fault
from tests.loop.scripted import says

AUTO_CLOSE = 72 * HOUR


class Fate(Flaws):
    """The rest of the world."""

    # Time

    @rule(by=st.sampled_from([1, MINUTE, 11 * MINUTE, HOUR, DAY, 7 * DAY, -1, -HOUR, -DAY, -7 * DAY]))
    def clock_jumps(self, by: int) -> None:
        """Time passes, or the clock is set, forwards or back."""
        self.service.clock.pass_by(by)
        self.model.tally["clock back" if by < 0 else "clock on"] += 1
        self.look()

    @rule(beyond=st.sampled_from([-1, 0, 1]), number=NUMBER)
    def clock_reaches_a_limit(self, beyond: int, number: int) -> None:
        """It is just about the time at which a gate, a lease, a step or a turn ends."""
        limits = [gate["expires_at"] for gate in self.picture.all("gates", state="open")]
        limits += [lease["until"] for lease in self.picture.all("leases", kind="run")]
        limits += [step["deadline"] for step in self.picture.all("steps", state="started")]
        limits += [turn["not_before"] for turn in self.picture.all("turns", state="queued") if turn["not_before"]]
        if limits:
            self.service.clock.ms = limits[number % len(limits)] + beyond
            self.look()

    @rule(twice=st.booleans())
    def sweep(self, twice: bool) -> None:
        """The scheduler comes by, once or twice at once (R6)."""
        expected, sweeps = due(self.picture, self.now), [self.bound(gates.expire_due)] * (1 + twice)
        found: list[Any] = self.service.together(*sweeps)
        ended: list[Any] = [gate for each in found for gate in each]
        self.look()
        assert sorted(gate.id for gate in ended) == sorted(expected), "R6: a sweep ends what is due, once"

    @rule()
    def close_and_remind(self) -> None:
        """The scheduler closes what was resolved long ago, and reminds."""
        self.do(self.bound(schedule.auto_close, AUTO_CLOSE))
        self.do(self.bound(schedule.remind, self.service.settings, None))

    @rule(fails=st.booleans())
    def deliver(self, fails: bool) -> None:
        """What is due is sent, or is not and will be tried again."""
        rows: Any = self.service.write(self.bound(outbox.take_due, ("memory",), boot=self.service.boot, most=9))
        self.look()
        for row in rows:
            if fails:
                self.service.write(partial(_retry, self.now, row))
            else:
                self.service.write(partial(_sent, self.now, row))
            self.look()

    # Death

    @rule(stopped=st.booleans())
    def kill(self, stopped: bool) -> None:
        """The process dies, or is stopped and replaced; the next one starts on the same file."""
        self.service.kill(stopped=stopped)
        self.model.tally["kill"] += 1
        self.look()

    @rule(talks=st.booleans())
    def another_model(self, talks: bool) -> None:
        """It is started anew with playbooks, or with a model that answers what is said while a call waits."""
        self.model.talks = self.service.talks = talks
        self.service.kill(stopped=False)
        self.look()

    @precondition(lambda self: self.service.hands)
    @rule(number=NUMBER, stopped=st.booleans())
    def lose_a_run(self, number: int, stopped: bool) -> None:
        """One run stops in the middle, while its process lives on; its lease has to run out."""
        self.service.lose(self.service.hands[number % len(self.service.hands)], stopped=stopped)

    # Writes that fail

    @rule(
        what=st.sampled_from(["begin", "go on", "decide", "take over", "end", "expire", "say"]),
        nth=st.integers(1, 25), fault=st.sampled_from(["raises", "is rolled back"]), once=st.booleans(),
        alone=st.booleans(), number=NUMBER, answer=ANSWER, ends=ENDINGS,
    )  # fmt: skip
    def write_fails(
        self, what: str, nth: int, fault: Fault, once: bool, alone: bool, number: int, answer: Any, ends: list[str]
    ) -> None:
        """The n-th statement of something fails, alone or together with a message that has nothing to do with it."""
        chosen = self.chosen(what, number, answer, ends)
        if chosen is None:
            return
        job, after = chosen
        beside, after_beside = self.saying("ben", "t3", f"m{len(self.model.said)}", addressed=True)
        self.do_failing(
            job, beside, nth, fault, once=once, alone=alone, after=after, after_beside=after_beside
        )  # fmt: skip

    def chosen(self, what: str, number: int, answer: Any, ends: list[str]) -> tuple[Job, Any] | None:
        """Something to do, if it can be done now."""
        case, gate = self.case(number), next(self.picture.all("gates", state="open"), None)
        hand = self.service.hands[0] if self.service.hands else None
        match what:
            case "begin" if case:
                return self.beginning(case["id"])
            case "go on" if hand and isinstance(hand.instruction, CallModel):
                return self.responding(hand, answer)
            case "go on" if hand:
                self.make(hand)
                return self.recording(hand, ends)
            case "decide" if gate:
                return self.deciding(gate, "root", "approve" if gate["kind"] != "outcome" else "rerun", "right")
            case "take over" if case:
                return self.taking(case["id"], "kim")
            case "end" if case and not self.is_bens(case["id"]):
                return self.ending(case["id"], ["resolve", "close", "cancel", "reopen"][number % 4])
            case "expire" if gate:
                return self.bound(gates.expire_due), _nothing
            case "say":
                return self.saying("ann", "t1", f"n{len(self.model.said)}", addressed=True)
            case _:
                return None

    def is_bens(self, case_id: int) -> bool:
        """Whether it is the case of the message that has nothing to do with what fails: which is not ended with it."""
        return any(each["address"].endswith("/t3") for each in self.picture.all("bindings", case_id=case_id))

    # The end

    def teardown(self) -> None:
        """R11, R13: whatever has happened, a service that runs, a quiet model and time bring every case to rest."""
        try:
            if self.whole:
                self.misuse()
                self.come_to_rest()
        finally:
            super().teardown()

    def come_to_rest(self) -> None:
        """Let everything go on until nothing does, then look for what was forgotten."""
        self.service.kill(stopped=False)
        self.look()
        while any(self.picture.all("leases", kind="human")):
            self.release()
        for _ in range(60):
            self.service.clock.ms = max(self.now, *(_limits(self.picture)), 0) + 1
            self.sweep(twice=False)
            for case_id in self.ready():
                self.do(*self.beginning(case_id))
            while self.service.hands:
                hand = self.service.hands[0]
                if isinstance(hand.instruction, CallModel):
                    self.do(*self.responding(hand, says("Done.")))
                else:
                    self.make(hand)
                    self.do(*self.recording(hand, ["ok"]))
            if not self.ready() and not any(_owed(self.picture)):
                break
        else:
            raise AssertionError(f"R11: it does not come to rest: {list(_owed(self.picture))}")
        for case in self.picture.all("cases"):
            if case["state"] in LIVE:
                assert not list(self.picture.all("messages", case_id=case["id"], direction="in", turn_id=None))
        calls: dict[tuple[int, int], list[Any]] = {}
        for step in self.picture.all("steps", kind="tool"):
            calls.setdefault((step["model_step"], step["position"]), []).append(step)
        for attempts in calls.values():
            last = newest(attempts)
            assert last["result"] is not None or last["state"] in ("started", "unknown"), (
                f"R7: a call was forgotten: {last}"
            )


def _nothing(_: object) -> None:
    """Nothing more is expected of it."""


def _limits(picture: Any) -> list[int]:
    return [
        *(gate["expires_at"] for gate in picture.all("gates", state="open")),
        *(lease["until"] for lease in picture.all("leases", kind="run")),
        *(turn["not_before"] for turn in picture.all("turns") if turn["state"] in UNSETTLED),
        *(step["deadline"] for step in picture.all("steps", state="started")),
    ]  # fmt: skip


def _owed(picture: Any) -> list[Any]:
    """What is still owed in a case that is not over."""
    return [turn for turn in picture.all("turns") if turn["state"] in UNSETTLED]


def _retry(now: int, row: Any, tx: Any) -> None:
    outbox.retry(tx, row, not_before=now + MINUTE, error="busy")


def _sent(now: int, row: Any, tx: Any) -> None:
    outbox.mark_sent(tx, now, row, f"p{row.id}", shown=None)
