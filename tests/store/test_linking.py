"""One-time codes for accounts: good once, for ten minutes, the newest alone, and never to be tried through (R20)."""

import pytest

from bot.words import link_code
from casestore import linking, principals
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.models import Account, LinkCode, Principal
from casestore.tx import Tx
from tests.conftest import MINUTE, World
from tests.store.rows import copy_row

CODE, OTHER = "CB-7K3M-Q9XT-2VHB-D4NR", "CB-0000-1111-2222-3333"
THERE = ("discord", "", "9001")


async def make(world: World, code: str = CODE, *, who: Principal | None = None) -> LinkCode:
    person = who or world.people.you
    return await world.store.write(
        linking.make, world.now, person.id, code, by=world.people.operator.id, via="cli"
    )  # fmt: skip


async def use(
    world: World, code: str = CODE, *, after: int = 0, account: tuple[str, str, str] = THERE
) -> tuple[LinkCode, Account] | None:
    return await world.store.write(linking.use, world.now + after, code, account, at="discord:G/C")


async def test_a_code_binds_the_account_that_sends_it_and_the_record_says_so(world: World, store: Store) -> None:
    made = await make(world)
    used = await use(world, after=MINUTE)
    assert used is not None
    assert await store.read(principals.by_account, *THERE) == world.people.you
    row, account = used
    assert account.bound_by == world.people.operator.id
    assert (row.id, row.state, row.account, row.used_from) == (made.id, "used", "discord//9001", "discord:G/C")
    assert (row.made_by, row.made_via, row.ended_at) == (world.people.operator.id, "cli", world.now + MINUTE)


async def test_a_code_works_once(world: World) -> None:
    await make(world)
    assert await use(world) is not None
    assert await use(world, account=("discord", "", "9002")) is None


@pytest.mark.parametrize(("after", "good"), [(10 * MINUTE - 1, True), (10 * MINUTE, False), (20 * MINUTE, False)])
async def test_a_code_is_good_for_ten_minutes(world: World, after: int, good: bool) -> None:
    await make(world)
    assert (await use(world, after=after) is not None) is good


async def test_a_new_code_for_somebody_ends_the_one_before_and_no_other(world: World) -> None:
    await make(world)
    await make(world, "CB-AAAA-AAAA-AAAA-AAAA", who=world.people.kim)
    await make(world, OTHER)
    assert await use(world) is None
    assert await use(world, OTHER) is not None
    assert await use(world, "CB-AAAA-AAAA-AAAA-AAAA", account=("discord", "", "9002")) is not None


async def test_at_most_one_code_of_a_principal_is_open_whoever_inserts(world: World, store: Store) -> None:
    made = await make(world)
    with pytest.raises(ConstraintBroken, match="link_codes"):
        await store.write(copy_row, "link_codes", made.id, digest="f" * 64)


@pytest.mark.parametrize("revoked", ["you", "operator"])
async def test_whoever_was_revoked_lets_nobody_in(world: World, store: Store, revoked: str) -> None:
    await make(world)
    who: Principal = getattr(world.people, revoked)
    await store.write(principals.revoke, world.now, who.id, revoked_by=world.people.kim.id)
    assert await use(world) is None


async def test_a_code_that_was_spoilt_is_good_no_more(world: World, store: Store) -> None:
    await make(world)
    await store.write(linking.spoil, world.now, CODE)
    assert await use(world) is None


async def test_the_code_itself_is_nowhere_in_the_file(world: World, store: Store) -> None:
    def all_there_is(tx: Tx) -> str:
        names = tx.column("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'link%'")
        return " ".join(str(tx.tuples(f"SELECT * FROM {name}")) for name in names)

    await make(world)
    await use(world, OTHER)
    await store.write(linking.wrong, world.now, THERE)
    said = await store.read(all_there_is)
    assert "9001" in said, "the tables were read"
    assert "7K3M" not in said
    assert "1111" not in said


async def test_five_wrong_codes_an_hour_are_an_accounts_own_and_are_forgotten_after_it(
    world: World, store: Store
) -> None:
    for nth in range(5):
        assert await store.read(linking.barred_until, world.now + 4 * MINUTE, THERE) is None
        assert await store.write(linking.wrong, world.now + nth * MINUTE, THERE) == 4 - nth
    first_over = world.now + 60 * MINUTE
    assert await store.read(linking.barred_until, world.now + 4 * MINUTE, THERE) == first_over
    assert await store.read(linking.barred_until, first_over - 1, THERE) == first_over
    assert await store.read(linking.barred_until, first_over, THERE) is None
    assert await store.read(linking.barred_until, world.now + 4 * MINUTE, ("discord", "", "9002")) is None
    assert await store.write(linking.wrong, first_over, THERE) == 0, "of four others and this one"


@pytest.mark.parametrize(
    "typed", [CODE, "cb-7k3m-q9xt-2vhb-d4nr", "7K3MQ9XT2VHBD4NR", " CB 7K3M Q9XT 2VHB D4NR ", "CB7K3MQ9XT2VHBD4NR"]
)
def test_a_code_is_read_however_it_is_typed(typed: str) -> None:
    assert link_code.read(typed) == CODE


def test_a_letter_that_is_taken_for_a_digit_is_read_as_one() -> None:
    assert link_code.read("CB-OOOO-ilIL-2222-3333") == OTHER


@pytest.mark.parametrize(
    "text",
    [f"it is {CODE}.", CODE.lower(), "/case link nonsense", " /CASE  link", "cb-7k3mq9xt2vhbd4nr"],
)
def test_a_code_is_known_in_a_message_by_its_form_alone(text: str) -> None:
    assert link_code.is_out_of_place(text)


@pytest.mark.parametrize(
    "text",
    ["my licence is 7K3M-Q9XT-2VHB-D4NR", "case linked", "case link is broken", f"A{CODE}", f"{CODE}5", "cb-1234"],
)
def test_what_only_looks_like_one_is_a_message(text: str) -> None:
    assert not link_code.is_out_of_place(text)
