"""What must be true of the file at any one moment."""

from collections import Counter

from tests.faults.machine.model import LIVE, UNSETTLED, Model, calls_of, has_work, is_free, newest, talk, unsettled
from tests.faults.machine.picture import Picture


def check(picture: Picture, model: Model, now: int, ready: list[int]) -> None:
    """Every rule about a state; `ready` is what the store itself names as ready."""
    for case in picture.all("cases"):
        axes(picture, case["id"])
        one_of_each(picture, case["id"])
        parked(picture, case["id"])
        settled(picture, case["id"])
        beside(picture, case["id"])
        expected = has_work(picture, now, case["id"], talks=model.talks) and is_free(picture, now, case["id"])
        assert (case["id"] in ready) == expected, f"R11: case {case['id']} ready: {case['id'] in ready}"
    addresses = Counter(binding["address"] for binding in picture.all("bindings", state="live"))
    assert all(count == 1 for count in addresses.values()), "R3: two cases in one thread"
    spent = Counter(step["gate_id"] for step in picture.all("steps") if step["gate_id"] is not None)
    assert all(count == 1 for count in spent.values()), "R9: spent twice"
    stands(picture)
    once(picture, model)
    heard(picture, model)
    held_back(picture)


def axes(picture: Picture, case_id: int) -> None:
    """R2: the two axes, and R12: `human` exactly while a person has the lease."""
    case, lease = picture.one("cases", case_id), picture.one("leases", case_id)
    assert case["waiting_on"] == "" or case["state"] == "in_progress"
    assert (case["waiting_on"] == "human") == (lease["kind"] == "human"), "R12"
    opened = list(picture.all("gates", case_id=case_id, state="open"))
    if case["waiting_on"] == "approval":
        assert opened, "R2: it waits for an approval that nobody is asked for"
    for gate in opened:
        assert case["waiting_on"] == ("requester" if gate["kind"] == "consent" else "approval"), "R2"


def one_of_each(picture: Picture, case_id: int) -> None:
    """R4, R7, R10: one open gate, one unsettled turn, one open run."""
    assert len(list(picture.all("gates", case_id=case_id, state="open"))) <= 1, "R4"
    owed = [turn["beside"] is None for turn in picture.all("turns", case_id=case_id) if turn["state"] in UNSETTLED]
    assert sorted(owed) in ([], [True], [False, True]), "R7"
    assert len(list(picture.all("runs", case_id=case_id, ended_at=None))) <= 1, "R10"


def parked(picture: Picture, case_id: int) -> None:
    """R7, R8: a turn is parked exactly while somebody is asked; its call waits, or its outcome is unknown."""
    turn = unsettled(picture, case_id)
    opened = next(picture.all("gates", case_id=case_id, state="open"), None)
    assert (turn is not None and turn["state"] == "parked") == (opened is not None)
    if turn is not None and opened is not None:
        assert opened["turn_id"] == turn["id"]
        held = picture.one("steps", opened["step_id"])
        assert held["result"] is None
        assert held["state"] == ("unknown" if opened["kind"] == "outcome" else "waiting")
        run = next(picture.all("runs", case_id=case_id, ended_at=None), None)
        assert run is None or picture.one("turns", run["turn_id"])["beside"] == turn["id"], "a run waits for a person"


def beside(picture: Picture, case_id: int) -> None:
    """Design, section 6: what is said at a gate is answered beside the turn that waits there, and only looked at."""
    turn, other = unsettled(picture, case_id), talk(picture, case_id)
    assert other is None or (turn is not None and other["beside"] == turn["id"]), "beside a turn that is over"
    assert other is None or other["state"] != "parked", "two turns of a case are parked"
    for each in picture.all("turns", case_id=case_id):
        if each["beside"] is not None:
            assert not any(picture.all("gates", turn_id=each["id"])), "something was asked beside a call that waits"
            for step in picture.all("steps", turn_id=each["id"], kind="tool"):
                assert step["started_at"] is None or step["tier"] == "read_only", "an effect beside a call that waits"


def settled(picture: Picture, case_id: int) -> None:
    """R7: once a turn is settled each of its calls has one result.

    A call that was being made when somebody ended the case has it once the next turn begins.
    """
    turns = sorted(picture.all("turns", case_id=case_id), key=lambda turn: turn["seq"])
    for turn in turns:
        following = next((each for each in turns if each["beside"] is None and each["seq"] > turn["seq"]), None)
        if turn["state"] not in ("settled", "failed"):
            continue
        for attempts in calls_of(picture, turn["id"]).values():
            last = newest(attempts)
            in_flight = last["state"] in ("started", "unknown") and (following is None or following["attempts"] == 0)
            assert last["result"] is not None or in_flight, "R7: a call without a result"
        assert turn["attempts"] <= 7, "R13"


def stands(picture: Picture) -> None:
    """R9: no approval outlives that a person took the case over, or that it ended."""
    spent = {step["gate_id"] for step in picture.all("steps")}
    for gate in picture.all("gates", state="approved", kind="approval"):
        case = picture.one("cases", gate["case_id"])
        over = case["waiting_on"] == "human" or case["state"] in ("closed", "cancelled")
        assert gate["id"] in spent or not over, "R9: an approval stands that was not spent"


def once(picture: Picture, model: Model) -> None:
    """R14: the effect of a step happens once, that of a call once more for each time a person said so."""
    per_call: Counter[tuple[int, int]] = Counter()
    for step_id, times in model.made.items():
        step = picture.one("steps", step_id)
        assert times == 1, f"R14: step {step_id} was made {times} times"
        assert step["started_at"] is not None
        per_call[step["model_step"], step["position"]] += 1
    for call, times in per_call.items():
        assert times <= 1 + model.reruns[call], "R14: a call was made again and nobody said so"


def heard(picture: Picture, model: Model) -> None:
    """R29: what was acknowledged is stored, once. R11: none of it is forgotten."""
    stored = Counter((m["address"], m["platform_id"]) for m in picture.all("messages", direction="in"))
    for key in model.said:
        assert stored[key] == 1, f"R29: {key} is stored {stored[key]} times"
    for message in picture.all("messages", direction="in", turn_id=None):
        case, turn = picture.one("cases", message["case_id"]), unsettled(picture, message["case_id"])
        someone = picture.one("leases", case["id"])["kind"] is not None
        assert (
            case["state"] not in LIVE
            or turn is not None
            or someone
            or has_work(picture, 1 << 60, case["id"], talks=model.talks)
        )


def held_back(picture: Picture) -> None:
    """R12: while a person has a case, nothing the assistant said is on its way."""
    for lease in picture.all("leases", kind="human"):
        for row in picture.all("outbox", case_id=lease["case_id"], state="due"):
            assert row["turn_id"] is None, "R12: the assistant talks over the person"
