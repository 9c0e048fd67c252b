"""Who is known, who may make people known, and who may act at all (R20, R24)."""

from casestore import principals
from casestore.states import Role
from casestore.tx import Tx
from tests.cli.command_line import Cli
from tests.conftest import World


async def test_a_person_is_added_bound_and_listed(cli: Cli, world: World) -> None:
    await cli.done("principal", "add", "robin", "--role", "operator")
    await cli.done("principal", "bind", "robin", "slack:T012/U345")
    bound = await world.store.read(principals.by_account, "slack", "T012", "U345")
    assert bound is not None
    assert (bound.name, bound.role, bound.tenant) == ("robin", Role.OPERATOR, "local")
    listed = await cli.done("principal", "list")
    assert next(line for line in listed.splitlines() if "robin" in line).split() == [
        "robin", "operator", "local", "slack:T012/U345",
    ]  # fmt: skip
    document = (await cli("principal", "list", "--json")).json["principals"]
    assert [one["name"] for one in document] == ["operator", "kim", "you", "robin"]
    assert document[3]["accounts"][0]["account_id"] == "U345"


async def test_a_new_person_is_a_requester_unless_more_is_said(cli: Cli, world: World) -> None:
    await cli.done("principal", "add", "robin")
    assert (await world.store.read(principals.by_name, "robin")).role is Role.REQUESTER


async def test_only_an_admin_makes_people_known(cli: Cli, world: World) -> None:
    for arguments in (("add", "robin"), ("bind", "you", "slack:T/U"), ("unbind", "slack:T/U"), ("revoke", "you")):
        refused = (await cli("principal", *arguments, "--as", "kim")).line
        assert refused.startswith("kim is an operator; only an admin may ")
    assert (await cli("principal", "list", "--as", "you")).line.startswith("you is a requester; only an operator may ")


async def test_an_account_speaks_for_one_person(cli: Cli, world: World) -> None:
    await cli.done("principal", "bind", "you", "slack:T/U")
    assert "already bound to you" in (await cli("principal", "bind", "kim", "slack:T/U")).line
    for wrong in ("slack", "slack:T", "slack:T/U V", "Slack:T/U", ":T/U"):
        assert (await cli("principal", "bind", "kim", wrong)).code == 2


async def test_an_account_on_a_channel_without_spaces_is_named_as_it_is_written(cli: Cli, world: World) -> None:
    await cli.done("principal", "bind", "you", "discord:123456789012345678")
    refused = (await cli("principal", "bind", "kim", "discord:123456789012345678")).line
    assert "discord:123456789012345678 is already bound to you." in refused


async def test_an_account_that_was_bound_by_mistake_is_taken_away_and_may_be_anothers(cli: Cli, world: World) -> None:
    gate = (await world.ask()).gate
    await cli.done("gate", "approve", str(gate.id), "--as", "kim")
    await cli.done("principal", "bind", "kim", "slack:T012/U345")
    await cli.done("principal", "bind", "kim", "slack:T012/U346")
    assert "slack:T012/U345 does not speak for kim any more" in await cli.done("principal", "unbind", "slack:T012/U345")
    assert await world.store.read(principals.by_account, "slack", "T012", "U345") is None
    row = next(line for line in (await cli.done("principal", "list")).splitlines() if line.startswith("kim"))
    assert "U345" not in row
    assert "U346" in row
    assert (await world.gate(gate.id)).state == "approved", "kim is not revoked, and what kim approved stands"
    await cli.done("principal", "bind", "you", "slack:T012/U345")
    found = await world.store.read(principals.by_account, "slack", "T012", "U345")
    assert found is not None
    assert found.name == "you"
    kim = await world.store.read(principals.by_name, "kim")
    kept = await world.store.read(principals.accounts_of, kim.id)
    ended = next(one for one in kept if one.account_id == "U345")
    assert ended.revoked_at is not None, "the record of it stays"
    assert ended.bound_by is not None


async def test_an_account_that_speaks_for_nobody_cannot_be_taken_away(cli: Cli, world: World) -> None:
    refused = await cli("principal", "unbind", "slack:T012/U345")
    assert refused.code == 1
    assert "slack:T012/U345 is bound to nobody." in refused.line
    assert "principal list" in refused.line


async def test_an_account_that_could_not_be_bound_any_more_can_be_taken_away(cli: Cli, world: World) -> None:
    """A database from before accounts were checked may hold one."""

    def bind(tx: Tx) -> None:
        kim = principals.by_name(tx, "kim")
        principals.bind(tx, 1, kim.id, channel="discord", space="", account_id="kim", bound_by=None)

    await world.store.write(bind)
    await cli.done("principal", "unbind", "discord:kim")
    assert await world.store.read(principals.by_account, "discord", "", "kim") is None


async def test_what_cannot_be_an_account_in_slack_is_not_bound_as_one(cli: Cli, world: World) -> None:
    for wrong in ("slack:T012/lee", "slack:T012/@lee", "slack:t012/U345", "slack:T012/u345", "slack:U345/T012"):
        refused = await cli("principal", "bind", "kim", wrong)
        assert refused.code == 2
        assert "Copy member ID" in refused.err
    for right in ("slack:T012/U345", "slack:E012/W345", "slack:T012/B345"):
        await cli.done("principal", "bind", "kim", right)


async def test_a_name_is_one_word_and_taken_once(cli: Cli, world: World) -> None:
    assert "already a principal named kim" in (await cli("principal", "add", "kim")).line
    assert "one word" in (await cli("principal", "add", "kim possible")).line
    assert "one word" in (await cli("principal", "add", "")).line


async def test_whoever_is_revoked_does_nothing_any_more(cli: Cli, world: World) -> None:
    gate = (await world.ask()).gate
    await cli.done("principal", "revoke", "kim")
    for arguments in (
        ("gate", "approve", str(gate.id)), ("case", "list"), ("case", "open", "hello"), ("gate", "list", "--json"),
        ("trail", "verify", "C-1001"), ("run", "list"), ("case", "take", "C-1001"), ("principal", "list"),
        ("gate", "thaw"), ("case", "say", "C-1001", "hello"),
    ):  # fmt: skip
        assert (await cli(*arguments, "--as", "kim")).line.startswith("kim has been revoked.")
    assert (await world.gate(gate.id)).state == "open"
    assert "already revoked" in (await cli("principal", "revoke", "kim")).line
    row = next(line for line in (await cli.done("principal", "list")).splitlines() if line.startswith("kim"))
    assert "CE" in row, "since when"


async def test_the_last_admin_cannot_be_revoked(cli: Cli, world: World) -> None:
    assert "last admin" in (await cli("principal", "revoke", "operator")).line
    await cli.done("principal", "add", "ada", "--role", "admin")
    await cli.done("principal", "revoke", "operator")
    assert (await cli("case", "list")).line.startswith("operator has been revoked.")
    await cli.done("case", "list", "--as", "ada")
