"""What people do: say, decide, take over, hand back, end and reopen; rightly and wrongly."""

from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from bot.inbound import intake
from bot.inbound.intake import Received
from bot.people import closing, takeover
from casestore import cases, deciding, gates, holds, principals
from casestore.canonical import decode, encode
from casestore.deciding import Decided, Decision, NotDecided
from casestore.errors import MoveRefused
from casestore.models import CaseId, GateId, PrincipalId
from casestore.principals import actor
from casestore.scope import System
from casestore.states import Verb
from casestore.tx import Tx
from channels.messages import Account, Address, Inbound
from tests.faults.machine.acts import Acts, Job
from tests.faults.machine.model import LIVE, answer_to
from tests.faults.machine.picture import Row

NUMBER = st.integers(0, 30)
THREADS = ("t1", "t2")
WHO = st.sampled_from(["kim", "kim", "kim", "lee", "root", "ann", "ben", "eve"])
VERB = st.sampled_from([Verb.APPROVE] * 4 + list(Verb))
DIGEST = st.sampled_from(["right"] * 6 + ["short", "stale"])


class People(Acts):
    """Those who talk to it and decide."""

    def gate(self, number: int) -> Row | None:
        """A gate: mostly the open one."""
        opened = list(self.picture.all("gates", state="open"))
        return self.pick(opened if opened and number % 4 else list(self.picture.all("gates")), number)

    def case(self, number: int) -> Row | None:
        """A case: mostly the newest."""
        found = list(self.picture.all("cases"))
        return found[-1] if found and number % 3 else self.pick(found, number)

    # Saying

    def saying(self, by: str, thread: str, platform_id: str, *, addressed: bool) -> tuple[Job, Any]:
        """A message from a platform, and what is expected of it."""
        service, address = self.service, Address(channel="memory", space="S", room="help", thread=thread)
        account = Account(channel="memory", space="S", account_id=f"U-{by}", display_name=by)
        inbound = Inbound(
            address=address, account=account, platform_id=platform_id, text="please help", addressed=addressed,
            at=self.now,
        )  # fmt: skip
        key, before = (str(address), platform_id), self.picture

        def after(received: object) -> None:
            if isinstance(received, MoveRefused) or not isinstance(received, Received):
                return
            assert received.duplicate == (key in self.model.said), "R29"
            assert self.model.said.setdefault(key, received.case_id) == received.case_id
            if received.duplicate:
                self.model.tally["duplicate"] += 1
                assert self.picture.tables == before.tables, "a duplicate changed something"
            bound = next(before.all("bindings", address=key[0], state="live"), None)
            if bound is not None and not received.duplicate:
                same = bound["case_id"] == received.case_id
                assert same == (before.one("cases", bound["case_id"])["state"] in LIVE), "R2"

        job = self.bound(intake.receive, inbound, service.settings, service.settings.service.zone)
        return job, after

    @rule(by=st.sampled_from(["ann", "ann", "ben", "kim"]), thread=st.sampled_from(THREADS), addressed=st.booleans())
    def say(self, by: str, thread: str, addressed: bool) -> None:
        """Somebody says something new."""
        job, after = self.saying(by, thread, f"m{len(self.model.said)}", addressed=addressed or by != "kim")
        self.do(job, after)

    @precondition(lambda self: self.model.said)
    @rule(number=NUMBER)
    def say_again(self, number: int) -> None:
        """The platform delivers something a second time."""
        address, platform_id = list(self.model.said)[number % len(self.model.said)]
        job, after = self.saying("ann", Address.parse(address).thread, platform_id, addressed=True)
        self.do(job, after)

    # Deciding

    def deciding(self, gate: Row, who: str, verb: str, digest: str, *, change: bool = False) -> tuple[Job, Any]:
        """An answer to a gate, and what is expected to become of it."""
        shown = {"right": gate["digest_shown"], "short": gate["digest_shown"][:7], "stale": "f" * 64}[digest]
        args = decode(gate["args"])
        changed = encode({**args, "depth": 7}) if change and "depth" in args else None
        decision = Decision(Verb(verb), shown, "test", None, changed)
        principal = self.service.people[who]
        expected = answer_to(self.picture, self.now, gate["id"], principal.id, verb, shown)

        def after(answer: object) -> None:
            assert isinstance(answer, Decided | NotDecided)
            told = str(answer.gate.state) if isinstance(answer, Decided) else str(answer.because)
            assert told == expected, f"R5, R6: {told} instead of {expected}"
            self.model.tally[f"decide.{told}"] += 1

        return self.bound(deciding.decide, System(), GateId(gate["id"]), principal, decision), after

    @precondition(lambda self: self.picture.tables["gates"])
    @rule(number=NUMBER, who=WHO, verb=VERB, digest=DIGEST, change=st.booleans())
    def decide(self, number: int, who: str, verb: str, digest: str, change: bool) -> None:
        """Somebody answers a gate, or tries to."""
        gate = self.gate(number)
        assert gate is not None
        self.do(*self.deciding(gate, who, verb, digest, change=change))

    def answer_rightly(self, gate: Row, verb: str) -> None:
        """Somebody who may answers a gate."""
        requester = self.picture.one("cases", gate["case_id"])["requester"]
        name = self.picture.one("principals", requester)["name"] if gate["kind"] == "consent" else "root"
        answers = {"approval": verb, "consent": "deny" if verb == "deny" else "approve"}
        verb = answers.get(gate["kind"], {"approve": "rerun", "deny": "happened"}.get(verb, "not_happened"))
        self.do(*self.deciding(gate, name, verb, "right", change=gate["id"] % 2 == 0))

    @precondition(lambda self: any(self.picture.all("gates", state="open")))
    @rule(first=WHO, second=WHO, verbs=st.tuples(VERB, VERB))
    def decide_at_once(self, first: str, second: str, verbs: tuple[str, str]) -> None:
        """Two people answer in one commit: the first who may wins."""
        gate = next(self.picture.all("gates", state="open"))
        one, _ = self.deciding(gate, first, verbs[0], "right")
        two, _ = self.deciding(gate, second, verbs[1], "right")
        answers = self.service.together(one, two)
        self.look()
        assert sum(1 for answer in answers if isinstance(answer, Decided)) <= 1, "R5"

    @precondition(lambda self: any(self.picture.all("gates", state="open")))
    @rule(hours=st.integers(1, 48))
    def extend(self, hours: int) -> None:
        """An operator gives people more time."""
        gate = next(self.picture.all("gates", state="open"))
        expires_at, late = gate["expires_at"] + hours * 3_600_000, gate["expires_at"] <= self.now

        def after(value: object) -> None:
            allowed = gate["kind"] == "consent" or "operator" in {
                row["role"] for row in self.picture.all("gate_roles", gate_id=gate["id"])
            }
            assert isinstance(value, MoveRefused) == (late or not allowed), "R6: extended after it had passed"

        job = partial(_with_gate, gates.extend, self.now, gate["id"])
        self.do(
            partial(job, self.service.people["root"], expires_at=expires_at, reminders=()),
            after,
        )

    @precondition(lambda self: self.picture.tables["gates"])
    @rule(number=NUMBER)
    def withdraw(self, number: int) -> None:
        """Somebody takes a question back."""
        gate = self.gate(number)
        assert gate is not None

        def after(value: object) -> None:
            assert isinstance(value, MoveRefused) == (gate["state"] != "open")

        self.do(partial(_with_gate, gates.withdraw, self.now, gate["id"], by="kim", reason="a mistake"), after)

    # Having the case

    def taking(self, case_id: int, who: str) -> tuple[Job, Any]:
        """Somebody takes a case over."""
        case, lease = self.picture.one("cases", case_id), self.picture.one("leases", case_id)
        operator = self.picture.one("principals", self.service.people[who].id)["role"] != "requester"
        possible = operator and case["state"] in LIVE and lease["kind"] != "human"

        def after(value: object) -> None:
            assert isinstance(value, MoveRefused) != possible, "R12"
            self.model.tally["taken over"] += possible

        return partial(_with_case, takeover.take, self.now, case_id, self.service.people[who]), after

    @precondition(lambda self: self.picture.tables["cases"])
    @rule(number=NUMBER, who=st.sampled_from(["kim", "root", "ann"]))
    def take_over(self, number: int, who: str) -> None:
        """Somebody takes a case over."""
        case = self.case(number)
        assert case is not None
        self.do(*self.taking(case["id"], who))

    @precondition(lambda self: any(self.picture.all("leases", kind="human")))
    @rule()
    def release(self) -> None:
        """Somebody hands a case back."""
        lease = next(self.picture.all("leases", kind="human"))
        self.do(partial(_with_case, takeover.release, self.now, lease["case_id"], self.service.people["kim"]))

    # Ending it

    def ending(self, case_id: int, how: str) -> tuple[Job, Any]:
        """Somebody ends or reopens a case."""
        state = self.picture.one("cases", case_id)["state"]
        fn, from_ = {
            "resolve": (closing.resolve, ("new", "in_progress")),
            "close": (closing.close, LIVE),
            "cancel": (closing.cancel, ("new", "in_progress")),
            "reopen": (closing.reopen, ("resolved",)),
        }[how]

        def after(value: object) -> None:
            assert isinstance(value, MoveRefused) != (state in from_), f"R2: {how} from {state}"
            self.model.tally[how] += state in from_

        return partial(_with_case, fn, self.now, case_id, by=actor(self.service.people["kim"]), why="so"), after

    @precondition(lambda self: self.picture.tables["cases"])
    @rule(number=NUMBER, how=st.sampled_from(["resolve", "resolve", "close", "cancel", "reopen", "reopen"]))
    def end_or_reopen(self, number: int, how: str) -> None:
        """Somebody ends a case, or reopens it."""
        case = self.case(number)
        assert case is not None
        self.do(*self.ending(case["id"], how))

    # What stands in the way of spending

    @rule(tool=st.sampled_from([None, "svc.restart"]))
    def freeze(self, tool: str | None) -> None:
        """An operator freezes a tool, or all."""
        self.do(self.bound(holds.place, tool=tool, reason="so", by=self.service.people["root"].id))

    @precondition(lambda self: any(self.picture.all("holds", lifted_at=None)))
    @rule()
    def lift(self) -> None:
        """An operator lifts everything that is frozen."""
        for tool in {hold["tool"] for hold in self.picture.all("holds", lifted_at=None)}:
            self.do(self.bound(holds.lift, tool=tool, by=self.service.people["root"].id))

    @precondition(lambda self: any(self.picture.all("principals", name="lee", revoked_at=None)))
    @rule()
    def revoke(self) -> None:
        """One of the operators has left."""
        lee, root = self.service.people["lee"].id, self.service.people["root"].id
        self.do(self.bound(principals.revoke, PrincipalId(lee), revoked_by=root))


def _with_case(fn: Any, now: int, case_id: int, *args: object, **kwargs: object) -> object:
    *given, tx = args
    assert isinstance(tx, Tx)
    return fn(tx, now, cases.by_id(tx, CaseId(case_id)), *given, **kwargs)


def _with_gate(fn: Any, now: int, gate_id: int, *args: object, **kwargs: object) -> object:
    *given, tx = args
    assert isinstance(tx, Tx)
    return fn(tx, now, gates.by_id(tx, GateId(gate_id)), *given, **kwargs)
