"""`GET /metrics`: counted when asked, from the store; only requests are counted as they come."""

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from casestore import cases, outbox
from casestore.states import Outcome
from casestore.tx import Tx

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the store holds at one moment."""

    cases: dict[str, int]
    open_gates: int
    outbox: dict[str, int]
    runs: dict[str, int]
    running: int
    firing: int


def numbers(tx: Tx) -> Numbers:
    """Count, as one snapshot."""
    return Numbers(
        cases=cases.counts(tx),
        open_gates=tx.integer("SELECT count(*) FROM gates WHERE state = 'open'"),
        outbox=outbox.counts(tx),
        runs={
            outcome: tx.integer("SELECT count(*) FROM runs WHERE outcome = :outcome", outcome=outcome)
            for outcome in Outcome
        },
        running=tx.integer("SELECT count(*) FROM runs WHERE ended_at IS NULL"),
        firing=tx.integer("SELECT count(*) FROM episodes WHERE state = 'firing'"),
    )


class Metrics:
    """The requests this process has answered."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "casebound_http_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )

    def count(self, method: str, route: str, status: int) -> None:
        """One request was answered."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()

    def text(
        self, counted: Numbers | None, *, healthy: bool, working: int, spooled: int, answered_from_memory: int
    ) -> bytes:  # fmt: skip
        """The exposition; `counted` is None where the store could not be read."""
        registry = CollectorRegistry()
        registry.register(_Now(counted, healthy=healthy, working=working))
        registry.register(_Standby(spooled, answered_from_memory))
        return generate_latest(registry) + generate_latest(self._registry)


class _Now(Collector):
    def __init__(self, counted: Numbers | None, *, healthy: bool, working: int) -> None:
        self._counted, self._healthy, self._working = counted, healthy, working

    def collect(self) -> Iterator[Metric]:
        up = self._counted is not None and self._healthy
        yield GaugeMetricFamily("casebound_store_healthy", "1 where the store can be read and written.", int(up))
        yield GaugeMetricFamily("casebound_cases_working", "Cases being worked now.", self._working)
        if (counted := self._counted) is None:
            return
        yield _by("casebound_cases", "Cases by state.", "state", counted.cases)
        yield GaugeMetricFamily("casebound_gates_open", "Gates that wait for a decision.", counted.open_gates)
        yield _by("casebound_outbox", "What is to be said, by state.", "state", counted.outbox)
        runs = CounterMetricFamily("casebound_runs", "Runs that have ended, by outcome.", labels=("outcome",))
        for outcome, count in counted.runs.items():
            runs.add_metric((outcome,), count)
        yield runs
        yield GaugeMetricFamily("casebound_runs_open", "Runs that have not ended.", counted.running)
        yield GaugeMetricFamily("casebound_alerts_firing", "Members of alert groups that fire.", counted.firing)


class _Standby(Collector):
    """The conversation while the store cannot be written (R15)."""

    def __init__(self, spooled: int, answered: int) -> None:
        self._spooled, self._answered = spooled, answered

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("casebound_spooled", "What waits to be stored once the store is back.", self._spooled)
        what = "Answers given while the store could not be written."
        yield CounterMetricFamily("casebound_answered_from_memory", what, self._answered)


def _by(name: str, what: str, label: str, counts: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, what, labels=(label,))
    for value, count in counts.items():
        family.add_metric((value,), count)
    return family
