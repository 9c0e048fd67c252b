"""What may change from one moment to the next, and what never may."""

import json

from casestore.canonical import call_digest
from tests.faults.machine.model import Model, calls_of
from tests.faults.machine.picture import Picture, Row

CASE = {
    ("new", "in_progress"), ("new", "resolved"), ("new", "closed"), ("new", "cancelled"), ("in_progress", "resolved"),
    ("in_progress", "closed"), ("in_progress", "cancelled"), ("resolved", "in_progress"), ("resolved", "closed"),
}  # fmt: skip
GATE = {
    ("open", "approved"), ("open", "denied"), ("open", "expired"), ("open", "withdrawn"), ("approved", "void"),
}  # fmt: skip
STEP = {
    ("waiting", "started"), ("waiting", "refused"), ("started", "finished"), ("started", "failed"),
    ("started", "unknown"), ("unknown", "finished"), ("unknown", "failed"),
    ("waiting", "finished"), ("waiting", "failed"),  # a tool that acts in the store, in one transaction
}  # fmt: skip
TURN = {
    ("queued", "running"), ("running", "running"), ("running", "parked"), ("running", "settled"), ("running", "queued"),
    ("running", "failed"), ("queued", "settled"), ("queued", "failed"), ("parked", "queued"), ("parked", "settled"),
    ("queued", "parked"), ("parked", "running"),
}  # fmt: skip
WHILE_OPEN = {"expires_at", "reminders", "remind_at"}


def check(before: Picture, after: Picture, model: Model, now: int) -> None:
    """Every rule about change."""
    for table in ("cases", "messages", "turns", "runs", "steps", "gates", "leases", "trail", "principals"):
        assert before.tables[table].keys() <= after.tables[table].keys(), f"a row of {table} is gone"
    cases(before, after)
    gates(before, after, model)
    steps(before, after, model, now)
    leases(before, after)
    beside(before, after, model)
    others(before, after)


def cases(before: Picture, after: Picture) -> None:
    """R2: legal moves only, each with its entry in the trail."""
    for was, case in after.changed(before, "cases"):
        new = [entry for entry in after.added(before, "trail") if entry["case_id"] == case["id"]]
        if was is None:
            assert new[0]["kind"] == "case.opened"
            continue
        if case["state"] == was["state"]:
            continue
        states = [str(json.loads(entry["meta"])["state"]) for entry in new if "state" in json.loads(entry["meta"])]
        assert states, f"{case['id']} became {case['state']} and the trail does not say so"
        assert states[-1] == case["state"]
        for pair in zip([was["state"], *states], states, strict=False):
            assert pair in CASE or pair == ("in_progress", "in_progress"), pair


def gates(before: Picture, after: Picture, model: Model) -> None:
    """R5, R6: what has ended stays as it is, but for an approval that becomes void before it is spent (R9)."""
    told = {
        (int(json.loads(entry["meta"])["gate"]), entry["kind"])
        for entry in after.added(before, "trail")
        if entry["kind"].startswith("gate.")
    }  # fmt: skip
    for was, gate in after.changed(before, "gates"):
        if was is None:
            assert (gate["id"], "gate.asked") in told
            queue_order(before, after, gate)
            model.tally[f"gate.asked.{gate['kind']}"] += 1
            continue
        if was["state"] == gate["state"]:
            assert was["state"] == "open", "a gate that has ended was written to"
            assert {name for name in gate if gate[name] != was[name]} <= WHILE_OPEN
            continue
        assert (was["state"], gate["state"]) in GATE
        assert (gate["id"], f"gate.{gate['state']}") in told
        model.tally[f"gate.{gate['state']}"] += 1
        if gate["state"] == "void":
            assert {name for name in gate if gate[name] != was[name]} == {"state", "void_reason"}
            assert not list(after.all("steps", gate_id=gate["id"])), "an approval that was spent became void"
    for gate in after.all("gates"):
        if gate["state"] == "open":
            continue
        first = model.ended.setdefault(gate["id"], gate)
        same = {**first, "state": gate["state"], "void_reason": gate["void_reason"]}
        assert gate == same, "what was decided was decided anew"


def queue_order(before: Picture, after: Picture, gate: Row) -> None:
    """R7: a call is asked for only when every call before it in its response has its result."""
    asked = after.one("steps", gate["step_id"])
    for (model_step, position), attempts in calls_of(after, gate["turn_id"]).items():
        if model_step == asked["model_step"] and position < asked["position"]:
            assert attempts[-1]["result"] is not None, "asked out of the order of the response"


def steps(before: Picture, after: Picture, model: Model, now: int) -> None:
    """R7, R9, R14: one result, one start for each approval, nothing is run again by itself."""
    for was, step in after.changed(before, "steps"):
        if was is not None and was["state"] != step["state"]:
            # one that only looks runs again, or is closed in the same breath where its turn has been tried too often
            again = (
                step["tier"] == "read_only" and was["state"] == "started" and step["state"] in ("waiting", "refused")
            )
            assert again or (was["state"], step["state"]) in STEP, (was["state"], step["state"])
        if was is not None and was["result"] is not None:
            assert was["result"] == step["result"], "a call has two results"
            assert was["state"] == step["state"]
        if step["kind"] == "tool" and step["result"] is not None:
            assert model.told.setdefault(step["id"], step["result"]) == step["result"]
        if step["kind"] == "tool" and step["started_at"] and (was is None or was["state"] == "waiting"):
            started(before, after, step, model, now)
        if was is not None and (was["state"], step["state"]) == ("started", "unknown"):
            model.tally["unknown"] += 1


def started(before: Picture, after: Picture, step: Row, model: Model, now: int) -> None:
    """A call is being made."""
    lease, earlier = after.one("leases", step["case_id"]), before.tables["leases"].get(step["case_id"])
    assert earlier is None or earlier["kind"] != "human" or earlier["fence"] != lease["fence"], "R12"
    if step["state"] == "started":
        assert lease["kind"] == "run", "R10"
        assert lease["until"] >= step["deadline"] > now, "R14: the deadline lies within the lease"
    model.tally[f"started.{step['tier']}"] += 1
    for position, attempts in enumerate(calls_of(after, step["turn_id"]).items()):
        (model_step, place), tries = attempts
        if model_step != step["model_step"] or place >= step["position"] or step["tier"] == "read_only":
            continue
        assert tries[-1]["state"] not in ("waiting", "started") or tries[-1]["tier"] == "read_only", (
            f"an effect went past the call {position} before it (R7)"
        )
    if step["gate_id"] is None:
        assert step["tier"] != "consequential", "nobody was asked (R24)"
        assert len(calls_of(after, step["turn_id"])[step["model_step"], step["position"]]) == 1, "R14"
        return
    model.tally["spent"] += 1
    gate = after.one("gates", step["gate_id"])
    asked = before.tables["gates"].get(gate["id"])
    assert asked is not None
    assert asked["state"] == gate["state"] == "approved", "R9: only what is approved"
    args = gate["changed_args"] or gate["args"]
    assert step["args"] == args
    assert gate["digest_run"] == call_digest(gate["step_id"], step["tool"], step["tool_version"], args), "R9: digest"
    assert call_digest(gate["step_id"], gate["tool"], gate["tool_version"], gate["args"]) == gate["digest_shown"]
    assert after.one("principals", gate["decided_by"])["revoked_at"] is None, "R9: revoked"
    assert not [h for h in after.all("holds", lifted_at=None) if h["tool"] in (None, step["tool"])], "R9: frozen"
    if gate["kind"] == "outcome":
        assert gate["verb"] == "rerun"
        model.reruns[step["model_step"], step["position"]] += 1


def leases(before: Picture, after: Picture) -> None:
    """R10: the fence only rises, and with every new holder. R12: while a person has a case nothing is begun in it."""
    for was, lease in after.changed(before, "leases"):
        if was is None:
            continue
        assert lease["fence"] >= was["fence"]
        if lease["kind"] is not None and (lease["holder"], lease["kind"]) != (was["holder"], was["kind"]):
            assert lease["fence"] > was["fence"], "another holder under the same fence"
    for lease in after.all("leases", kind="human"):
        was = before.tables["leases"].get(lease["case_id"])
        if was is not None and (was["kind"], was["fence"]) == ("human", lease["fence"]):
            for table in ("runs", "gates"):
                assert not [r for r in after.added(before, table) if r["case_id"] == lease["case_id"]], f"R12: {table}"


def beside(before: Picture, after: Picture, model: Model) -> None:
    """Design, section 6: while a call waits, what is said beside it leaves the turn it waits in as it was."""
    for gate in after.all("gates", state="open"):
        was = before.tables["turns"].get(gate["turn_id"])
        if gate["id"] in before.tables["gates"] and was is not None and was["state"] == "parked":
            assert after.one("turns", gate["turn_id"]) == was, "talk has changed the turn that is parked"
    for was, turn in after.changed(before, "turns"):
        if turn["beside"] is not None:
            assert was is None or was["beside"] == turn["beside"]
            model.tally[f"beside.{turn['state']}"] += 1


def given_back(after: Picture, was: int, now: int | None) -> bool:
    """A turn that parks gives back what it has not answered, nor one beside it: to nobody yet, or to one beside it."""
    parks = after.one("turns", was)["beside"] or was
    given = now is None or after.one("turns", now)["beside"] == parks
    return given and after.one("turns", parks)["state"] == "parked"


def others(before: Picture, after: Picture) -> None:
    """R13, R16, R18, R11: turns, runs, the trail and what was said."""
    for was, turn in after.changed(before, "turns"):
        if was is not None and was["state"] != turn["state"]:
            assert was["state"] not in ("settled", "failed"), "a settled turn goes on"
    for was, run in after.changed(before, "runs"):
        if was is not None and was["outcome"] is not None:
            assert (was["outcome"], was["ended_at"], was["stop_reason"]) == (
                run["outcome"], run["ended_at"], run["stop_reason"],
            )  # fmt: skip
    assert not [was for was, _ in after.changed(before, "trail") if was is not None], "the trail was written over"
    for was, message in after.changed(before, "messages"):
        if was is not None:
            again = was["turn_id"] is not None and given_back(after, was["turn_id"], message["turn_id"])
            assert again or was["turn_id"] in (None, message["turn_id"]), "a message was read twice"
            assert (was["body"], was["seq"]) == (message["body"], message["seq"])
