"""What is of another tenant is not there: on no path, for no verb, and the answer does not tell it apart (R21)."""

import re
import sqlite3
from pathlib import Path

import pytest

from casestore.models import Case
from casestore.tx import Tx
from tests.alerts.notifications import body, chairs
from tests.api.rig import Json, Served
from tests.api.strangers import CANARY, TENANT, Theirs, settle_in

DIGEST = "0" * 64
ABOUT_A_CASE: list[tuple[str, str, Json | None]] = [
    ("GET", "/cases/{case}", None),
    ("GET", "/cases/{case}/messages", None),
    ("GET", "/cases/{case}/live", None),
    ("GET", "/cases/{case}/files/1", None),
    ("GET", "/cases/{case}/trail", None),
    ("GET", "/cases/{case}/trail/verify", None),
    ("GET", "/runs?case={case}", None),
    ("POST", "/cases/{case}/messages", {"text": "hello"}),
    ("POST", "/cases/{case}/resolve", {"reason": "x"}),
    ("POST", "/cases/{case}/reopen", {}),
    ("POST", "/cases/{case}/close", {}),
    ("POST", "/cases/{case}/cancel", {}),
    ("POST", "/cases/{case}/take", None),
    ("POST", "/cases/{case}/release", None),
]
ABOUT_A_GATE: list[tuple[str, str, Json | None]] = [
    ("GET", "/gates/{gate}", None),
    ("POST", "/gates/{gate}/decide", {"verb": "approve", "digest": DIGEST}),
    ("POST", "/gates/{gate}/decide", {"verb": "approve", "digest": DIGEST, "set": {"service": "x"}}),
    ("POST", "/gates/{gate}/extend", {"by": "2h"}),
    ("POST", "/gates/{gate}/withdraw", {"reason": "x"}),
]
ABOUT_A_RUN: list[tuple[str, str, Json | None]] = [("GET", "/runs/{run}", None)]
NOBODYS = {"case": "C-999999", "gate": 999999, "run": 999999}


@pytest.fixture
async def theirs(web: Served) -> Theirs:
    """Another tenant's case in the same file."""
    return await web.service.store.write(settle_in, web.clock.now())


async def ask(web: Served, method: str, path: str, json: Json | None, **names: object) -> tuple[int, str]:
    """The answer, without the numbers in it."""
    answer = await web.api.request(method, f"/api/v1{path.format(**names)}", json=json)
    return answer.status_code, re.sub(r"[0-9]+", "N", answer.text)


async def test_another_tenants_answers_like_what_does_not_exist(
    web: Served, theirs: Theirs, db: Path, subtests: pytest.Subtests
) -> None:
    before = dump(db)
    for method, path, json in ABOUT_A_CASE + ABOUT_A_GATE + ABOUT_A_RUN:
        with subtests.test(method=method, path=path):
            if json is not None and "digest" in json:
                json = {**json, "digest": theirs.gate.digest_shown}  # even who knows it
            real = await ask(web, method, path, json, case=theirs.case.label, gate=theirs.gate.id, run=theirs.run.id)
            nobodys = await ask(web, method, path, json, **NOBODYS)
            assert real == nobodys
            assert real[0] == 404
            assert CANARY not in real[1]
    assert dump(db) == before


async def test_no_list_holds_anything_of_another_tenant(web: Served, theirs: Theirs) -> None:
    own = await web.post("/cases", {"text": "we need chairs"}, status=201)
    await web.case_is(own["label"], waiting_on="operator")
    for path in ("/cases", "/cases?state=in_progress", "/gates", "/gates?all=true", "/runs"):
        answer = await web.api.get(f"/api/v1{path}")
        assert answer.status_code == 200
        assert CANARY not in answer.text
        assert theirs.case.label not in answer.text
        assert (str(own["label"]) in answer.text) == ("gates" not in path)


async def test_no_body_names_a_tenant_or_a_person(web: Served, theirs: Theirs) -> None:
    for field in ("tenant", "requester", "author", "principal", "as", "history", "messages"):
        for path in ("/cases", "/cases/C-1001/messages"):
            refused = await web.post(path, {"text": "x", field: TENANT}, status=422)
            assert refused == {"error": f"There is no field {field} here."}
    assert await web.rows("/cases") == []


async def test_an_alert_never_finds_another_tenants_case(web: Served) -> None:
    payload = body(chairs(), key="x")
    own = (await web.notify(payload))["case"]
    theirs = await web.service.store.write(settle_in, web.clock.now())
    await web.service.store.write(share_key, theirs.case)
    again = await web.notify(payload)
    assert (again["case"], again["what"]) == (own, "known")
    joined = await web.notify(body(chairs(), chairs("b"), key="x"))
    assert (joined["case"], joined["what"]) == (own, "joined")


def share_key(tx: Tx, case: Case) -> None:
    """Their case has the key of our group."""
    tx.run(
        """UPDATE cases SET dedup_key = (SELECT dedup_key FROM cases WHERE dedup_key LIKE 'alertmanager%')
           WHERE id = :id""",
        id=case.id,
    )


def dump(db: Path) -> list[str]:
    """Everything in the file."""
    raw = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        return list(raw.iterdump())
    finally:
        raw.close()
