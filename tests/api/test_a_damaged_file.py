"""A page of the file that makes no sense: "try again" and never "no such case", and health stays red (R15)."""

import sqlite3
from pathlib import Path

from channels.messages import Account, Command
from tests.alerts.notifications import body, chairs
from tests.api.rig import served
from tests.loop.rig import THREAD


def overwrite(db: Path, table: str) -> None:
    """Put nonsense where the table begins, as a failing disk does."""
    raw = sqlite3.connect(db, isolation_level=None)
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (root,) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = raw.execute("PRAGMA page_size").fetchone()
    raw.close()
    with db.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)


async def test_what_stands_on_it_is_try_again_and_health_is_red_though_other_writes_succeed(db: Path) -> None:
    async with served(db) as web:
        opened = await web.post("/cases", {"text": "hello"}, status=201)
        await web.case_is(opened["label"], waiting_on="operator")
        messages = await web.get(f"/cases/{opened['label']}/messages")
    overwrite(db, "messages")
    async with served(db) as web:
        web.service.schedule.stop()
        for method, path, ask in (
            ("GET", f"/cases/{opened['label']}/messages", None),
            ("POST", f"/cases/{opened['label']}/messages", {"text": "are you there?"}),
        ):
            answer = await web.api.request(method, f"/api/v1{path}", json=ask)
            assert answer.status_code == 503, (path, answer.text)
            assert answer.headers["retry-after"] == "5"
            assert answer.json()["error"].startswith("The database cannot be read (")
            assert answer.json()["error"].endswith("restore a backup.")
        assert (await web.get(f"/cases/{opened['label']}"))["label"] == opened["label"], "what is whole is shown"
        for _ in range(2):
            ready = await web.anybody.get("/readyz")
            assert ready.status_code == 503
            assert "restore a backup" in ready.json()["parts"]["store"]["why"]
            assert (await web.metrics())["casebound_store_healthy",] == 0
    assert messages


async def test_a_command_that_cannot_be_looked_up_is_not_answered_with_nothing(db: Path) -> None:
    async with served(db) as web:
        await web.notify(body(chairs()))
    overwrite(db, "cases")
    async with served(db) as web:
        you = Account(channel="console", space="local", account_id="you", display_name="you")
        command = Command(address=THREAD, account=you, text="/cases")
        assert "try again" in await web.service.receiver.command(command)
