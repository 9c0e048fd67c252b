"""Whether an alert is about another machine than the one we run on: what we look at and change is only ever here."""

from collections.abc import Collection, Mapping

from bot.tools.host.names import plain

LABELS = ("instance", "host", "hostname", "node", "nodename")
"""The labels that name a machine, as Prometheus and what feeds it write them."""


def elsewhere(labels: Mapping[str, str], here: Collection[str]) -> str | None:
    """The machine that the labels name, where it is another one; None where they name this one, or none at all.

    `here` holds every name and address of this machine, as `plain` makes them. One label that names it is enough: an
    exporter's `instance` may be a container's name, beside the right `node`.
    """
    named = [labels[label] for label in LABELS if labels.get(label, "").strip()]
    return None if any(plain(name) in here for name in named) else next(iter(named), None)
