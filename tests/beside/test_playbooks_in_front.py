"""A playbook in front of a model: its turn goes on by it, whatever people and the model have said beside it."""

from bot.models.chain import Chain
from bot.models.front import PlaybooksFirst
from bot.playbook import PlaybookModel
from bot.playbook.parse import parse
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says

BOOK = b"""
name = "restart"
title = "Restart a thing"

[match]
any = ["restart it"]

[[step]]
because = "It hangs."
call = "svc.restart"
args = { service = "a" }
as = "done"

[[step]]
say = ["By the playbook: {done.text}"]
"""


async def test_the_model_answers_beside_and_the_playbook_goes_on_as_if_nothing_had_been_said(rig: Rig) -> None:
    """Also where what is said would fit a playbook, which would act."""
    playbooks = PlaybookModel([parse(BOOK, "restart.toml")])
    rig.asked = PlaybooksFirst(playbooks, Chain({"scripted": rig.model}, 60_000))
    await rig.restart()
    rig.model.then(calls(("look", {"at": "/var"})), says("It waits for kim."))
    case = await rig.say("please restart it")
    await rig.work()
    assert rig.model.sent == []

    await rig.say("restart it, will you?")
    await rig.work()
    assert rig.posted()[-1] == "It waits for kim."
    await rig.decide(case)
    await rig.work()

    assert rig.effects.made == ["look /var", "restart a"]
    assert rig.posted()[-1] == "By the playbook: restart a: done"
    assert len(rig.model.sent) == 2


async def test_a_playbook_that_a_chain_falls_back_to_says_that_it_cannot_talk(rig: Rig) -> None:
    rig.asked = PlaybookModel([parse(BOOK, "restart.toml")])
    await rig.restart()
    case = await rig.say("please restart it")
    await rig.work()

    await rig.say("restart it, will you?")
    await rig.work()
    assert rig.posted()[-1].startswith("I only work by playbooks just now")
    await rig.decide(case)
    await rig.work()
    assert rig.effects.made == ["restart a"]
    assert rig.posted()[-1] == "By the playbook: restart a: done"
