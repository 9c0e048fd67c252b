from tests.loop.conftest import make_rig as make_rig
from tests.loop.conftest import rig as rig
