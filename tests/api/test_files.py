"""What somebody attached, over HTTP: told of beside its message, and given as bytes that no browser shows."""

from typing import cast

from casestore import attachments, cases, messages
from casestore.attachments import Attachment
from casestore.models import Case, File
from casestore.scope import System
from casestore.tx import Tx
from tests.api.rig import Json, Served
from tests.api.strangers import settle_in

PAGE = b"<script>alert(document.cookie)</script>"
NAME = '../\u202e"a\r\nSet-Cookie: x=1'


def attach(tx: Tx, now: int, case: Case) -> tuple[File, File]:
    """One file that is kept, and one that is not, at the first message of a case."""
    message = messages.of_case(tx, System(), case.id)[0]
    found = [
        Attachment("slack", "F1", NAME, "text/html", 12),
        Attachment("slack", "F2", "b.iso", "x/y", 10**9, "larger than 10 MiB"),
    ]
    attachments.add(tx, message, found)
    one, other = attachments.of_message(tx, message.id)
    attachments.keep(tx, now, one, PAGE, name="", media_type="")
    return one, other


async def attached(web: Served) -> tuple[str, File, File]:
    """A case with both."""
    label = str((await web.post("/cases", {"text": "look"}, status=201))["label"])
    case = await web.service.store.read(cases.get, System(), int(label.removeprefix("C-")))
    return label, *(await web.service.store.write(attach, web.clock.now(), case))


async def test_the_files_of_a_message_stand_beside_it(web: Served) -> None:
    label, _, _ = await attached(web)
    first, *others = await web.rows(f"/cases/{label}/messages")
    one, other = cast("list[Json]", first["files"])
    assert (one["name"], one["media_type"], one["size"], one["state"]) == (NAME, "text/html", len(PAGE), "kept")
    assert str(one["kept_at"]).endswith("Z")
    assert (other["state"], other["reason"], other["size"]) == ("refused", "larger than 10 MiB", 10**9)
    assert [message["files"] for message in others] == [[]] * len(others)


async def test_a_copy_is_bytes_to_be_saved_whatever_it_says_it_is(web: Served) -> None:
    label, file, _ = await attached(web)
    answer = await web.api.get(f"/api/v1/cases/{label}/files/{file.id}")
    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "sandbox" in answer.headers["content-security-policy"]
    name = "_%E2%9F%A8U%2B202E%E2%9F%A9_a%E2%9F%A8U%2B000D%E2%9F%A9%E2%9F%A8U%2B000A%E2%9F%A9Set-Cookie_%20x%3D1"
    assert answer.headers["content-disposition"] == (
        f"attachment; filename=\"file-{file.id}\"; filename*=UTF-8''{name}"
    )


async def test_where_there_is_no_copy_it_says_why(web: Served) -> None:
    label, _, file = await attached(web)
    answer = await web.api.get(f"/api/v1/cases/{label}/files/{file.id}")
    assert answer.status_code == 409
    assert answer.json() == {"error": f"There is no copy of file {file.id}: larger than 10 MiB."}


async def test_a_file_of_another_case_or_tenant_is_not_there(web: Served) -> None:
    """R21"""
    label, file, _ = await attached(web)
    theirs = await web.service.store.write(settle_in, web.clock.now())
    hidden, _ = await web.service.store.write(attach, web.clock.now(), theirs.case)
    other = str((await web.post("/cases", {"text": "other"}, status=201))["label"])
    for path in (
        f"{other}/files/{file.id}", f"{label}/files/{hidden.id}", f"{theirs.case.label}/files/{hidden.id}",
        f"{label}/files/999", f"{label}/files/nope",
    ):  # fmt: skip
        answer = await web.api.get(f"/api/v1/cases/{path}")
        assert answer.status_code == 404, path
        assert PAGE not in answer.content
    assert (await web.anybody.get(f"/api/v1/cases/{label}/files/{file.id}")).status_code == 401
