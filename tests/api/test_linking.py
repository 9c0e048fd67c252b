"""A code for somebody, from a program that has the token."""

from typing import cast

from bot.first_start import OPERATOR
from casestore import linking, principals
from casestore.states import Role
from tests.api.rig import Served

THERE = ("slack", "T1", "U9")


async def test_whoever_has_the_token_is_given_a_code_that_works(web: Served) -> None:
    answer = await web.api.post(f"/api/v1/principals/{OPERATOR}/link")
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    made = cast("dict[str, str]", answer.json())
    assert made["command"] == f"/case link {made['code']}"
    assert "digest" not in made
    used = await web.service.store.write(linking.use, web.clock.now(), made["code"], THERE, at="slack:T1/C1")
    assert used is not None
    assert used[0].made_via == "api"


async def test_without_the_token_nobody_is(web: Served) -> None:
    assert (await web.anybody.post(f"/api/v1/principals/{OPERATOR}/link")).status_code == 401
    assert await web.service.store.read(linking.listing, tenant="local") == []


async def test_somebody_of_another_tenant_is_not_there(web: Served) -> None:
    await web.service.store.write(principals.add, 1, tenant="theirs", name="tess", role=Role.REQUESTER)
    theirs, nobodys = [await web.api.post(f"/api/v1/principals/{name}/link") for name in ("tess", "nemo")]
    assert theirs.status_code == nobodys.status_code == 404
    assert theirs.text.replace("tess", "nemo") == nobodys.text
