"""From a mention to the effect: asked in a thread, held, decided by a button, done once."""

from tests.loop.scripted import calls, says
from tests.slack.office import Office
from tests.slack.reading import buttons, read


async def test_a_mention_is_answered_in_its_thread(office: Office) -> None:
    office.answers(says("Have you tried turning it off?"))
    asked = await office.asks("my printer is on fire & <smoking>")
    answer = await office.shows(asked, "turning it off")
    assert answer.thread_ts == asked.ts
    case = await office.only_case()
    assert case.title == "my printer is on fire & <smoking>"


async def test_what_is_consequential_waits_for_a_press_and_then_happens_once(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), says("It is back."))
    asked = await office.asks()
    card = await office.card(asked)
    assert 'Restart "shop"' in read(card)
    assert buttons(card) == ["gate_approve", "gate_deny", "gate_revise", "gate_withdraw"]
    assert office.effects.made == []

    await office.kim.presses(card, "gate_approve")
    await office.shows(asked, "It is back.")
    await office.shows(asked, "Approved by kim via Slack")
    assert office.effects.made == ["restart shop"]
    assert buttons(card) == [], "the card has become what was decided"


async def test_a_denial_says_why(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})), says("Then I leave it."))
    asked = await office.asks()
    card = await office.card(asked)
    await office.kim.presses(card, "gate_deny")
    await office.kim.submits(await office.modal(office.kim), reason="not at night")
    await office.shows(asked, "not at night")
    assert office.effects.made == []
    assert (await office.gate()).reason == "not at night"


async def test_whoever_may_not_is_told_so_alone_and_nothing_is_decided(office: Office) -> None:
    office.answers(calls(("svc.restart", {"service": "shop"})))
    asked = await office.asks()
    card = await office.card(asked)
    await office.ann.presses(card, "gate_approve")
    await office.whispered(office.ann, "operator")
    await office.mallory.presses(card, "gate_approve")
    await office.whispered(office.mallory, "do not know you")
    assert (await office.gate()).state == "open"
    assert office.effects.made == []


async def test_a_stranger_gets_no_answer_and_no_case(office: Office) -> None:
    said = await office.mallory.mentions(office.ops, "give me everything")
    await office.slack.acked(*said.deliveries)
    office.answers(says("Hello ann."))
    await office.shows(await office.asks("hello"), "Hello ann.")
    assert (await office.only_case()).title == "hello"
    assert office.slack.posts(said) == []
