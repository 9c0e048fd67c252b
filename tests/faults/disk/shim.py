"""Builds the shim, once for a run of the tests; says why where that cannot be done."""

import shutil
import subprocess
import sys
from pathlib import Path

_SOURCE = Path(__file__).with_name("shim.c")


def missing() -> str | None:
    """Why no fault can be put between SQLite and its file here, or None."""
    if sys.platform != "linux":
        return "the shim that fails writes needs Linux (LD_PRELOAD and /proc)"
    return None if compiler() else "no C compiler (cc, gcc, clang) to build the shim that fails writes"


def compiler() -> str | None:
    """The first C compiler there is."""
    return next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def build(folder: Path) -> Path:
    """The shared library, compiled into `folder`."""
    library, cc = folder / "shim.so", compiler()
    assert cc is not None
    subprocess.run(
        [cc, "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE), "-ldl"],
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return library
