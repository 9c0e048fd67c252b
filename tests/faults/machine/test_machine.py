"""Any history of messages, decisions, deaths and clocks keeps every rule after every step (R2 to R14)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.faults.machine.acts import Acts
from tests.faults.machine.fate import Fate

EXAMPLES = int(os.environ.get("MACHINE_EXAMPLES", "0"))
"""How many histories `make machine` plays; 0 is the fast tier, whose histories are the same every time, and which
shows a history that breaks a rule as it is: making it shorter can take many minutes."""

FAST = settings(
    max_examples=35, stateful_step_count=30, derandomize=True, deadline=None, database=None,
    report_multiple_bugs=False, phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)  # fmt: skip
SLOW = settings(
    FAST, max_examples=max(EXAMPLES, 1), stateful_step_count=60, derandomize=False, print_blob=True,
    phases=(Phase.generate, Phase.shrink),
)  # fmt: skip
EACH = (
    "decide.approved", "decide.expired", "decide.stale", "decide.not_allowed", "decide.already_decided",
    "decide.wrong_verb", "gate.expired", "gate.asked.outcome", "unknown", "spent", "spent wrongly", "effect",
    "taken over", "kill", "stale act", "beside.running", "beside.settled",
)  # fmt: skip
"""What has to happen in the histories of any run, or they prove nothing."""


ROOT = Path(__file__).parents[3]
PLAY = "from tests.faults.machine.test_machine import play; play()"


@pytest.mark.timeout(0 if EXAMPLES else 300)  # for as many as are asked for there is no knowing how long
def test_every_rule_holds_after_every_step_of_any_history() -> None:
    """In a process of its own: what hypothesis draws depends on the modules that happen to be imported."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    played = subprocess.run(
        [sys.executable, "-c", PLAY], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    print(played.stdout)
    assert played.returncode == 0, played.stderr[-8_000:]


def play() -> None:
    """Play the histories, and say what they came by."""
    run_state_machine_as_test(Fate, settings=SLOW if EXAMPLES else FAST)
    never = [name for name in EACH if not Acts.totals.get(name)]
    assert not never, f"no history came by {never}: the machine does not look where it should"
    print(f"machine: {Acts.histories} histories, {Acts.commits} commits looked at, {dict(sorted(Acts.totals.items()))}")
