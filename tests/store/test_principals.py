"""Who: an immutable account bound to a principal, never a name that anybody can take (R20)."""

import pytest

from casestore import principals
from casestore.db import Store
from casestore.errors import BadRequest, ConstraintBroken, MoveRefused, NotFound
from casestore.models import Account, Principal
from casestore.states import Role
from casestore.tx import Tx
from tests.conftest import MINUTE, World
from tests.store.rows import copy_row


async def bind(world: World, who: Principal, account_id: str, *, space: str = "T1", channel: str = "slack") -> Account:
    return await world.store.write(
        principals.bind, world.now, who.id, channel=channel, space=space, account_id=account_id,
        bound_by=world.people.operator.id,
    )  # fmt: skip


async def test_an_account_speaks_for_the_principal_it_is_bound_to(world: World, store: Store) -> None:
    account = await bind(world, world.people.kim, "U1")
    assert (account.principal_id, account.bound_by) == (world.people.kim.id, world.people.operator.id)
    assert await store.read(principals.by_account, "slack", "T1", "U1") == world.people.kim


@pytest.mark.parametrize(
    ("channel", "space", "account_id"),
    [
        ("discord", "T1", "U1"), ("slack", "T2", "U1"), ("slack", "T1", "U2"), ("slack", "T1", "u1"),
        ("slack", "T1", "U1 "), ("slack", "T1", "kim"), ("slack", "T1", "Kim"), ("slack", "", "U1"),
        ("Slack", "T1", "U1"), ("slack", "T1", "%"),
    ],
)  # fmt: skip
async def test_any_other_account_is_nobodys_whatever_it_calls_itself(
    world: World, store: Store, channel: str, space: str, account_id: str
) -> None:
    """Comparison is exact; the same name with another id is another person."""
    await bind(world, world.people.kim, "U1")
    assert await store.read(principals.by_account, channel, space, account_id) is None


async def test_one_account_speaks_for_one_person_at_a_time(world: World, store: Store) -> None:
    account = await bind(world, world.people.kim, "U1")
    for who in (world.people.you, world.people.kim):
        with pytest.raises(BadRequest, match="already bound to kim"):
            await bind(world, who, "U1")
    with pytest.raises(ConstraintBroken, match="accounts"):
        await store.write(copy_row, "accounts", account.id, principal_id=world.people.you.id)


async def test_one_person_has_several_accounts(world: World, store: Store) -> None:
    for channel, space in (("slack", "T1"), ("slack", "T2"), ("discord", "G1")):
        await bind(world, world.people.kim, "U1", channel=channel, space=space)
    accounts = await store.read(principals.accounts_of, world.people.kim.id)
    assert [(account.channel, account.space) for account in accounts] == [
        ("slack", "T1"), ("slack", "T2"), ("discord", "G1"),
    ]  # fmt: skip


async def test_one_who_is_revoked_speaks_through_no_account_and_is_bound_to_none(world: World, store: Store) -> None:
    await bind(world, world.people.kim, "U1")
    revoked = await store.write(
        principals.revoke, world.now + MINUTE, world.people.kim.id, revoked_by=world.people.operator.id
    )  # fmt: skip
    assert (revoked.revoked_at, revoked.revoked_by) == (world.now + MINUTE, world.people.operator.id)
    assert await store.read(principals.by_account, "slack", "T1", "U1") is None
    (account,) = await store.read(principals.accounts_of, world.people.kim.id)
    assert account.revoked_at == world.now + MINUTE
    with pytest.raises(MoveRefused, match="revoked"):
        await bind(world, world.people.kim, "U2")
    with pytest.raises(MoveRefused, match="already revoked"):
        await store.write(principals.revoke, world.now, world.people.kim.id, revoked_by=world.people.operator.id)


async def test_an_account_of_one_who_was_revoked_in_the_file_speaks_for_nobody(world: World, store: Store) -> None:
    await bind(world, world.people.kim, "U1")
    await store.write(Tx.run, "UPDATE principals SET revoked_at = 1 WHERE name = 'kim'")
    assert await store.read(principals.by_account, "slack", "T1", "U1") is None


async def test_an_account_that_was_revoked_by_itself_speaks_for_nobody(world: World, store: Store) -> None:
    await bind(world, world.people.kim, "U1")
    await store.write(Tx.run, "UPDATE accounts SET revoked_at = 1")
    assert await store.read(principals.by_account, "slack", "T1", "U1") is None


async def test_the_account_of_one_who_was_revoked_can_be_given_to_another(world: World, store: Store) -> None:
    await bind(world, world.people.kim, "U1")
    await store.write(principals.revoke, world.now, world.people.kim.id, revoked_by=world.people.operator.id)
    await bind(world, world.people.you, "U1")
    assert await store.read(principals.by_account, "slack", "T1", "U1") == world.people.you


@pytest.mark.parametrize(("channel", "account_id"), [("", "U"), ("slack", "")])
async def test_an_account_without_a_channel_or_an_id_is_refused(world: World, channel: str, account_id: str) -> None:
    with pytest.raises(BadRequest):
        await bind(world, world.people.kim, account_id, channel=channel)


async def test_on_a_channel_without_spaces_an_account_has_none(world: World, store: Store) -> None:
    await bind(world, world.people.kim, "U1", space="")
    assert await store.read(principals.by_account, "slack", "", "U1") == world.people.kim
    assert await store.read(principals.by_account, "slack", "T1", "U1") is None


async def test_whether_an_account_ever_spoke_for_anybody_is_known_after_it_was_revoked(
    world: World, store: Store
) -> None:
    assert not await store.read(principals.ever_bound, "slack", "T1", "U1")
    await bind(world, world.people.kim, "U1")
    await store.write(principals.revoke, world.now, world.people.kim.id, revoked_by=world.people.operator.id)
    assert await store.read(principals.ever_bound, "slack", "T1", "U1")
    assert not await store.read(principals.ever_bound, "slack", "T2", "U1")


@pytest.mark.parametrize("name", ["", " ", "two words", "tab\tbed", "new\nline", "nb\u00a0sp"])
async def test_a_name_is_one_word(world: World, name: str) -> None:
    with pytest.raises(BadRequest, match="one word"):
        await world.store.write(principals.add, world.now, tenant="local", name=name, role=Role.OPERATOR)


async def test_a_name_is_given_once_and_compared_exactly(world: World, store: Store) -> None:
    with pytest.raises(BadRequest, match="already a principal named kim"):
        await store.write(principals.add, world.now, tenant="elsewhere", name="kim", role=Role.ADMIN)
    with pytest.raises(NotFound, match="KIM"):
        await store.read(principals.by_name, "KIM")
    assert await store.read(principals.by_name, "kim") == world.people.kim
    with pytest.raises(NotFound):
        await store.read(principals.get, 99)  # pyright: ignore[reportArgumentType]


async def test_principals_are_listed_by_tenant(world: World, store: Store) -> None:
    theirs = await store.write(principals.add, world.now, tenant="elsewhere", name="lee", role=Role.ADMIN)
    ours = [world.people.operator, world.people.kim, world.people.you]
    assert await store.read(principals.listing, tenant="local") == ours
    assert await store.read(principals.listing, tenant="LOCAL") == []
    assert await store.read(principals.listing) == [*ours, theirs]


async def test_an_admin_is_an_operator_too_and_a_requester_is_not(world: World) -> None:
    people = world.people
    assert [who.is_operator for who in (people.operator, people.kim, people.you)] == [True, True, False]
