"""The table that is printed: one line for each thing that was measured, with its aim and whether it was met."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. `ratio` is what the aim is about where there is a floor or a first value to compare with."""

    what: str
    ours: str
    floor: str = ""
    ratio: str = ""
    aim: str = ""
    met: bool | None = None
    n: str = ""


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median, and in brackets the smallest and the largest."""
    shown = [f"{value:.{digits}f}" for value in (median(values), min(values), max(values))]
    return shown[0] if len(values) == 1 else f"{shown[0]} ({shown[1]}-{shown[2]})"


def text(findings: Sequence[Finding]) -> str:
    """The findings as a Markdown table, its columns aligned."""
    head = ("measured", "Casebound", "floor", "ratio", "aim", "met", "N")
    rows = [head, tuple("-" * 3 for _ in head)]
    for one in findings:
        met = "" if one.met is None else "yes" if one.met else "NO"
        rows.append((one.what, one.ours, one.floor, one.ratio, one.aim, met, one.n))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    rows[1] = tuple("-" * width for width in widths)
    return "\n".join("| " + " | ".join(cell.ljust(widths[n]) for n, cell in enumerate(row)) + " |" for row in rows)
