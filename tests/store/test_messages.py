"""Messages: stored as they were said, once, whatever is in them (R29; unicode)."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casestore import cases, messages, trail
from casestore.canonical import call_digest, decode, digest, encode
from casestore.cases import Opening
from casestore.db import Store
from casestore.errors import ConstraintBroken
from casestore.messages import Said, text_body
from casestore.models import Message
from casestore.scope import System
from casestore.states import Direction, Origin, Provenance
from casestore.tx import Tx
from tests.conftest import HOUR, World
from tests.store.rows import copy_row

ADDRESS = "slack:T1/C2/1710.003"
STRANGE = {
    "a lone surrogate": "\ud800",
    "a low one": "x\udfffy",
    "a NUL": "be\x00fore",
    "an override": "\u202egnp.exe",
    "a joiner": "👨\u200d👩\u200d👧",
    "a BOM": "\ufeff",
    "quotes": "'; DROP TABLE cases; --",
    "JSON": '{"a": "\\ud800"}',
    "a noncharacter": "\uffff\U0010ffff",
    "long": "é" * 100_000,
}

ANY_TEXT = st.text(alphabet=st.characters(categories=["Cs", "Cc", "L"]), max_size=20)


def said(text: str, **about: object) -> Said:
    return Said(Provenance.REQUESTER, text_body(text), **about)  # pyright: ignore[reportArgumentType]


async def receive(world: World, what: Said) -> Message:
    case = await world.case()
    return await world.store.write(messages.receive, world.now, case.id, what)


async def test_a_message_is_known_by_the_platforms_own_identity(world: World, store: Store) -> None:
    message = await receive(world, said("hello", address=ADDRESS, platform_id="1710.004"))
    assert await store.read(messages.seen, ADDRESS, "1710.004") == message
    for address, platform_id in ((ADDRESS, "1710.005"), ("slack:T1/C9/1710.003", "1710.004"), (ADDRESS, "1710.00")):
        assert await store.read(messages.seen, address, platform_id) is None


async def test_the_second_delivery_of_one_message_is_refused_by_the_schema(world: World, store: Store) -> None:
    message = await receive(world, said("hello", address=ADDRESS, platform_id="1710.004"))
    other = await world.case()
    for case_id in (message.case_id, other.id):
        with pytest.raises(ConstraintBroken, match=r"messages\.platform_id"):
            await store.write(copy_row, "messages", message.id, case_id=case_id, seq=99)


async def test_messages_without_an_identity_of_a_platform_are_never_duplicates(world: World, store: Store) -> None:
    message = await receive(world, said("hello", address="console:"))
    again = await store.write(messages.receive, world.now, message.case_id, said("hello", address="console:"))
    assert (message.seq, again.seq) == (1, 2)


async def test_a_conversation_is_in_the_order_in_which_it_was_stored(world: World, store: Store) -> None:
    case = await world.case()
    for n in range(4):
        store_it = messages.receive if n % 2 else messages.post
        await store.write(store_it, world.now - n * HOUR, case.id, said(str(n)))
    found = await store.read(messages.of_case, System(), case.id)
    assert [message.text for message in found] == ["0", "1", "2", "3"]
    assert [message.direction for message in found] == [Direction.OUT, Direction.IN, Direction.OUT, Direction.IN]
    assert [message.seq for message in await store.read(messages.of_case, System(), case.id, after=1, most=2)] == [2, 3]
    newest = await store.read(messages.newest_out, case.id)
    assert newest is not None
    assert newest.text == "2"


async def test_what_we_say_is_not_unread(world: World, store: Store) -> None:
    case = await world.case()
    await store.write(messages.post, world.now, case.id, said("answer"))
    assert await store.read(messages.unread, case.id) == []


async def test_a_message_is_activity(world: World, store: Store) -> None:
    case = await world.case()
    await store.write(messages.receive, world.now + HOUR, case.id, said("hello"))
    assert (await store.read(cases.by_id, case.id)).last_activity_at == world.now + HOUR


async def test_what_the_model_has_not_been_shown_is_what_a_turn_took_and_what_an_operator_said(
    world: World, store: Store
) -> None:
    """R7: what was said while a gate was open, or while a person had the case, is in view when the turn goes on."""
    begun = await world.begin()
    await world.say(begun.case, "unread still")
    by_kim = Said(Provenance.OPERATOR, text_body("I have restarted it"), author=world.people.kim.id)
    for what in (
        by_kim,
        Said(Provenance.ASSISTANT, text_body("an answer")),
        Said(Provenance.SYSTEM, text_body("a note")),
    ):
        await store.write(messages.post, world.now, begun.case.id, what)
    hidden = await store.read(messages.not_in_view, begun.case.id)
    assert [message.text for message in hidden] == ["please help", "I have restarted it"]
    await store.write(messages.bring_into_view, hidden, 7)
    assert await store.read(messages.not_in_view, begun.case.id) == []
    assert (await store.read(messages.by_id, hidden[0].id)).in_view == 7


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
async def test_whatever_was_said_is_stored_and_read_back(world: World, store: Store, text: str) -> None:
    message = await receive(world, said(text))
    assert message.text == text
    (found,) = await store.read(messages.of_case, System(), message.case_id)
    assert found.body == [{"type": "text", "text": text}]


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
async def test_whatever_is_in_the_trail_is_read_back_and_verified(world: World, store: Store, text: str) -> None:
    case = await world.case()
    await store.write(trail.append, case.id, world.now, "note.made", "kim", {"key": text}, {"text": text})
    entry = (await store.read(trail.read, System(), case.id))[-1]
    assert trail.content_of(entry) == {"text": text}
    assert (await store.read(trail.verify, System(), case.id)).problems == ()


@settings(max_examples=100)
@given(
    value=st.dictionaries(
        ANY_TEXT, st.none() | st.booleans() | st.integers() | st.lists(ANY_TEXT, max_size=3), max_size=4
    )
)
def test_any_json_has_one_spelling_that_can_be_stored_and_read_back(value: dict[str, object]) -> None:
    text = encode(value)
    assert decode(text) == value
    text.encode()
    assert encode(json.loads(text)) == text
    assert encode(dict(reversed(list(value.items())))) == text


def test_not_a_number_is_no_json() -> None:
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            encode({"n": number})


@settings(max_examples=100)
@given(one=st.lists(st.text(), max_size=4), other=st.lists(st.text(), max_size=4))
def test_no_two_lists_of_parts_share_a_digest(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_a_digest_tells_its_parts_apart() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", ""), digest("3:abc")}) == 5
    assert digest("\ud800") != digest("\ufffd")
    assert call_digest(1, "t", "v", "{}") != call_digest(1, "tv", "", "{}")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANY_TEXT)
async def test_text_with_anything_in_it_is_stored_and_read_back(world: World, store: Store, text: str) -> None:
    def there_and_back(tx: Tx) -> str:
        case = cases.open_case(tx, world.now, Opening("local", "t", Origin.CLI), actor="t")
        return messages.by_id(tx, messages.receive(tx, world.now, case.id, said(text)).id).text

    assert await store.write(there_and_back) == text
