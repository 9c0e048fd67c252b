from tests.cli.conftest import cli
from tests.loop.conftest import make_rig, rig

__all__ = ["cli", "make_rig", "rig"]
