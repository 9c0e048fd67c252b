from tests.loop.conftest import make_rig, rig

__all__ = ["make_rig", "rig"]
