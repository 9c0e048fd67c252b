"""A case that goes on with another provider's model than it was begun with, at the worst moment: a call is held."""

from pathlib import Path

import pytest

from bot.models.assistant import assistant
from tests.loop.rig import Rig, checked
from tests.loop.scripted import ScriptedModel
from tests.models.rig import PROVIDERS, settings_for
from tests.wire.scripted import Answer, calls, words


def held(number: int) -> Answer:
    """An answer that was thought about, and whose call waits for a person."""
    wanted = [("svc__restart", f'{{"service": "m{number}"}}')]
    return Answer("Again.", wanted, "tool_calls", thought=("hm", "signed"))


@pytest.mark.parametrize(("first", "second"), [("openai", "anthropic"), ("anthropic", "google"), ("google", "openai")])
async def test_a_turn_goes_on_with_another_provider_at_every_gate(db: Path, first: str, second: str) -> None:
    """R7, R13: names and ids that the other would refuse, half a JSON, thoughts that another signed."""
    async with PROVIDERS[first]() as one, PROVIDERS[second]() as other:
        odd = (("näh", "{bad"), ("look", '{"at": "/"}'), ("svc__restart", '{"service": "m0"}'))
        rig = Rig(db, ScriptedModel(), settings=settings_for(one))
        async with assistant(rig.settings) as rig.asked:
            await rig.open()
            one.then(
                calls(*(odd if first == "openai" else odd[1:]), ids=("", "x y", "x y") if first == "openai" else ())
            )
            case = await rig.say("It hangs.")
            await rig.work()
        for provider, answer in ((other, held(1)), (one, held(2)), (other, words("It runs."))):
            await rig.decide(case)
            rig.settings = settings_for(provider)
            async with assistant(rig.settings) as rig.asked:
                await rig.restart()
                provider.then(answer)
                await rig.work()
        assert rig.effects.made == ["look /", "restart m0", "restart m1", "restart m2"]
        assert rig.posted()[-1] == "It runs."
        assert one.refused + other.refused == []
        await checked(rig.store, case)
        await rig.kill()
