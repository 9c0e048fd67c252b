"""`make disk`: every write and every sync of every scenario fails, once and for good, in every way it can.

And at every length at which its file could grow no further.
"""

import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from casestore.migrate import migrate
from tests.faults.disk import shim
from tests.faults.disk.acts import SCENARIOS, Plan
from tests.faults.disk.sweep import SYNCS, WRITES, Sweep, Swept, schema_of_new

_AT_A_TIME = 100
_SHOWN = 40


def main() -> int:
    """The table, and 1 where a promise was broken."""
    if why := shim.missing():
        print(f"skipped: {why}")
        return 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        migrate(folder / "new.db")
        new_file, library = (folder / "new.db").read_bytes(), shim.build(folder)
        sweep = Sweep(folder, library, new_file, schema_of_new(folder, new_file))
        plans = [plan for scenario in SCENARIOS for kinds in (WRITES, SYNCS) for plan in sweep.plans(scenario, kinds)]
        plans += [plan for scenario in SCENARIOS for plan in sweep.limits(scenario)]
        sweep.end()
        parts = [plans[n : n + _AT_A_TIME] for n in range(0, len(plans), _AT_A_TIME)]
        swept = Swept()
        with ProcessPoolExecutor(2) as pool:
            asked = [pool.submit(_part, folder / str(n), library, new_file, part) for n, part in enumerate(parts)]
            for n, each in enumerate(as_completed(asked), 1):
                swept.add(each.result())
                print(f"{n} of {len(parts)} parts, {len(swept.broken)} broken", file=sys.stderr, flush=True)
    for name in sorted(swept.acted):
        print(f"{name:20} {swept.acted[name]:6} faults planned {swept.hit[name]:6} met")
    answers = ", ".join(f"{what} {n}" for what, n in swept.told.most_common())
    print(f"answers: {answers}")
    print(f"files looked at: {swept.looked}")
    print(f"promises broken: {len(swept.broken)} of N = {sum(swept.acted.values())} faults")
    for each in swept.broken[:_SHOWN]:
        print(f"  {each}")
    return 1 if swept.broken else 0


def _part(folder: Path, library: Path, new_file: bytes, plans: Sequence[Plan]) -> Swept:
    folder.mkdir()
    sweep = Sweep(folder, library, new_file, schema_of_new(folder, new_file))
    try:
        return sweep.sweep(plans)
    finally:
        sweep.end()


if __name__ == "__main__":
    sys.exit(main())
