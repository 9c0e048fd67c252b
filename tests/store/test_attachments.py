"""What is attached to a message, and the copy of it: kept once, in scope, and gone without a byte left (R21, R26)."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from casestore import attachments, trail
from casestore.attachments import Attachment
from casestore.db import Store
from casestore.errors import ConstraintBroken, MoveRefused, NotFound
from casestore.models import File, Message
from casestore.scope import Own, Scope, System, Tenant
from casestore.states import FileState
from casestore.tx import Tx
from tests.conftest import World

SECRET = b"hunter2-hunter2-hunter2"


def called(name: str, *, channel: str = "slack", refused: str | None = None) -> Attachment:
    return Attachment(channel, f"F{name}", name, "text/plain", len(SECRET), refused)


def change(tx: Tx, file: File, what: str) -> None:
    tx.run(f"UPDATE files SET {what} WHERE id = :id", id=file.id)


async def said(world: World, *found: Attachment) -> tuple[Message, list[File]]:
    """A message with these attached to it."""
    message = await world.say(await world.case())
    await world.store.write(attachments.add, message, found)
    return message, await world.store.read(attachments.of_message, message.id)


async def kept(world: World, file: File, content: bytes = SECRET) -> bool:
    return await world.store.write(attachments.keep, world.now, file, content, name="", media_type="")


async def due(world: World, *, but: Sequence[File] = (), channels: Sequence[str] = ("slack",)) -> list[str]:
    """The names of what is to be fetched, and is taken now."""
    found = await world.store.read(attachments.due, world.now, channels, most=10, but=[file.id for file in but])
    await world.store.write(attachments.take, found)
    return [file.name for file in found]


async def test_a_copy_is_kept_with_its_digest_and_is_not_wanted_any_more(world: World) -> None:
    message, (file,) = await said(world, called("a"))
    assert await kept(world, file)
    found, content = await world.store.read(attachments.content, System(), message.case_id, file.id)
    assert (found.state, found.digest, found.name) == (FileState.KEPT, sha256(SECRET).hexdigest(), "a")
    assert content == SECRET
    assert await due(world) == []


async def test_what_is_to_be_fetched_is_wanted_due_on_a_channel_of_ours_and_not_under_way(world: World) -> None:
    _, (_, under_way, later, *_) = await said(
        world, called("a"), called("under way"), called("later"), called("refused", refused="too large"),
        called("elsewhere", channel="discord"),
    )  # fmt: skip
    await world.store.write(attachments.retry, later, not_before=world.now + 1, why="it was cut off")
    assert await due(world, but=[under_way]) == ["a"]
    assert await due(world, channels=["discord"]) == ["elsewhere"]
    assert await due(world, channels=[]) == []
    world.now += 1
    assert await due(world) == ["a", "under way", "later"]


async def test_each_time_it_is_taken_is_an_attempt_also_when_nobody_came_back(world: World) -> None:
    message, _ = await said(world, called("a"))
    for _ in range(3):
        await due(world)
    (file,) = await world.store.read(attachments.of_message, message.id)
    assert file.attempts == 3


async def test_what_was_erased_while_it_was_fetched_is_not_kept(world: World) -> None:
    message, (file,) = await said(world, called("a"))
    await world.store.write(attachments.erase, world.now, message, "deleted by its author")
    assert not await kept(world, file)
    assert await world.store.write(attachments.take, [file]) == []
    await world.store.write(attachments.give_up, world.now, file, "too late")
    await world.store.write(attachments.retry, file, not_before=0, why="too late")
    (found,) = await world.store.read(attachments.of_message, message.id)
    assert (found.state, found.name, found.reason) == (FileState.GONE, "", "deleted by its author")


async def test_of_an_erased_copy_no_byte_is_left_in_the_file_or_its_wal(world: World, store: Store, db: Path) -> None:
    """R26"""
    message, (file,) = await said(world, called("a"))
    await kept(world, file, SECRET * 1_000)
    await store.checkpoint()
    assert SECRET in db.read_bytes()
    await store.write(attachments.erase, world.now, message, "deleted by its author")
    await store.checkpoint()
    for path in db.parent.iterdir():
        assert SECRET not in path.read_bytes(), path.name


async def test_a_copy_is_there_for_those_who_may_see_its_case_and_only_in_it(world: World) -> None:
    """R21"""
    message, (file,) = await said(world, called("a"))
    await kept(world, file)
    you, kim = world.people.you, world.people.kim
    seeing: list[Scope] = [System(), Tenant(you.tenant), Own(you.tenant, you.id)]
    for scope in seeing:
        assert (await world.store.read(attachments.content, scope, message.case_id, file.id))[1] == SECRET
    blind: list[Scope] = [Tenant("other"), Own(you.tenant, kim.id)]
    for scope in blind:
        with pytest.raises(NotFound, match=f"No file {file.id}"):
            await world.store.read(attachments.content, scope, message.case_id, file.id)
    other = await world.case()
    with pytest.raises(NotFound, match=f"No file {file.id}"):
        await world.store.read(attachments.content, System(), other.id, file.id)


@pytest.mark.parametrize(
    ("refused", "says"), [("larger than 10 MiB", "larger than 10 MiB"), (None, "it is being fetched")]
)
async def test_where_there_is_no_copy_it_says_why(world: World, refused: str | None, says: str) -> None:
    message, (file,) = await said(world, called("a", refused=refused))
    with pytest.raises(MoveRefused, match=f"There is no copy of file {file.id}: {says}"):
        await world.store.read(attachments.content, System(), message.case_id, file.id)


async def test_what_became_of_a_file_is_in_the_trail_without_a_word_of_its_sender(world: World) -> None:
    """R18"""
    message, (one, other, third) = await said(world, called("alpha"), called("beta"), called("gamma"))
    await kept(world, one)
    await world.store.write(attachments.give_up, world.now, other, "not given to us")
    await world.store.write(attachments.give_up, world.now, third, "not there any more", gone=True)
    await world.store.write(attachments.erase, world.now, message, "deleted by its author", but=[other.reference])
    await world.store.write(attachments.erase, world.now, message, "deleted by its author", but=[other.reference])
    entries = [entry for entry in await world.store.read(trail.read, System(), message.case_id) if "file" in entry.kind]
    assert [entry.kind for entry in entries] == ["file.kept", "file.refused", "file.gone", "file.gone", "file.gone"]
    assert not [name for name in ("alpha", "beta", "gamma") if name in str(entries)]


async def test_the_schema_refuses_a_copy_that_is_kept_without_a_digest(world: World, store: Store) -> None:
    _, (file,) = await said(world, called("a"))
    for broken in ("state = 'kept'", "digest = 'x'", "state = 'refused'"):
        with pytest.raises(ConstraintBroken):
            await store.write(change, file, broken)
