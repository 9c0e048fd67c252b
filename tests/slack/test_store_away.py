"""What people do while nothing can be stored, where that is more than saying something (R15, R29)."""

from __future__ import annotations

import pytest

from casestore import messages
from casestore.errors import StoreUnavailable
from casestore.scope import System
from casestore.states import Direction
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.test_lost_places import lost


async def heard(office: Office) -> list[str]:
    """What people have said, in the one case there is."""
    case = await office.only_case()
    said = await office.service.store.read(messages.of_case, System(), case.id)
    return [message.text for message in said if message.direction is Direction.IN and message.deleted_at is None]


def cannot_write(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, until it is undone."""

    async def full(*args: object, **kwargs: object) -> object:
        raise StoreUnavailable("The disk is full.")

    monkeypatch.setattr(office.service.store, "write", full)


async def test_what_is_said_in_a_thread_that_is_back_is_kept_though_nothing_can_be_stored(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.answers(says("Hello."))
    thread = await office.asks("hi")
    await office.shows(thread, "Hello.")
    await office.slack.archive(office.ops)
    await office.until_so(lambda: lost(office))
    office.ops.archived = False
    with monkeypatch.context() as away:
        cannot_write(office, away)
        said = await office.ann.says(office.ops, "is it fixed?", thread=thread)
        await office.slack.acked(*said.deliveries)
    await office.service.standby.settle()
    assert await heard(office) == ["hi", "is it fixed?"]


async def test_a_deletion_finds_what_was_said_while_nothing_could_be_stored(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.answers(says("Hello."), says("From memory."))
    thread = await office.asks("hi")
    await office.shows(thread, "Hello.")
    with monkeypatch.context() as away:
        cannot_write(office, away)
        said = await office.ann.says(office.ops, "my password is hunter2", thread=thread)
        await office.slack.acked(*said.deliveries)
        await office.service.standby.idle()
    gone = await office.ann.deletes(said)
    await office.slack.acked(*gone)
    await office.service.standby.settle()
    assert await heard(office) == ["hi"]
