"""Two gated calls and a free one in one response, the process killed between the two decisions (R7, R9, R13)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from installation import Installation

pytestmark = [pytest.mark.kill, pytest.mark.timeout(180)]

_BOOK = """
name = "tidy"
title = "Clear two caches"

[match]
any = ["tidy up"]

[[step]]
because = "Both are rebuilt on demand."
calls = [
    { call = "host.clear_cache", args = { name = "first" }, as = "first" },
    { call = "host.memory", as = "memory" },
    { call = "host.clear_cache", args = { name = "second" }, as = "second" },
]

[[step]]
say = "first: {first.outcome}. second: {second.outcome}. memory: {memory.outcome}."
"""


class Caches:
    """Two real directories; a file in one that is gone was removed by the tool, once or more."""

    def __init__(self, folder: Path) -> None:
        self.first, self.second = folder / "first", folder / "second"
        for directory in (self.first, self.second):
            directory.mkdir()
            (directory / "old").write_text("x")

    def settings(self, book: Path) -> str:
        """What an operator writes to have them cleared by the playbook."""
        caches = f'[host]\ncaches = {{ first = "{self.first}", second = "{self.second}" }}\n'
        return f'{caches}[playbooks]\npaths = ["{book}"]\n'


@pytest.fixture
def caches(tmp_path: Path) -> Caches:
    """The two directories."""
    return Caches(tmp_path)


@pytest.fixture
def here(install: Callable[..., Installation], caches: Caches, tmp_path: Path) -> Installation:
    """A running service whose case C-1001 waits at its first gate."""
    book = tmp_path / "tidy.toml"
    book.write_text(_BOOK)
    installation = install(caches.settings(book))
    installation.start()
    installation.cli("case", "open", "please tidy up", "--as", "you")
    return installation


def _calls(here: Installation) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for run in here.api("runs")["runs"]:
        for step in here.api(f"runs/{run['id']}")["steps"]:
            if step["kind"] == "tool":
                found.setdefault(f"{step['tool']} {step['args'].get('name', '')}".strip(), []).append(step)
    return found


def _answer(here: Installation) -> str:
    def said() -> list[str]:
        messages = here.api("cases/C-1001/messages")["messages"]
        return [m["body"][0]["text"] for m in messages if m["provenance"] == "assistant"]

    return here.await_(said)[-1]


def test_both_are_asked_in_order_and_the_free_call_runs_once(here: Installation, caches: Caches) -> None:
    """Killed between the two decisions, and once more before the second is spent."""
    one = here.open_gate()
    assert one["args"]["name"] == "first"
    here.cli("gate", "approve", str(one["id"]))
    two = here.await_(lambda: here.api("gates")["gates"], lambda g: bool(g) and g[0]["id"] != one["id"])[0]
    assert two["args"]["name"] == "second"
    assert not (caches.first / "old").exists()
    (caches.first / "new").write_text("what a second run of the first call would remove")

    here.kill()
    here.cli("gate", "approve", str(two["id"]))  # no service runs: it is decided all the same
    assert (caches.second / "old").exists()
    here.start()
    assert _answer(here) == "first: success. second: success. memory: success."

    assert not (caches.second / "old").exists()
    assert (caches.first / "new").exists(), "the first call ran twice"
    calls = _calls(here)
    assert {name: [step["state"] for step in steps] for name, steps in calls.items()} == {
        "host.clear_cache first": ["finished"],
        "host.memory": ["finished"],
        "host.clear_cache second": ["finished"],
    }
    assert here.json("trail", "verify", "C-1001")["ok"] is True


def test_a_plain_denial_of_the_first_asks_the_second(here: Installation, caches: Caches) -> None:
    """R7: after a plain denial the next queued call is asked."""
    one = here.open_gate()
    here.cli("gate", "deny", str(one["id"]), "--reason", "not this one")
    two = here.await_(lambda: here.api("gates")["gates"], lambda g: bool(g) and g[0]["id"] != one["id"])[0]
    here.cli("gate", "approve", str(two["id"]))
    assert _answer(here) == "first: denied. second: success. memory: success."
    assert (caches.first / "old").exists()
    assert not (caches.second / "old").exists()


@pytest.mark.parametrize("verb", ["revise", "withdraw"])
def test_after_revise_or_withdrawal_the_second_is_not_asked(
    here: Installation, caches: Caches, verb: str
) -> None:  # fmt: skip
    """R7: each remaining call gets the result "not asked"."""
    one = here.open_gate()
    here.cli("gate", verb, str(one["id"]), "--reason", "look again first")
    assert _answer(here) == "first: denied. second: denied. memory: success."
    calls = _calls(here)
    assert calls["host.clear_cache second"][0]["result"]["kind"] == "not_asked"
    assert (caches.first / "old").exists()
    assert (caches.second / "old").exists()
    assert len(here.api("gates?all=true")["gates"]) == 1
