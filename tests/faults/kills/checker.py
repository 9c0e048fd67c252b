"""The history checker: compares what was acknowledged, what happened outside and what is stored."""

from casestore.check import damage
from tests.faults.kills import check_arrivals, check_calls, check_record
from tests.faults.kills.boot import Place
from tests.faults.kills.evidence import Report, gathered


def check(place: Place) -> Report:
    """Look at one installation that has come to rest."""
    report = Report()
    report.wrong += [f"the file is damaged: {line}" for line in damage(place.db)]
    with gathered(place) as found:
        for happened in found.services:
            report.counts["kills"] += happened["did"] == "kill"
            report.counts["kills before it was up"] += happened["did"] == "kill" and not happened["up"]
            report.counts["starts"] += happened["did"] == "start"
        check_arrivals.check(found, report)
        check_calls.check(found, report)
        check_calls.decisions(found, report)
        check_record.check(found, report)
        report.counts["takeovers"] += sum(bool(asked.acked) for asked in found.of_kind("take"))
        report.counts["cases"] += found.tx.integer("SELECT count(*) FROM cases")
    return report
