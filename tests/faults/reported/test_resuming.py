"""What others repeated, froze or mixed up when a turn went on, with the inputs as reported (docs/faults.md)."""

from bot.gates import gating
from bot.settings import Settings
from bot.settings.sections import Gates
from casestore.deciding import Decision
from casestore.states import Verb
from channels.messages import Card
from tests.loop.conftest import MakeRig
from tests.loop.rig import THREAD, Rig
from tests.loop.scripted import calls, returned, says, unpaired


async def test_what_was_done_before_the_gate_is_not_done_again_after_a_restart_and_an_old_button_still_works(
    rig: Rig,
) -> None:
    """langchain-ai/langgraph#4172, n8n-io/n8n#13168, avibe-bot/avibe#52."""
    rig.model.then(
        calls(("look", {"at": "/"})),
        calls(("look", {"at": "/var"})),
        calls(("note", {"text": "x"}), ("svc.restart", {"service": "a"})),
        says("Done."),
    )
    case = await rig.say("Clean up")
    await rig.work()
    (old,) = [key for key, content in rig.channel.standing(THREAD).items() if isinstance(content, Card)]
    before = list(rig.effects.made)
    await rig.restart()

    assert "Restart" in await rig.channel.press(THREAD, old, "approve", rig.account("kim"))
    await rig.work()

    assert before == ["look /", "look /var", "note x"]
    assert rig.effects.made == [*before, "restart a"]
    assert len(rig.model.sent) == 4
    assert (await rig.texts(case))[-1] == "Done."


async def test_three_gated_calls_and_a_free_one_the_free_one_runs_once_and_each_gate_is_answered_on_its_own(
    rig: Rig,
) -> None:
    """supabase/supabase#47008: asked one after another, nothing is denied by itself, nothing freezes."""
    gated = [("svc.restart", {"service": name}) for name in "abc"]
    rig.model.then(calls(*gated, ("look", {"at": "/"}), ids=["c1", "c2", "c3", "c4"]), says("Done."))
    case = await rig.say("Restart them")
    await rig.work()
    assert rig.effects.made == ["look /"]
    for verb in (Verb.APPROVE, Verb.DENY, Verb.APPROVE):
        assert (await rig.decide(case, verb)).taken
        await rig.work()
    assert rig.effects.made == ["look /", "restart a", "restart c"]
    assert unpaired(rig.model.sent[-1]) == []
    answers = [str(answer) for answer in returned(rig.model.sent[-1])]
    assert ["done" in answer for answer in answers] == [True, False, True, True]
    assert "kim" in answers[1]
    assert rig.posted()[-1] == "Done."


async def test_somebody_who_may_not_decide_is_refused_in_the_same_words_on_every_surface(make_rig: MakeRig) -> None:
    """agentscope-ai/agentscope#2267: it is the store that refuses, and no adapter can forget to."""
    rig = await make_rig(settings=Settings(gates=Gates(four_eyes=False)))  # so that nothing but the role forbids it
    rig.model.then(calls(("svc.restart", {"service": "a"})))
    case = await rig.say("Restart it", by="ben")
    await rig.work()
    gate = await rig.gate(case)
    (card,) = [key for key, content in rig.channel.standing(THREAD).items() if isinstance(content, Card)]
    heard = {await rig.channel.press(THREAD, card, "approve", rig.account("ben"))}
    for via in ("slack", "discord", "web", "cli", "console"):
        decision = Decision(Verb.APPROVE, gate.digest_shown, via)
        reply = await rig.store.write(gating.decide, rig.clock.now(), rig.people["ben"], gate.id, decision, None)
        assert not reply.taken
        heard.add(reply.text)
    await rig.work()
    assert len(heard) == 1
    assert "operator" in heard.pop()
    assert await rig.gate(case) == gate
    assert rig.effects.made == []
