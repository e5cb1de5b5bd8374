"""The door to IREE's runtime: its native library, without the Python package around it.

`iree.runtime` imports a third of what a process needs to load and call a program (benchmarks, logging,
temporary files), and adze uses the classes of the library only. `iree._runtime.libs` is where that package
itself takes the library from, in the variant that the environment asks for.
"""

from __future__ import annotations

import functools
import os
from typing import Any


@functools.cache
def native() -> Any:
    """The library, the same one that `iree.runtime` offers."""
    from ...dialects.interrupts import deferred_interrupts

    with deferred_interrupts():
        if os.environ.get("IREE_PY_RUNTIME_FLAGS"):
            import iree.runtime  # noqa: F401 - it passes these flags to the library
        from iree._runtime.libs import _runtime
    return _runtime


def runtime_version() -> str:
    """The version of IREE's runtime here, without a look at the metadata of packages, which is slow."""
    from iree._runtime_libs.version import VERSION

    return str(VERSION)
