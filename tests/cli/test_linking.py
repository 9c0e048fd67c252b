"""An admin gives somebody a code on the command line, and sees later who was let in by which."""

import re

from bot.clock import SystemClock
from bot.words import link_code
from casestore import linking, principals
from casestore.states import Role
from tests.cli.command_line import Cli
from tests.conftest import World

THERE = ("discord", "", "9001")


async def test_a_code_is_shown_once_with_what_to_do_with_it(cli: Cli, world: World) -> None:
    shown = await cli.done("principal", "link", "kim")
    code = re.fullmatch(r"/case link (CB(?:-[0-9A-Z]{4}){4})", shown.splitlines()[0])
    assert code is not None
    assert set(code[1]) <= set(link_code.LETTERS + "CB-")
    assert "Discord" in shown
    assert "acts as kim (operator)" in " ".join(shown.split())
    used = await world.store.write(linking.use, SystemClock().now(), code[1], THERE, at="discord:1/2")
    assert used is not None
    assert (await world.store.read(principals.by_account, *THERE)) is not None
    assert code[1] not in await cli.done("principal", "codes")


async def test_each_code_is_another(cli: Cli, world: World) -> None:
    found = {str((await cli("principal", "link", "kim", "--json")).json["code"]) for _ in range(3)}
    assert len(found) == 3


async def test_who_was_let_in_by_which_code_and_from_where_is_listed(cli: Cli, world: World) -> None:
    made = (await cli("principal", "link", "kim", "--json")).json
    assert made["command"] == f"/case link {made['code']}"
    await world.store.write(linking.use, SystemClock().now(), str(made["code"]), THERE, at="discord:1/2")
    ((listed),) = (await cli("principal", "codes", "--json")).json["codes"]
    assert (listed["principal"], listed["account"], listed["used_from"]) == ("kim", "discord//9001", "discord:1/2")
    assert (listed["id"], listed["made_via"], listed["state"]) == (made["id"], "cli", "used")
    assert "digest" not in listed
    assert "digest" not in made
    row = (await cli.done("principal", "codes")).splitlines()[-1].split()
    assert row[:4] == [str(made["id"]), "kim", "operator", "cli"]


async def test_only_an_admin_makes_codes_and_for_nobody_who_is_revoked(cli: Cli, world: World) -> None:
    refused = (await cli("principal", "link", "you", "--as", "kim")).line
    assert refused.startswith("kim is an operator; only an admin may link accounts.")
    assert (await cli("principal", "codes", "--as", "you")).line.startswith("you is a requester; only an operator")
    assert (await cli("principal", "link", "nobody")).line.startswith("No principal named nobody.")
    await cli.done("principal", "revoke", "kim")
    assert (await cli("principal", "link", "kim")).line == "kim has been revoked; add a new principal instead."
    await world.store.write(principals.add, 1, tenant="theirs", name="tess", role=Role.REQUESTER)
    assert (await cli("principal", "link", "tess")).line.startswith("No principal named tess.")
