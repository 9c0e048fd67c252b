"""Who asked for something does not approve it, however it came to be asked (R5, R11)."""

from bot.outbound import speech
from casestore import cases
from casestore.cases import Opening
from casestore.models import Case
from casestore.states import Origin, Verb
from casestore.tx import Tx
from tests.loop.rig import Rig
from tests.loop.scripted import calls, says

RESTART = ("svc.restart", {"service": "nginx"})


async def alert_case(rig: Rig) -> Case:
    """A case that nobody asked for."""
    opening = Opening("local", "nginx is down", Origin.ALERT)
    return await rig.store.write(cases.open_case, rig.clock.now(), opening, actor="alert:test")


async def test_an_operator_who_wants_it_in_an_alerts_case_does_not_approve_it_and_another_does(rig: Rig) -> None:
    rig.model.then(calls(RESTART), says("Restarted."))
    case = await alert_case(rig)
    await rig.speak(case, "restart it", by="kim")
    await rig.work()
    assert not (await rig.decide(case, by="kim")).taken
    assert (await rig.decide(case, by="lee")).taken


async def test_what_an_alert_adds_to_the_turn_takes_nobodys_name_off_it(rig: Rig) -> None:
    rig.model.then(calls(RESTART, ("svc.restart", {"service": "b"})), says("Restarted."))
    case = await alert_case(rig)
    await rig.speak(case, "restart it", by="kim")
    await rig.work()
    assert (await rig.decide(case, by="lee")).taken
    await rig.store.write(_note, rig.clock.now(), case)
    await rig.work()
    assert not (await rig.decide(case, by="kim")).taken


async def test_where_several_operators_spoke_the_first_one_asked(rig: Rig) -> None:
    rig.model.then(calls(RESTART), says("Restarted."))
    case = await alert_case(rig)
    await rig.speak(case, "restart it", by="kim")
    await rig.speak(case, "agreed", by="lee")
    await rig.work()
    assert not (await rig.decide(case, by="kim")).taken
    assert (await rig.decide(case, Verb.DENY, by="lee")).taken


def _note(tx: Tx, now: int, case: Case) -> None:
    speech.note_for_model(tx, now, case.id, "also firing: another one")
