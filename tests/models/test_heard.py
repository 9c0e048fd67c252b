"""Somebody listens while a model answers: the words come before the reply, and what is recorded is the same (R12)."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from bot.turns.preview import Listener
from casestore import transcript
from casestore.canonical import decode, encode
from casestore.models import Case, Run, Step
from casestore.states import Outcome
from tests.models.rig import PROVIDERS, TRIES, Asked, answering, settings_for
from tests.wire.openai.server import OpenAIServer
from tests.wire.scripted import HALF, Answer, Cut, Fault, Halfway, Line, ModelServer, calls, words

STORY = "Once upon a time there was a disk."
LOOKS = calls(("look", '{"at": "/"}'), ("look", '{"at": "/var"}'))
MIDWAY = [Cut(), Cut(politely=True), Fault(200, "overloaded_error")]

RECORDED: dict[str, Sequence[Line]] = {
    "words": [words(STORY)],
    "calls": [LOOKS, words(STORY)],
    "words before a call": [Answer("I look first.", [("look", '{"at": "/"}')], "tool_calls"), words(STORY)],
    "cut short": [words("Once upon", "length"), words(" a time.")],
    "refused": [Answer(None, finish="content_filter")],
    "empty": [Answer(""), words(STORY)],
    **{f"{status} and again": [Fault(status, retry_after="7"), words(STORY)] for status in (429, 500, 529)},
    **{f"{status}": [Fault(status)] for status in (400, 401, 404)},
    "never": [Fault(500)] * TRIES,
    "cut off and again": [Cut(), words(STORY)],
}


class Heard:
    """Somebody who listens to a case, and what there was to hear."""

    def __init__(self, asked: Asked, case: Case, listener: Listener) -> None:
        self._asked, self._case, self._listener = asked, case, listener

    @property
    def text(self) -> str:
        """What can be heard now."""
        preview = self._asked.rig.previews.of(self._case.id)
        return "" if preview is None else preview.text

    async def until(self, so: Callable[[str], bool]) -> str:
        """Wait until what can be heard is so."""
        async with asyncio.timeout(30):
            while not so(self.text):
                await self._listener.wait(1)
        return self.text


async def heard(asked: Asked, *lines: Line) -> AsyncIterator[tuple[Case, Heard, "asyncio.Task[None]"]]:
    """Somebody asks, somebody else listens, and it is worked."""
    asked.server.then(*lines)
    case = await asked.rig.say("Tell me.")
    with asked.rig.previews.listening(case.id) as listener:
        yield case, Heard(asked, case, listener), asked.rig.start(asked.rig.work())


async def test_the_words_are_heard_before_the_reply_is_said(asked: Asked) -> None:
    line = Halfway(words(STORY))
    async for case, hearing, work in heard(asked, line):
        await hearing.until(lambda text: text == "Once upon a time")
        assert asked.rig.posted() == []
        line.go_on.set()
        await hearing.until(lambda text: text in (STORY, ""))
        await work
        assert asked.rig.posted() == [STORY]
        assert hearing.text == ""
        await asked.goes_on(case)


@pytest.mark.parametrize("provider_name", list(PROVIDERS))
@pytest.mark.parametrize("script", list(RECORDED))
async def test_what_is_recorded_is_the_same_whether_somebody_listens_or_not(
    provider_name: str, script: str, tmp_path: Path
) -> None:
    alone, listened = [
        await recorded(PROVIDERS[provider_name], tmp_path / f"{listens}.db", RECORDED[script], listens=listens)
        for listens in (False, True)
    ]
    assert listened == alone


async def recorded(
    provider: type[ModelServer], db: Path, lines: Sequence[Line], *, listens: bool
) -> dict[str, object]:  # fmt: skip
    """All that is stored of a case, and all that was sent, but for the address and the times of the machine."""
    async with provider() as server, answering(db, settings_for(server)) as rig:
        asked = Asked(rig, server)
        server.then(*lines)
        case = await rig.say("Tell me.")
        if listens:
            with rig.previews.listening(case.id):
                await rig.work()
        else:
            await rig.work()
        assert server.script == []
        assert server.refused == []
        assert all(server.streamed) if listens else not any(server.streamed) or server.name.startswith("anthropic")
        rows = await rig.store.read(transcript.between, case.id, 0, 1_000)
        return {
            "runs": [at_no_address(run, server.address) for run in await rig.runs(case)],
            "steps": [
                at_no_address(comparable(step), server.address) for step in await rig.steps(case, tools_only=False)
            ],
            "transcript": [without_times(row.message, server.address) for row in rows],
            "posted": rig.posted(),
            "waited": rig.waited,
            "trail": await rig.trail(case),
            "sent": [
                without_ids(encode({k: v for k, v in body.items() if not k.startswith("stream")}))
                for body in asked.server.sent
            ],
        }


def at_no_address(one: Run | Step, address: str) -> dict[str, object]:
    """A run or a step, whose error names the server by its address."""
    return decode(one.model_dump_json().replace(address, ""))


def comparable(step: Step) -> Step:
    """A step; a digest of stored responses has their times in it, so it is compared where none was sent yet."""
    changed: dict[str, object] = {"call_id": without_ids(step.call_id or "")}
    return step.model_copy(update=changed if step.seq == 1 else {**changed, "request_digest": None})


def without_times(message: str, address: str) -> dict[str, object]:
    """A stored message without what the machine's clock, its free ports and chance put into it."""
    return decode(re.sub(r'"timestamp":"[^"]*"', '"timestamp":""', without_ids(message)).replace(address, ""))


def without_ids(text: str) -> str:
    """The same without the ids that Google's client makes up for calls that came without one."""
    return re.sub(r"pyd_ai_[0-9a-f]{32}", "", text)


async def test_where_nobody_listens_nothing_is_streamed(openai: Asked) -> None:
    await openai.say("Tell me.", words(STORY))

    assert not openai.server.streamed[0]
    assert "stream_options" not in openai.server.sent[0]


@pytest.mark.parametrize("fault", MIDWAY, ids=str)
async def test_an_answer_that_breaks_off_is_taken_back_and_asked_for_again(asked: Asked, fault: Fault | Cut) -> None:
    broken, whole = Halfway(words(HALF), fault), Halfway(words(STORY))
    async for case, hearing, work in heard(asked, broken, whole):
        await hearing.until(lambda text: text == "Half of it,")
        broken.go_on.set()
        await hearing.until(lambda text: text == "Once upon a time")
        whole.go_on.set()
        await work
        assert asked.rig.posted() == [STORY]
        await asked.goes_on(case)


@pytest.mark.parametrize("fault", MIDWAY, ids=str)
async def test_what_was_heard_of_an_answer_that_broke_off_is_gone_while_nothing_else_is_there(
    asked: Asked, fault: Fault | Cut
) -> None:
    broken = Halfway(words(HALF), fault)
    async for _, hearing, work in heard(asked, broken, Fault(401)):
        await hearing.until(lambda text: text == "Half of it,")
        broken.go_on.set()
        await hearing.until(lambda text: text == "")
        await work
        assert len(asked.rig.posted()) == 1
        assert "Half" not in asked.rig.posted()[0]


async def test_a_model_that_stalls_in_the_middle_has_its_time_and_no_more(provider: ModelServer, db: Path) -> None:
    async with answering(db, settings_for(provider, timeout="1s")) as rig:
        asked = Asked(rig, provider)
        async for case, _, work in heard(asked, *[Halfway(words(HALF)) for _ in range(TRIES)]):
            await work
            (run,) = await rig.runs(case)
            assert run.error is not None
            assert run.error.endswith("did not answer: no answer within 1s.")
            assert "Half" not in "".join(rig.posted())
            assert rig.previews.of(case.id) is None


async def test_thoughts_and_calls_are_not_heard(anthropic: Asked) -> None:
    thinking = Answer(None, [("look", '{"at": "/"}')], "tool_calls", thought=("I should look.", "signed"))
    line = Halfway(words(STORY))
    told: list[str] = []
    async for case, hearing, work in heard(anthropic, thinking, line):
        await hearing.until(lambda text: not told.append(text) and text == "Once upon a time")
        line.go_on.set()
        await work
        assert not [text for text in told if text and not STORY.startswith(text)]
        await anthropic.goes_on(case)


async def test_words_before_a_call_are_heard_and_are_gone_when_the_call_is_made(asked: Asked) -> None:
    first = Halfway(Answer("I will look first.", [("look", '{"at": "/"}')], "tool_calls"))
    then = Halfway(words(STORY))
    async for case, hearing, work in heard(asked, first, then):
        await hearing.until(lambda text: text == "I will")
        first.go_on.set()
        await hearing.until(lambda text: text == "Once upon a time")
        assert asked.rig.effects.made == ["look /"]
        then.go_on.set()
        await work
        await asked.goes_on(case)


async def test_the_next_model_begins_anew_when_one_breaks_off(db: Path) -> None:
    async with OpenAIServer() as server, answering(db, settings_for(server, fallback=("openai:gpt-other",))) as rig:
        broken, whole = Halfway(words(HALF), Cut()), Halfway(words(STORY))
        async for _, hearing, work in heard(Asked(rig, server), broken, whole):
            await hearing.until(lambda text: text == "Half of it,")
            broken.go_on.set()
            await hearing.until(lambda text: text == "Once upon a time")
            whole.go_on.set()
            await work
            assert [body["model"] for body in server.sent] == ["gpt-test", "gpt-other"]
            assert rig.posted() == [STORY]


async def test_a_reply_that_a_person_who_took_the_case_over_forestalls_is_not_said(asked: Asked) -> None:
    line = Halfway(words(STORY))
    async for case, hearing, work in heard(asked, line):
        await hearing.until(lambda text: text == "Once upon a time")
        await asked.rig.take(case)
        line.go_on.set()
        await work
        assert hearing.text == ""
        assert STORY not in asked.rig.posted()
        assert [run.outcome for run in await asked.rig.runs(case)] == [Outcome.LEASE_LOST]


async def test_a_run_that_is_cut_off_leaves_nothing_to_hear(asked: Asked) -> None:
    async for case, hearing, work in heard(asked, Halfway(words(STORY))):
        await hearing.until(lambda text: text == "Once upon a time")
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert asked.rig.previews.of(case.id) is None
