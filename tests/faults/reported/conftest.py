"""The same service as in tests/loop, and the same intake of alerts as in tests/alerts."""

from tests.alerts.conftest import alerts
from tests.loop.conftest import make_rig, rig

__all__ = ["alerts", "make_rig", "rig"]
