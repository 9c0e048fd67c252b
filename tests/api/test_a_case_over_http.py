"""What an operator does, over HTTP alone: from the alert to the record of what was done (R1, R5, R16, R18)."""

from typing import cast

from tests.alerts.notifications import body, chairs
from tests.api.rig import Json, Served


async def test_an_alert_is_approved_and_its_run_recorded(web: Served) -> None:
    gate = await web.gate()
    shown = await web.get(f"/gates/{gate['id']}")
    card = cast("Json", shown["card"])
    assert card["statement"] == gate["statement"]
    assert (card["verbs"], card["case_label"]) == (["approve", "deny", "revise"], gate["case"])
    assert (shown["state"], shown["roles"], shown["args"]) == (
        "open", ["admin", "operator"], {"name": "casebound-demo", "older_than_days": 0}
    )  # fmt: skip

    answer = {"verb": "approve", "digest": shown["digest_shown"], "reason": "go ahead"}
    decided = await web.post(f"/gates/{gate['id']}/decide", answer)
    assert str(decided["text"]).startswith("Approved: Clear the cache")

    case = await web.case_is(gate["case"], state="resolved")
    assert [one["state"] for one in cast("list[Json]", case["gates"])] == ["approved"]
    [approved] = cast("list[Json]", case["gates"])
    assert (approved["decided_via"], approved["reason"], approved["verb"]) == ("api", "go ahead", "approve")
    assert str(approved["decided_at"]).endswith("Z")

    verified = await web.get(f"/cases/{gate['case']}/trail/verify")
    assert (verified["ok"], verified["problems"]) == (True, [])
    head = await web.get(f"/cases/{gate['case']}/trail/verify", anchor=str(verified["head"]))
    assert head["ok"] is True
    cut = await web.get(f"/cases/{gate['case']}/trail/verify", anchor=f"{verified['entries']}:{'0' * 64}")
    assert cut["ok"] is False
    kinds = [entry["kind"] for entry in await web.rows(f"/cases/{gate['case']}/trail")]
    assert kinds[:2] == ["case.opened", "alert.fired"]
    assert {"gate.asked", "gate.approved", "case.resolved"} <= set(kinds)


async def test_a_run_shows_everything_its_record_must_hold(web: Served) -> None:
    gate = await web.gate()
    digest = str(gate["digest_shown"])
    changed = {"verb": "approve", "digest": digest[:8], "set": {"older_than_days": 5}}
    await web.post(f"/gates/{gate['id']}/decide", changed)
    await web.case_is(gate["case"], state="resolved")

    listed = await web.rows("/runs", case=str(gate["case"]))
    assert [run["outcome"] for run in listed] == ["answered", "parked"]
    assert "steps" not in listed[0]
    first, last = [await web.get(f"/runs/{run['id']}") for run in reversed(listed)]
    assert (first["agent"], first["model"], first["model_reported"]) == (
        "casebound", "playbook", "playbook:disk-filling"
    )  # fmt: skip
    assert (first["tenant"], first["task_state"], first["stop_reason"]) == (
        "local", {}, f"gate {gate['id']} was asked"
    )  # fmt: skip
    assert len(str(first["prompt_version"])) == 16
    assert (last["outcome"], last["resumes"], last["case"]) == ("answered", first["id"], gate["case"])
    for run in (first, last):
        for name in ("input_tokens", "output_tokens", "cached_tokens", "model_calls", "tool_calls"):
            assert isinstance(run[name], int)
        assert run["cost_usd"] == 0.0
        assert str(run["started_at"]) <= str(run["ended_at"])
        steps = cast("list[Json]", run["steps"])
        responses = [step["provider_response_id"] for step in steps if step["kind"] == "model"]
        assert run["provider_response_ids"] == responses
        assert all(responses)
        # a step has the keys of its kind, and not those of the other
        for step in steps:
            is_model = step["kind"] == "model"
            assert ("request" in step, "finish_reason" in step) == (is_model, is_model)
            assert ("result" in step, "tool" in step, "args" in step) == (not is_model,) * 3
    calls = {str(step["tool"]): step for step in cast("list[Json]", first["steps"]) if step["kind"] == "tool"}
    looked = calls["host.disk_usage"]
    assert (looked["args"], looked["tier"], looked["tenant"], looked["state"]) == (
        {"path": web.folder}, "read_only", "local", "finished"
    )  # fmt: skip
    assert cast("Json", looked["result"])["kind"] == "ok"
    assert "percent" in cast("Json", cast("Json", looked["result"])["content"])
    ran = [step for step in cast("list[Json]", last["steps"]) if step.get("tool") == "host.clear_cache"]
    # as asked and as run: the approver's change is on the gate, and in what was spent
    assert [step["args"] for step in ran] == [{"name": "casebound-demo", "older_than_days": 5}]
    decided = await web.get(f"/gates/{gate['id']}")
    assert (decided["args"], decided["changed_args"]) == (
        {"name": "casebound-demo", "older_than_days": 0}, {"name": "casebound-demo", "older_than_days": 5}
    )  # fmt: skip


async def test_a_case_is_opened_spoken_in_taken_over_and_ended(web: Served) -> None:
    opened = await web.post("/cases", {"text": "we need chairs\nfive of them", "title": "chairs"}, status=201)
    label = opened["label"]
    assert (opened["title"], opened["origin"], opened["state"], opened["tenant"]) == ("chairs", "web", "new", "local")
    await web.case_is(label, waiting_on="operator")  # no playbook knows about chairs

    taken = await web.post(f"/cases/{label}/take")
    assert (taken["waiting_on"], (await web.get(f"/cases/{label}"))["taken_over_by"]) == ("human", "operator")
    said = await web.post(f"/cases/{label}/messages", {"text": "I ordered them"}, status=201)
    assert (said["direction"], said["provenance"]) == ("out", "operator")
    released = await web.post(f"/cases/{label}/release")
    assert released["waiting_on"] == ""
    said = await web.post(f"/cases/{label}/messages", {"text": "and a table"}, status=201)
    assert (said["direction"], said["provenance"]) == ("in", "requester")
    await web.case_is(label, waiting_on="operator")

    resolved = await web.post(f"/cases/{label}/resolve", {"reason": "they are here"})
    assert (resolved["state"], "they are here" in str(resolved["paraphrase"])) == ("resolved", True)
    assert (await web.post(f"/cases/{label}/reopen"))["state"] == "in_progress"
    assert (await web.post(f"/cases/{label}/close", {"reason": "done"}))["state"] == "closed"
    refused = await web.post(f"/cases/{label}/messages", {"text": "hello?"}, status=409)
    assert refused == {"error": f"{label} is closed; open a new case."}
    for verb in ("resolve", "reopen", "close", "cancel", "take", "release"):
        answer = await web.post(f"/cases/{label}/{verb}", status=409)
        assert str(answer["error"]).startswith(str(label))


async def test_lists_are_pages(web: Served) -> None:
    for n in range(3):
        await web.post("/cases", {"text": f"order {n} chairs"}, status=201)
    assert len(await web.rows("/cases", limit=2)) == 2
    label = (await web.rows("/cases"))[0]["label"]
    await web.case_is(label, waiting_on="operator")
    await web.post(f"/cases/{label}/cancel", {"reason": "by mistake"})
    assert [case["label"] for case in await web.rows("/cases", state="cancelled")] == [label]
    everything = await web.rows(f"/cases/{label}/messages")
    first = await web.rows(f"/cases/{label}/messages", limit=1)
    rest = await web.rows(f"/cases/{label}/messages", after=1)
    assert first + rest == everything
    trail = await web.rows(f"/cases/{label}/trail")
    assert await web.rows(f"/cases/{label}/trail", after=3) == trail[3:]
    # a number alone, without its letter, is the same case
    assert await web.get(f"/cases/{str(label).removeprefix('C-')}") == await web.get(f"/cases/{label}")


async def test_a_late_answer_is_told_who_was_first(web: Served) -> None:
    gate = await web.gate()
    answer: Json = {"verb": "deny", "digest": gate["digest_shown"], "reason": "not now"}
    await web.post(f"/gates/{gate['id']}/decide", answer)
    late = await web.post(f"/gates/{gate['id']}/decide", {**answer, "verb": "approve"}, status=409)
    assert f"Gate {gate['id']} is already decided: Denied by operator via the API" in str(late["error"])
    assert cast("Json", late["gate"])["state"] == "denied"


async def test_an_answer_to_another_card_is_refused_and_the_gate_stays_open(web: Served) -> None:
    gate = await web.gate()
    for ask in (
        {"verb": "approve", "digest": "0" * 64},
        {"verb": "happened", "digest": gate["digest_shown"]},
    ):
        await web.post(f"/gates/{gate['id']}/decide", ask, status=409)
    changed = {"verb": "approve", "digest": gate["digest_shown"], "set": {"name": "other"}}
    refused = await web.post(f"/gates/{gate['id']}/decide", changed, status=400)
    assert "does not let an approver change name" in str(refused["error"])
    assert (await web.get(f"/gates/{gate['id']}"))["state"] == "open"


async def test_a_gate_is_extended_and_withdrawn(web: Served) -> None:
    gate = await web.gate()
    longer = await web.post(f"/gates/{gate['id']}/extend", {"by": "2h"})
    assert str(longer["expires_at"]) > str(gate["expires_at"])
    assert longer["reminders"] != gate["reminders"]
    withdrawn = await web.post(f"/gates/{gate['id']}/withdraw", {"reason": "a mistake"})
    assert (withdrawn["state"], withdrawn["reason"]) == ("withdrawn", "a mistake")
    await web.post(f"/gates/{gate['id']}/withdraw", status=409)
    await web.post(f"/gates/{gate['id']}/extend", {"by": "2h"}, status=409)
    assert await web.rows("/gates") == []
    assert [one["id"] for one in await web.rows("/gates", all="true")] == [gate["id"]]


async def test_nobody_answers_after_the_expiry_whatever_has_swept(web: Served) -> None:
    gate = await web.gate()
    web.service.schedule.stop()  # no sweep
    web.clock.ahead = 25 * 3_600_000
    late = await web.post(
        f"/gates/{gate['id']}/decide", {"verb": "approve", "digest": gate["digest_shown"]}, status=409
    )  # fmt: skip
    assert f"Too late for gate {gate['id']}" in str(late["error"])
    assert cast("Json", late["gate"])["state"] == "expired"
    web.clock.ahead = 0
    await web.post(f"/gates/{gate['id']}/decide", {"verb": "approve", "digest": gate["digest_shown"]}, status=409)
    assert (await web.get(f"/gates/{gate['id']}"))["state"] == "expired"


async def test_metrics_count_what_the_store_holds(web: Served) -> None:
    gate = await web.gate()
    await web.notify(body(chairs(), key="other"))
    await web.case_is("C-1002", waiting_on="operator")
    await web.anybody.get("/nope/with-no-end-of-values")
    samples = await web.metrics()
    assert samples["casebound_cases", "in_progress"] == 2
    assert samples["casebound_gates_open",] == 1
    assert samples["casebound_runs_total", "parked"] == 1
    assert samples["casebound_runs_total", "handed_off"] == 1
    assert samples["casebound_alerts_firing",] == 2
    assert samples["casebound_outbox", "due"] == 0
    assert samples["casebound_store_healthy",] == 1
    assert samples["casebound_http_requests_total", "POST", "/alerts/alertmanager", "200"] == 2
    assert samples["casebound_http_requests_total", "GET", "none", "404"] == 1
    assert samples["casebound_http_requests_total", "GET", "/api/v1/gates", "200"] >= 1
    await web.post(f"/gates/{gate['id']}/withdraw")
    assert (await web.metrics())["casebound_gates_open",] == 0
