"""Whatever is sent, the answer is one clear sentence or the thing is stored and shown; the service stays up."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import cast

import pytest

from bot.web.door import MOST_BYTES
from casestore.canonical import encode
from casestore.tx import Tx
from tests.alerts.notifications import alert, body, chairs, notification
from tests.api.rig import LOOPBACK, Json, Served, as_json

ODD = "a\ud800b\x00c\u202ed\u200de👩‍👩‍👧\r\n\t<!channel> @everyone ⟨U+0000⟩"
STORED = "a⟨U+D800⟩b⟨U+0000⟩c\u202ed\u200de👩‍👩‍👧\r\n\t<!channel> @everyone ⟨U+27E8⟩U+0000⟩"
JSON = {"Content-Type": "application/json"}
DIGEST = "0" * 64
SEND_JSON = "The body has to be a JSON object, sent with Content-Type: application/json."


BODIES: list[tuple[str, bytes, dict[str, str], int, str]] = [
        ("/cases", b"", JSON, 422, SEND_JSON),
        ("/cases", b"{", JSON, 400, "The body is not JSON (Expecting property name enclosed in double quotes at "
         "character 1)."),
        ("/cases", b"\xff\xff", JSON, 400, SEND_JSON),
        ("/cases", b"[" * 200_000, JSON, 400, SEND_JSON),
        ("/cases", b"[]", JSON, 422, SEND_JSON),
        ("/cases", b"null", JSON, 422, SEND_JSON),
        ("/cases", b'{"text": "x"}', {}, 422, SEND_JSON),
        ("/cases", b'{"text": "x"}', {"Content-Type": "text/plain"}, 422, SEND_JSON),
        ("/cases", b"text=x", {"Content-Type": "application/x-www-form-urlencoded"}, 422, SEND_JSON),
        ("/cases", b"{}", JSON, 422, "text is missing."),
        ("/cases", b'{"text": 5}', JSON, 422, "text should be a string."),
        ("/cases", b'{"text": null}', JSON, 422, "text should be a string."),
        ("/cases", b'{"text": " \\n "}', JSON, 422, "text has to say something."),
        ("/cases", b'{"text": "x", "title": ""}', JSON, 422, "title is empty."),
        ("/cases", b'{"text": "x", "titel": "y"}', JSON, 422, "There is no field titel here."),
        ("/cases", b'{"text": "x", "\\u202e": 1}', JSON, 422, "There is no field ⟨U+202E⟩ here."),
        ("/cases/C-1001/resolve", b'{"reason": 1}', JSON, 422, "reason should be a string."),
        ("/gates/1/decide", b"{}", JSON, 422, "verb is missing."),
        ("/gates/1/decide", b'{"verb": "maybe", "digest": "00000000"}', JSON, 422, "verb should be 'approve', 'deny', "
         "'revise', 'happened', 'not_happened' or 'rerun'."),
        ("/gates/1/decide", b'{"verb": "approve"}', JSON, 422, "digest is missing."),
        ("/gates/1/decide", b'{"verb": "approve", "digest": ""}', JSON, 422, "digest should match pattern "
         "'^[0-9a-f]{8,64}$'."),
        ("/gates/1/decide", b'{"verb": "approve", "digest": "0000000"}', JSON, 422, "digest should match pattern "
         "'^[0-9a-f]{8,64}$'."),
        ("/gates/1/decide", b'{"verb": "approve", "digest": "00000000", "set": {"a": NaN}}', JSON, 422,
         "set has a number in it that JSON does not know."),
        ("/gates/1/extend", b'{"by": "-1h"}', JSON, 422, "by '-1h' is not a duration; write it like \"24h\", \"10m\", "
         '"1h30m", "45s" or "250ms".'),
]  # fmt: skip


async def test_a_body_that_cannot_be_used_is_refused_in_one_sentence(web: Served, subtests: pytest.Subtests) -> None:
    for path, content, headers, status, error in BODIES:
        with subtests.test(path=path, content=content[:80], headers=headers):
            answer = await web.api.post(f"/api/v1{path}", content=content, headers=headers)
            assert (answer.status_code, answer.json()) == (status, {"error": error})
    assert (await web.anybody.get("/readyz")).status_code == 200
    assert await web.rows("/cases") == []


ADDRESSES: list[tuple[str, str, int, str]] = [
        ("GET", "/nope", 404, "There is nothing at this address; the API is described at /api/v1/openapi.json."),
        ("GET", "/api/v1/nope", 404, "There is nothing at this address; the API is described at /api/v1/openapi.json."),
        ("GET", "/", 404, "There is nothing at this address; the API is described at /api/v1/openapi.json."),
        ("GET", "/api/v1/cases/", 404, "There is nothing at this address; the API is described at "
         "/api/v1/openapi.json."),
        ("DELETE", "/api/v1/cases/C-1001", 405, "This address does not know that method; use GET."),
        ("PUT", "/alerts/alertmanager", 405, "This address does not know that method; use POST."),
        ("GET", "/api/v1/cases/C-1042", 404, "No case C-1042."),
        ("GET", "/api/v1/cases/c-1042", 404, "No case c-1042."),
        ("GET", "/api/v1/cases/%00", 404, "No case ⟨U+0000⟩."),
        ("GET", "/api/v1/cases/C-" + "9" * 30, 404, f"No case C-{'9' * 30}."),
        ("GET", "/api/v1/cases/-1", 404, "No case -1."),
        ("GET", "/api/v1/cases/1e3", 404, "No case 1e3."),
        ("GET", "/api/v1/cases/C-%D9%A1", 404, "No case C-\u0661."),
        ("GET", "/api/v1/gates/1", 404, "No gate 1."),
        ("GET", "/api/v1/gates/x", 404, "No gate x."),
        ("GET", "/api/v1/runs/1", 404, "No run 1."),
        ("GET", "/api/v1/runs?case=C-1042", 404, "No case C-1042."),
        ("GET", "/api/v1/cases?limit=0", 422, "limit should be greater than or equal to 1."),
        ("GET", "/api/v1/cases?limit=x", 422, "limit should be a valid integer, unable to parse string as an "
         "integer."),
        ("GET", "/api/v1/cases?state=open", 422, "state.0 should be 'new', 'in_progress', 'resolved', 'closed' or "
         "'cancelled'."),
        ("GET", "/api/v1/cases/C-1042/trail?after=99999999999999999999", 422, "after should be less than "
         "9223372036854775808."),
        ("GET", "/api/v1/cases/C-1042/trail/verify?anchor=x", 422, "anchor should match pattern "
         "'^[0-9]{1,18}:[0-9a-f]{64}$'."),
]  # fmt: skip


async def test_an_address_that_leads_nowhere_says_so(web: Served, subtests: pytest.Subtests) -> None:
    for method, path, status, error in ADDRESSES:
        with subtests.test(method=method, path=path):
            answer = await web.api.request(method, path)
            assert (answer.status_code, answer.json()) == (status, {"error": error})


async def test_text_of_any_kind_is_stored_and_shown(web: Served) -> None:
    answer = await web.api.post("/api/v1/cases", content=as_json({"text": ODD, "title": ODD}), headers=JSON)
    assert answer.status_code == 201
    label = answer.json()["label"]
    assert answer.json()["title"] == STORED
    reason = await web.api.post(f"/api/v1/cases/{label}/resolve", content=as_json({"reason": ODD}), headers=JSON)
    assert STORED in reason.json()["paraphrase"]
    [first, *_] = await web.rows(f"/cases/{label}/messages")
    assert first["body"] == [{"type": "text", "text": STORED}]
    ended = [entry for entry in await web.rows(f"/cases/{label}/trail") if entry["kind"] == "case.resolved"]
    assert [entry["content"] for entry in ended] == [{"reason": STORED}]
    assert (await web.get(f"/cases/{label}/trail/verify"))["ok"] is True


async def test_a_megabyte_of_text_is_a_message(web: Served) -> None:
    text = "x" * 1_000_000
    opened = await web.post("/cases", {"text": text}, status=201)
    assert opened["title"] == "x" * 79 + "…"
    [message, *_] = await web.rows(f"/cases/{opened['label']}/messages")
    assert message["body"] == [{"type": "text", "text": text}]
    await web.case_is(opened["label"], waiting_on="operator")


@pytest.mark.parametrize("path", ["/alerts/alertmanager", "/api/v1/cases"])
async def test_a_body_beyond_the_limit_is_refused_with_its_size(web: Served, path: str) -> None:
    error = {"error": "The body is too large; at most 16 MiB are read."}
    too_large = b'{"text": "' + b"x" * MOST_BYTES + b'"}'

    async def in_pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(too_large), 2**20):
            yield too_large[start : start + 2**20]

    for content in (too_large, in_pieces()):
        answer = await web.api.post(path, content=content, headers=JSON)
        assert (answer.status_code, answer.json()) == (413, error)
    assert await web.rows("/cases") == []


async def test_a_sender_that_does_not_listen_before_it_has_sent_all_hears_why(web: Served) -> None:
    reader, writer = await asyncio.open_connection(LOOPBACK, web.port)
    size = 3 * MOST_BYTES
    writer.write(f"POST /alerts/alertmanager HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode())
    for _ in range(size // 2**20):
        writer.write(b"x" * 2**20)
        await writer.drain()
    assert (await reader.readline()).startswith(b"HTTP/1.1 413 ")
    writer.close()
    await writer.wait_closed()


async def test_an_alert_just_below_the_limit_is_taken(web: Served) -> None:
    member = chairs(annotations={"description": ""})
    room = MOST_BYTES - len(body(member))
    payload = body({**member, "annotations": {"description": "x" * room}})
    assert len(payload) == MOST_BYTES
    assert (await web.notify(payload))["what"] == "opened"


NOTIFICATIONS: list[tuple[bytes, str]] = [
    (b"", "is not JSON"),
    (b"{", "is not JSON"),
    (b"\xff", "is not JSON"),
    (b"[" * 200_000, "nested too deeply"),
    (b"[]", "has to be a JSON object"),
    (body(chairs(), version="5"), "version should be '4'"),
    (body(chairs(startsAt="soon")), "alerts[0].startsAt is not a time"),
]


async def test_a_notification_that_cannot_be_read_is_refused_and_stores_nothing(
    web: Served, subtests: pytest.Subtests
) -> None:
    for payload, said in NOTIFICATIONS:
        with subtests.test(payload=payload[:80]):
            refused = await web.notify(payload, status=400)
            assert list(refused) == ["error"]
            assert said in str(refused["error"])
    assert await web.rows("/cases") == []


async def test_an_alert_with_text_of_any_kind_is_stored_and_worked(web: Served) -> None:
    member = alert("a", labels={"alertname": ODD, "odd": ODD}, annotations={"summary": ODD})
    taken = await web.notify(json.dumps(notification(member, key=ODD)).encode())
    case = await web.case_is(taken["case"], waiting_on="operator")
    [episode] = cast("list[Json]", case["episodes"])
    assert cast("Json", episode["labels"])["odd"] == STORED
    runs = await web.rows("/runs", case=str(taken["case"]))
    assert [run["outcome"] for run in runs] == ["handed_off"]


async def test_a_result_that_is_no_valid_text_is_shown_all_the_same(web: Served) -> None:
    await web.post("/cases", {"text": "we need chairs"}, status=201)
    await web.case_is("C-1001", waiting_on="operator")
    await web.service.store.write(spoil, "\ud800")
    answer = await web.api.get("/api/v1/cases/C-1001")
    assert (answer.status_code, answer.json()["task_state"]) == (200, {"note": "\ud800"})


def spoil(tx: Tx, text: str) -> None:
    """What a tool returned need not be Unicode; the store keeps it as escapes."""
    tx.run("UPDATE cases SET task_state = :state", state=encode({"note": text}))
