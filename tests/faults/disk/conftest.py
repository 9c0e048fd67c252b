"""What these tests share with those of the store and of the loop."""

from tests.loop.conftest import make_rig, rig
from tests.store.conftest import beside

__all__ = ["beside", "make_rig", "rig"]
