"""Any history of messages, decisions, deaths and clocks keeps every rule after every step (R2 to R14)."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.faults.machine.acts import Acts
from tests.faults.machine.fate import Fate

EXAMPLES = int(os.environ.get("MACHINE_EXAMPLES", "0"))
"""How many histories `make machine` plays; 0 is the fast tier, whose histories are the same every time."""

FAST = settings(
    max_examples=35, stateful_step_count=30, derandomize=True, deadline=None, database=None,
    report_multiple_bugs=False, phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)  # fmt: skip
SLOW = settings(
    FAST, max_examples=max(EXAMPLES, 1), stateful_step_count=60, derandomize=False, print_blob=True
)  # fmt: skip
EACH = (
    "decide.approved", "decide.expired", "decide.stale", "decide.not_allowed", "decide.already_decided",
    "decide.wrong_verb", "gate.expired", "gate.asked.outcome", "unknown", "spent", "spent wrongly", "effect",
    "taken over", "kill", "stale act",
)  # fmt: skip
"""What has to happen in the histories of any run, or they prove nothing."""


@pytest.mark.timeout(300)
def test_every_rule_holds_after_every_step_of_any_history() -> None:
    run_state_machine_as_test(Fate, settings=SLOW if EXAMPLES else FAST)
    never = [name for name in EACH if not Acts.totals.get(name)]
    assert not never, f"no history came by {never}: the machine does not look where it should"
    print(f"machine: {Acts.histories} histories, {Acts.commits} commits looked at, {dict(sorted(Acts.totals.items()))}")
