"""What was sent can be rebuilt byte for byte (R17), and the window is bounded and never cuts a call off (R19)."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest

from bot.settings import Settings
from bot.settings.sections import Limits
from casestore import transcript
from casestore.canonical import digest
from casestore.models import Case, Step, TranscriptRow
from casestore.states import Verb
from casestore.tx import Tx
from tests.loop.conftest import MakeRig
from tests.loop.rig import HOUR, Rig
from tests.loop.scripted import ScriptedModel, calls, said, says, unpaired


def rows_named(tx: Tx, step: Step) -> list[TranscriptRow]:
    """The transcript rows that a model step says it sent."""
    assert step.request is not None
    first, last = step.request["from"], step.request["to"]
    assert isinstance(first, int)
    assert isinstance(last, int)
    return transcript.between(tx, step.case_id, first, last)


async def model_steps(rig: Rig, case: Case) -> list[Step]:
    return [step for step in await rig.steps(case, tools_only=False) if step.kind == "model"]


async def a_long_case(rig: Rig) -> Case:
    """Calls, a gate, an approval, a message meanwhile, an answer cut off, and a second turn."""
    rig.model.then(
        calls(("look", {"at": "/var"}), ("svc.restart", {"service": "nginx"}), ("note", {"text": "b"}), text="I see."),
        says("It is", "length"),
        says(" done."),
        says("You are welcome. ✓"),
    )
    case = await rig.say("nginx is down - please help")
    await rig.work()
    await rig.say("Are you there?")
    await rig.decide(case)
    await rig.work()
    await rig.say("Thank you!")
    await rig.work()
    assert not rig.model.script
    return case


async def test_every_request_can_be_rebuilt_from_what_its_step_names(rig: Rig) -> None:
    case = await a_long_case(rig)

    asked = await model_steps(rig, case)
    assert len(asked) == len(rig.model.sent) == 4
    for step, sent in zip(asked, rig.model.sent, strict=True):
        rows = await rig.store.read(rows_named, step)
        stored = ModelMessagesTypeAdapter.validate_json("[" + ",".join(row.message for row in rows) + "]")
        assert isinstance(stored[-1], ModelRequest)
        stored[-1].instructions = rig.prompt
        assert ModelMessagesTypeAdapter.dump_json(stored) == ModelMessagesTypeAdapter.dump_json(sent)


async def test_the_digest_of_a_request_covers_the_prompt_and_every_message_as_it_was_sent(rig: Rig) -> None:
    case = await a_long_case(rig)

    for step in await model_steps(rig, case):
        rows = await rig.store.read(rows_named, step)
        assert step.request == {
            "prompt": rig.desk.prompt.version, "compaction": None, "settings": {},
            "from": rows[0].seq, "to": rows[-1].seq,
        }  # fmt: skip
        whole = digest("request", rig.desk.prompt.version, "{}", *(row.message for row in rows))
        assert step.request_digest == whole


async def test_each_message_of_the_conversation_is_stored_once(rig: Rig) -> None:
    case = await a_long_case(rig)

    rows = await rig.store.read(transcript.between, case.id, 1, None)
    assert [row.kind for row in rows] == ["request", "response"] * 4
    assert len({row.message for row in rows}) == len(rows)
    sent = rig.model.sent[-1]
    assert len(sent) == len(rows) - 1
    assert said(sent) == [
        "ann (requester): nginx is down - please help",
        "ann (requester): Are you there?",
        "system: your answer was cut off; go on exactly where it stopped",
        "ann (requester): Thank you!",
    ]


async def test_the_prompt_that_was_sent_is_kept_under_its_version(rig: Rig) -> None:
    case = await a_long_case(rig)

    (run, *_) = await rig.runs(case)
    text = await rig.store.read(
        Tx.value, "SELECT text || tools FROM prompts WHERE version = :version", version=run.prompt_version
    )
    assert text == rig.prompt + rig.desk.toolbox.schemas()


async def test_a_window_holds_the_newest_turns_and_no_more(make_rig: MakeRig) -> None:
    rig = await make_rig(settings=Settings(limits=Limits(window_turns=3)))

    for number in range(8):
        rig.model.then(calls(("look", {"at": f"/{number}"})), says(f"answer {number}"))
        await rig.say(f"question {number}")
        await rig.work()

    assert [len(sent) for sent in rig.model.sent[-6:]] == [6, 8, 10, 12, 6, 8]
    older, *newest = said(rig.model.sent[-1])
    assert older.startswith("system: The older part of this case")
    assert newest == [f"ann (requester): question {number}" for number in (6, 7)]
    assert unpaired(rig.model.sent[-1]) == []


async def test_the_message_being_answered_is_always_the_last(make_rig: MakeRig) -> None:
    rig = await make_rig(says("one"), says("two"), settings=Settings(limits=Limits(window_turns=1)))

    await rig.say("first")
    await rig.work()
    await rig.say("second")
    await rig.work()

    assert [said(sent)[-1] for sent in rig.model.sent] == ["ann (requester): first", "ann (requester): second"]
    assert len(rig.model.sent[1]) == 2


Call = tuple[str, dict[str, object]]

FREE: Call = ("look", {"at": "/"})
WAITS: Call = ("svc.restart", {"service": "nginx"})
HAND_OFF: Call = ("case.hand_off", {"reason": "enough"})
ASK: Call = ("case.ask_requester", {"question": "which?"})
UNKNOWN: Call = ("no.such", {})

responses = st.lists(st.sampled_from([FREE, WAITS, HAND_OFF, ASK, UNKNOWN]), min_size=0, max_size=4)
endings = st.sampled_from(["approve", "deny", "revise", "expire", "take over", "resolve by hand", "restart"])


def endless(drawn: list[list[Call]]) -> ScriptedModel:
    """Makes the calls that are drawn for it, one response after the other; then there are only words."""
    return ScriptedModel(*(calls(*wanted) if wanted else says("Well.") for wanted in drawn), *([says("Well.")] * 60))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(responses, max_size=6), ends=st.lists(endings, max_size=6), turns=st.integers(1, 4))
async def test_whatever_happens_in_whatever_window_every_call_has_its_one_result(
    drawn: list[list[Call]], ends: list[str], turns: int
) -> None:
    with TemporaryDirectory() as folder:
        model = endless(drawn)
        rig = Rig(Path(folder) / "c.db", model, settings=Settings(limits=Limits(window_turns=turns)))
        await rig.open()
        try:
            await lived_through(rig, list(ends))
            for sent in model.sent:
                assert unpaired(sent) == []
                assert isinstance(sent[-1], ModelRequest)
        finally:
            await rig.kill()


async def lived_through(rig: Rig, ends: list[str]) -> None:
    """A few messages in one thread, with something happening at each gate that is asked."""
    for number in range(4):
        case = await rig.say(f"message {number}")
        await rig.work(deliver=False)
        for _ in range(4):
            gate = await rig.open_gate(case)
            if gate is None:
                break
            match ends.pop(0) if ends else "approve":
                case "expire":
                    rig.clock.pass_by(25 * HOUR)
                    await rig.decide(case)
                case "take over":
                    await rig.take(case)
                    await rig.release(case)
                case "resolve by hand":
                    await rig.resolve(case)
                case "restart":
                    await rig.restart()
                case verb:
                    await rig.decide(case, Verb(verb))
            await rig.work(deliver=False)
