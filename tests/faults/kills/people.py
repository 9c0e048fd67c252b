"""What people, alerts and operators do next, drawn from a seed: the acts of one boot of the soak."""

import json
from collections.abc import Callable
from random import Random

from tests.alerts.notifications import alert, body
from tests.faults.kills.history import Act, Asked, History
from tests.faults.kills.planned import Counter, Stage, plan
from tests.faults.kills.standing import OpenGate, Standing

_TOOLS = ("look", "look", "note", "note", "wipe", "wipe", "sync", "case.set_title")
_MOST_THREADS = 40


class People:
    """Draws acts. Everything it remembers it can read again from the history, so a soak that was stopped goes on."""

    def __init__(self, random: Random, history: History, counter: Counter) -> None:
        self._random, self._history, self._counter = random, history, counter

    def acts(self, seen: Standing) -> list[Act]:
        """What is done during one boot."""
        random, found = self._random, list[Act]()
        drawn: list[tuple[float, Callable[[Standing], Act | None]]] = [
            (0.8, self._new_thread), (0.6, self._further_message), (0.3, self._further_message),
            (0.2, self._again), (0.4, self._alert), (0.08, self._take), (0.15, self._speak), (0.1, self._open),
        ]  # fmt: skip
        for chance, draw in drawn:
            if random.random() < chance and (act := draw(seen)) is not None:
                found.append(act)
        for case, who in seen.taken:
            if random.random() < 0.4:
                found.append({"do": "release", "case": case, "who": who})
        for gate in seen.gates:
            if random.random() < 0.6:
                found += self.answers(gate, race=random.random() < 0.2)
        random.shuffle(found)
        return found

    def answers(self, gate: OpenGate, *, race: bool = False) -> list[Act]:
        """An answer to a gate, or two that contradict each other at the same moment."""
        random = self._random
        if gate.kind == "outcome":
            happened = self._counter.count(gate.key) > self._counted_before(gate)
            verbs = [random.choice(["happened", "happened", "rerun"] if happened else ["not_happened", "rerun"])]
            verbs += ["rerun"] if race and verbs[0] != "rerun" else []
        else:
            verbs = [random.choice(["approve", "approve", "approve", "deny", "revise"])]
            verbs += [random.choice(["deny", "approve"])] if race else []
        return [
            {"do": "decide", "gate": gate.id, "verb": verb, "who": who, "reason": "as the soak drew it",
             "key": gate.key, "kind": gate.kind, "counted": self._counter.count(gate.key)}
            for verb, who in zip(verbs, random.sample(["kim", "lee"], 2), strict=False)
        ]  # fmt: skip

    def _counted_before(self, gate: OpenGate) -> int:
        """How many effects of a call there were when somebody last said "run it again": those are not in question.

        One that was said to this very gate, which is still open, was not taken.
        """
        before = [asked.act for asked in self._decisions(gate.key) if asked.act["gate"] != gate.id]
        return max((int(str(act["counted"])) for act in before if act["verb"] == "rerun"), default=0)

    def _decisions(self, key: str) -> list[Asked]:
        return [asked for asked in self._history.asked.values() if asked.kind == "decide" and asked.act["key"] == key]

    def _said(self) -> list[Asked]:
        return [asked for asked in self._history.asked.values() if asked.kind == "say"]

    def _number(self) -> str:
        """A name that no other act has."""
        return f"{len(self._history.asked)}-{self._random.randrange(1 << 32):08x}"

    def _plan(self) -> str:
        random, name = self._random, self._number()
        stages: list[Stage] = [
            [(random.choice(_TOOLS), f"{name}.{stage}.{n}") for n in range(random.choice([1, 1, 2, 3]))]
            for stage in range(random.choice([0, 1, 1, 1, 2]))
        ]
        return plan(*stages)

    def _words(self) -> str:
        return f"please do what is planned ({self._number()}) {self._plan()}"

    def _say(self, address: str, by: str, *, addressed: bool = True) -> Act:
        return {
            "do": "say", "address": address, "by": by, "id": f"p{self._number()}", "text": self._words(),
            "addressed": addressed,
        }  # fmt: skip

    def _new_thread(self, seen: Standing) -> Act | None:
        if len({asked.act["address"] for asked in self._said()}) >= _MOST_THREADS:
            return self._further_message(seen)
        return self._say(f"memory:S/help/t{self._number()}", self._random.choice(["ann", "ben"]))

    def _further_message(self, seen: Standing) -> Act | None:
        """Something more in a thread; now and then by an operator, who takes the case over by it (R12)."""
        said = self._said()
        if not said:
            return None
        address = str(self._random.choice(said).act["address"])
        by = self._random.choice(["ann", "ann", "ben", "kim"])
        return self._say(address, by, addressed=by != "kim" or self._random.random() < 0.7)

    def _again(self, seen: Standing) -> Act | None:
        """A duplicate: the platform delivers what it was told is stored."""
        acked = [asked for asked in self._said() if asked.acked]
        if not acked:
            return None
        again = self._random.choice(acked)
        return {**again.act, "n": again.n}

    def _alert(self, seen: Standing) -> Act | None:
        """The next notification of a group, once its last one was acknowledged: they come in order."""
        key = f"group-{self._random.randrange(12)}"
        sent = [asked for asked in self._history.asked.values() if asked.kind == "alert" and asked.act["key"] == key]
        if sent and not sent[-1].acked:
            return {**sent[-1].act, "n": sent[-1].n}
        firing = [] if not sent else list(json.loads(str(sent[-1].act["firing"])))
        if firing and self._random.random() < 0.5:
            resolved, firing = firing, []
        else:
            resolved, firing = [], [*firing, [f"i{self._number()}", self._plan()]]
        members = [
            alert(name, resolved=over, annotations={"summary": f"{name} is full {words}"})
            for over, those in ((False, firing), (True, resolved))
            for name, words in those
        ]
        return {
            "do": "alert", "key": key, "body": body(*members, key=key).decode(), "firing": json.dumps(firing),
            "names": [name for name, _ in firing], "resolved": [name for name, _ in resolved],
        }  # fmt: skip

    def _take(self, seen: Standing) -> Act | None:
        return self._in_a_case(seen, {"do": "take", "who": self._random.choice(["kim", "lee"])})

    def _speak(self, seen: Standing) -> Act | None:
        who = self._random.choice(["ann", "kim"])
        return self._in_a_case(seen, {"do": "speak", "who": who, "text": self._words()})

    def _open(self, seen: Standing) -> Act | None:
        return {"do": "open", "who": "ann", "text": self._words()}

    def _in_a_case(self, seen: Standing, act: Act) -> Act | None:
        return {**act, "case": self._random.choice(seen.free)} if seen.free else None
