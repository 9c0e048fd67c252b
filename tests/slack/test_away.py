"""The connection is gone for a while and comes back: what was said meanwhile is read, each message once (R29)."""

from __future__ import annotations

from functools import partial

import pytest

from bot.errors import Refused
from bot.inbound import intake, listening
from casestore import positions
from channels.slack.channel import SlackChannel
from tests.loop.scripted import says
from tests.slack.office import Office
from tests.slack.test_catching_up import heard
from tests.wire.slack.rooms import Message

HOUR = 3_600_000


async def begun(office: Office, text: str = "the shop is down") -> Message:
    """A thread with a case, in the room."""
    office.answers(says(f"About {text}: hello."))
    thread = await office.asks(text)
    await office.shows(thread, f"About {text}: hello.")
    return thread


async def missed(office: Office, thread: Message, *texts: str) -> None:
    """What ann says in a thread while nobody is connected, until Slack gives up telling us of it."""
    await office.cut_off()
    await office.given_up(*[await office.ann.says(office.ops, text, thread=thread) for text in texts])


async def read_through(office: Office, times: int) -> None:
    """Until everything has been read so often, the start counted: the list of conversations comes last."""
    await office.slack.until(lambda: len(office.slack.calls("conversations.list")) >= times, what=f"{times} passes")


async def test_what_slack_gave_up_telling_us_of_is_read_when_the_connection_is_back(office: Office) -> None:
    thread = await begun(office)
    office.answers(says("Hello ann."))
    direct = await office.ann.says(None, "psst")
    await office.shows(direct.message, "Hello ann.")
    await missed(office, thread, "one", "two", "three")
    said = await office.ann.says(None, "and this directly")
    below = await office.ann.says(None, "below it", thread=said)
    await office.given_up(said, below)
    office.answers(says("I see it."), says("I have read it."))
    await office.reconnected()
    await office.until_so(lambda: _heard_is(office, "the shop is down", ["one", "two", "three"]))
    await office.until_so(lambda: _heard_is(office, "and this directly", ["below it"]))
    for delivery in (*said.deliveries, *below.deliveries):  # Slack tells us once more, after all
        await office.slack.again(delivery)
        await office.slack.acked(delivery)
    found = await heard(office)
    assert found["and this directly"] == ["and this directly", "below it"]
    assert set(found) == {"the shop is down", "psst", "and this directly"}


async def _heard_is(office: Office, title: str, after_it: list[str]) -> bool:
    return (await heard(office)).get(title) == [title, *after_it]


async def test_a_connection_that_comes_and_goes_five_times_is_caught_up_on_once_at_a_time(office: Office) -> None:
    thread = await begun(office)
    await read_through(office, 1)
    hold = office.slack.hold("conversations.replies")
    for _ in range(5):
        connections = len(office.slack.sockets.connections)
        await office.slack.sockets.drop()
        await office.slack.until(lambda many=connections: len(office.slack.sockets.connections) > many)
        await office.slack.connected()
        await hold.arrived()
    assert hold.at_the_door == 1
    hold.release()
    await read_through(office, 3)
    office.answers(says("Still here."))
    await office.shows(await office.asks("and now?"), "Still here.")
    assert len(office.slack.calls("conversations.replies")) == 2
    assert len(office.slack.calls("conversations.list")) == 3
    assert office.slack.posts(thread) == [await office.shows(thread, "hello.")]


async def test_what_is_said_now_does_not_wait_for_what_was_said_before(office: Office) -> None:
    thread = await begun(office)
    await missed(office, thread, "one")
    hold = office.slack.hold("conversations.replies")
    await office.reconnected()
    await hold.arrived()
    office.answers(says("At once."))
    await office.ann.says(office.ops, "live", thread=thread)
    await office.shows(thread, "At once.")
    office.answers(says("And that."))
    hold.release()
    await office.shows(thread, "And that.")
    assert sorted((await heard(office))["the shop is down"]) == ["live", "one", "the shop is down"]


async def test_slack_that_asks_us_to_wait_is_not_asked_again_before(office: Office) -> None:
    thread = await begun(office)
    await missed(office, thread, "one")
    office.slack.fail_next("conversations.replies", retry_after=3_600)
    await office.reconnected()
    await office.slack.called("conversations.replies")
    office.answers(says("At once."))
    await office.shows(await office.asks("and this?"), "At once.")
    assert len(office.slack.calls("conversations.replies")) == 1


async def test_once_the_time_that_slack_asked_for_has_passed_it_is_read(office: Office) -> None:
    thread = await begun(office)
    await missed(office, thread, "one")
    office.slack.fail_next("conversations.replies", retry_after=1)
    office.answers(says("I have read it."))
    await office.reconnected()
    await office.shows(thread, "I have read it.")


async def test_what_cannot_be_taken_now_stops_its_thread_there_and_is_read_on_from_it_next_time(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await begun(office)
    place = f"slack:{office.slack.team}/{office.ops.id}/{thread.ts}"
    before = await office.service.store.read(positions.of, place)
    receive, amiss = intake.receive, True

    def not_two(*args: object) -> object:
        if amiss and getattr(args[2], "text", "") == "two":
            raise Refused("Nobody can say who that is.")
        return receive(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(intake, "receive", not_two)
    await missed(office, thread, "one", "two", "three")
    office.answers(says("One."), says("Two and three."))
    await office.reconnected()
    await office.shows(thread, "One.")
    await read_through(office, 2)
    assert await office.service.store.read(positions.of, place) == before
    amiss = False
    await office.slack.sockets.drop()
    await office.shows(thread, "Two and three.")
    assert (await heard(office))["the shop is down"] == ["the shop is down", "one", "two", "three"]


async def test_a_machine_that_slept_reads_what_it_missed_though_no_connection_seems_to_have_broken(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_BEAT_S", 0.02)
    await office.restart()
    await office.slack.connected()
    thread = await begun(office)
    office.ann.writes(office.ops, "good night", thread=thread)
    office.answers(says("Good morning."))
    office.clock.ms += 8 * HOUR
    await office.shows(thread, "Good morning.")


async def test_the_time_up_to_which_all_is_heard_stands_still_while_nobody_is_connected(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_BEAT_S", 0.01)
    await office.restart()
    await office.slack.connected()
    office.clock.ms += HOUR
    later = office.clock.ms - 10 * 60_000
    await office.until_so(lambda: _heard_until(office, later))
    await office.cut_off()
    await office.until_so(lambda: _away(office))
    looked, connected = 0, SlackChannel.connected.fget
    assert connected is not None

    def counted(channel: SlackChannel) -> bool:
        nonlocal looked
        looked += 1
        return connected(channel)

    async def looked_since(before: int) -> bool:
        return looked > before

    monkeypatch.setattr(SlackChannel, "connected", property(counted))
    for _ in range(20):  # each beat asks whether anybody is connected
        office.clock.ms += 60_000
        await office.until_so(partial(looked_since, looked))
    assert await _heard_until(office, later)


async def _heard_until(office: Office, at: int) -> bool:
    return await office.service.store.read(positions.heard_until, "slack") == at


async def _away(office: Office) -> bool:
    return not office.service.channels["slack"].connected
