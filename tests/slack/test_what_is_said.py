"""What we post: in order, once, whatever Slack does meanwhile; and never anything live that somebody slipped in."""

import html

import pytest

from bot.outbound import speech
from casestore import bindings, outbox
from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read, texts
from tests.wire.slack.active import active

HOSTILE = "<!channel> <@U0001> [bank](https://evil.example) <https://evil.example|https://bank.example>"


async def test_a_post_whose_answer_was_lost_is_found_and_not_posted_again(office: Office) -> None:
    """R27"""
    office.slack.fail_next("chat.postMessage", cut_after_accepting=True)
    office.answers(says("Only once."))
    asked = await office.asks()
    await office.slack.called("conversations.replies")
    await office.shows(asked, "Only once.")
    assert [read(post) for post in office.slack.posts(asked)] == ["Only once."]


@pytest.mark.parametrize("error", ["fatal_error", "internal_error"])
async def test_where_slack_is_not_sure_itself_we_look_before_we_repeat(office: Office, error: str) -> None:
    office.slack.fail_next("chat.postMessage", error=error)
    office.answers(says("Only once."))
    asked = await office.asks()
    await office.until_so(lambda: is_put_off(office, 2_000))
    office.clock.ms += 2_000
    office.service.delivery.wake()
    await office.shows(asked, "Only once.")
    assert len(office.slack.posts(asked)) == 1
    assert len(office.slack.calls("conversations.replies")) == 1


async def test_429_is_waited_for_as_long_as_slack_says(office: Office) -> None:
    await office.close()
    office.paced = lambda: office.clock.ms / 1_000
    await office.open()
    await office.slack.connected()
    office.slack.fail_next("chat.postMessage", retry_after=30)
    office.answers(says("Patience."))
    asked = await office.asks()
    await office.until_so(lambda: is_put_off(office, 30_000))
    office.clock.ms += 29_999
    await office.service.delivery.deliver_due()
    assert len(office.slack.calls("chat.postMessage")) == 1
    office.clock.ms += 1
    office.service.delivery.wake()
    await office.shows(asked, "Patience.")


async def test_what_waited_for_days_is_told_of_in_one_line_and_not_poured_into_the_room(office: Office) -> None:
    office.answers(says("Hello."))
    asked = await office.asks("hi")
    await office.shows(asked, "Hello.")
    office.slack.fail_next("chat.postMessage", status=503, times=None)
    case = await office.only_case()
    for number in range(30):
        await office.service.store.write(speech.say, office.clock.now(), case.id, f"line {number}")
    await office.restart()
    office.clock.ms += 49 * 3_600_000
    await office.service.store.write(speech.say, office.clock.now(), case.id, "and this is new")
    office.slack.heal("chat.postMessage")
    office.service.delivery.wake()
    await office.shows(asked, "and this is new")
    await office.shows(asked, "30 messages about C-1001 could not be posted here since")
    assert len(office.slack.posts(asked)) == 3
    assert (await office.service.store.read(outbox.counts))["dead"] == 30


async def is_put_off(office: Office, by_ms: int) -> bool:
    """Whether what is to be said has been put off by so long, from now."""
    due = await office.service.store.read(lambda tx: tx.column("SELECT not_before FROM outbox WHERE state = 'due'"))
    return due == [office.clock.ms + by_ms]


async def test_nothing_that_somebody_slipped_in_is_live_and_all_of_it_is_seen(office: Office) -> None:
    invisible = "\u202eevil\u202c \U000e0041"
    restart = calls(("svc.restart", {"service": f"{HOSTILE} {invisible}"}), text=HOSTILE)
    office.answers(restart, says(f"Done: {HOSTILE}"))
    asked = await office.asks(HOSTILE)
    card = await office.card(asked)
    assert "⟨U+202E⟩evil⟨U+202C⟩ ⟨U+E0041⟩" in read(card)
    await office.kim.presses(card, "gate_approve")
    answer = await office.shows(asked, "Done:")
    assert "<" not in read(answer)
    assert "](" not in read(answer)
    assert [active(post) for post in office.slack.posts() if active(post)] == []


async def test_the_line_of_a_notification_is_what_was_said_and_a_modal_repeats_the_statement_as_it_is(
    office: Office,
) -> None:
    office.answers(calls(("svc.restart", {"service": "<a> & b"})), says("a < b &amp; c"))
    asked = await office.asks()
    card = await office.card(asked)
    await office.kim.presses(card, "gate_revise")
    modal = await office.modal(office.kim)
    assert 'Approve? Restart "<a> & b"' in texts(modal.blocks)
    await office.kim.submits(modal, reason="no")
    answer = await office.shows(asked, "a &lt; b")
    assert html.unescape(answer.text) == "a < b &amp; c"


@pytest.mark.parametrize("length", [3_001, 40_001])
async def test_a_long_answer_comes_whole_in_as_many_messages_as_it_takes(office: Office, length: int) -> None:
    text = "\n".join(f"{number:07d}" for number in range(length // 8 + 1))[:length]
    office.answers(says(text))
    asked = await office.asks()
    await office.shows(asked, text[-7:])
    assert "".join(read(post) for post in office.slack.posts(asked)) == text


@pytest.mark.parametrize("loss", ["archive", "delete_room", "remove_bot"])
async def test_a_room_that_is_lost_ends_the_binding_and_the_case_lives_on(office: Office, loss: str) -> None:
    """R3"""
    office.answers(says("Hello."))
    asked = await office.asks("hi")
    await office.shows(asked, "Hello.")
    await getattr(office.slack, loss)(office.ops)
    case = await office.only_case()
    await office.slack.until(lambda: all(delivery.acked for delivery in office.slack.deliveries.all))
    assert await office.service.store.read(bindings.of_case, case.id) == []
    assert (await office.only_case()).state == "in_progress"


async def test_a_thread_that_cannot_be_posted_to_is_lost_at_the_next_word(office: Office) -> None:
    office.slack.fail_next("chat.postMessage", error="restricted_action_thread_locked")
    office.answers(says("Hello?"))
    asked = await office.asks("hi")
    await office.slack.called("chat.postMessage")
    await office.until_so(lambda: nothing_bound(office))
    assert office.slack.posts(asked) == []


async def nothing_bound(office: Office) -> bool:
    return await office.service.store.read(bindings.of_case, (await office.only_case()).id) == []


async def test_a_revoked_token_makes_health_red_loses_nothing_and_storms_nowhere(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), says("It is back."))
    asked = await office.asks()
    card = await office.card(asked)
    await office.slack.revoke()
    await office.kim.presses(card, "gate_approve")
    await office.until_so(lambda: refused(office))
    await office.until_so(lambda: at_rest(office))
    calls_so_far = len(office.slack.calls())
    for _ in range(20):
        office.service.delivery.wake()
        office.clock.ms += 1_000
    assert len(office.slack.calls()) <= calls_so_far + 1
    office.slack.restore()
    office.clock.ms += 600_000
    office.service.delivery.wake()
    await office.shows(asked, "It is back.")
    assert office.effects.made == ["restart shop"]
    assert buttons(card) == []


async def at_rest(office: Office) -> bool:
    return bool(office.effects.made) and office.service.engine.working == 0


async def refused(office: Office) -> bool:
    return "slack" in office.service.delivery.refused
