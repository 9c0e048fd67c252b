"""The benchmark beside a model counts what a turn really asks for, and its floor asks for the same."""

from pathlib import Path

from bench import model
from bench.model import Plan


async def test_a_turn_asks_the_model_twice_and_the_bare_client_is_asked_the_same(tmp_path: Path) -> None:
    whole, own, used = await model.measure(tmp_path, Plan(2))

    requests, read, said = used.ours.split(", ")
    assert requests == "2.0"
    assert int(read.replace(",", "")) > int(said) > 0
    bare = float(whole.floor.split()[0])
    assert bare >= 2 * model.CALL_MS
    assert own.n == "2"
