"""Taking back what waits over the API: for whom its token speaks, in every order with a decision and the expiry."""

from pathlib import Path
from typing import cast

import pytest

from bot.first_start import OPERATOR
from casestore import principals
from casestore.models import Principal
from casestore.states import Role
from casestore.tx import Tx
from tests.api.rig import Json, Served, served

DAY_MS = 86_400_000


async def gate_of(web: Served, gate: Json) -> Json:
    return await web.get(f"/gates/{gate['id']}")


@pytest.mark.parametrize("how", ["by its own address", "by the word"])
async def test_what_waits_is_taken_back_in_the_name_of_the_operator_and_never_run(web: Served, how: str) -> None:
    gate = await web.gate()

    if how == "by the word":
        await web.post(f"/cases/{gate['case']}/messages", {"text": "withdraw"}, status=201)
    else:
        await web.post(f"/gates/{gate['id']}/withdraw")

    after = await gate_of(web, gate)
    assert (after["state"], after["decided_via"]) == ("withdrawn", "api")
    assert after["decided_by"] == (await web.service.store.read(principals.by_name, OPERATOR)).id
    late = await web.post(
        f"/gates/{gate['id']}/decide", {"verb": "approve", "digest": gate["digest_shown"]}, status=409
    )
    assert f"Gate {gate['id']} is already decided: Withdrawn by" in str(late["error"])
    assert cast("Json", late["gate"])["state"] == "withdrawn"


@pytest.mark.parametrize("how", ["by its own address", "by the word"])
@pytest.mark.parametrize("first", ["approved", "expired"])
async def test_what_came_before_it_stays_and_is_told(web: Served, first: str, how: str) -> None:
    gate = await web.gate()
    web.service.schedule.stop()  # no sweep
    if first == "approved":
        await web.post(f"/gates/{gate['id']}/decide", {"verb": "approve", "digest": gate["digest_shown"]})
    else:
        web.clock.ahead = 2 * DAY_MS

    if how == "by the word":
        await web.post(f"/cases/{gate['case']}/messages", {"text": "withdraw"}, status=201)
    else:
        told = await web.post(f"/gates/{gate['id']}/withdraw", status=409)
        assert str(told["error"]).startswith("Too late" if first == "expired" else f"Gate {gate['id']} is already")
    assert (await gate_of(web, gate))["state"] == first


async def test_nothing_is_taken_back_once_the_operator_may_not_act(web: Served) -> None:
    gate = await web.gate()
    admin = await web.service.store.write(add_admin, web.clock.now())
    operator = await web.service.store.read(principals.by_name, OPERATOR)
    await web.service.store.write(principals.revoke, web.clock.now(), operator.id, revoked_by=admin.id)

    for path, ask in ((f"/gates/{gate['id']}/withdraw", {}), (f"/cases/{gate['case']}/messages", {"text": "withdraw"})):
        answer = await web.api.post(f"/api/v1{path}", json=ask)
        assert answer.status_code in (403, 409), answer.text
        anybody = await web.anybody.post(f"/api/v1{path}", json=ask)
        assert anybody.status_code == 401
    (state,) = await web.service.store.read(states)
    assert state == "open"


async def test_taken_back_it_stays_so_in_the_next_process(db: Path) -> None:
    async with served(db) as web:
        gate = await web.gate()
        await web.post(f"/cases/{gate['case']}/messages", {"text": "Withdraw."}, status=201)
    async with served(db) as web:
        assert (await gate_of(web, gate))["state"] == "withdrawn"


def add_admin(tx: Tx, now: int) -> Principal:
    return principals.add(tx, now, tenant="local", name="root", role=Role.ADMIN)


def states(tx: Tx) -> list[str]:
    return [str(state) for state in tx.column("SELECT state FROM gates")]
