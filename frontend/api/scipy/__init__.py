"""What SciPy names: `adze.scipy.linalg`, `special`, `stats`, `signal`, `optimize`, ...

Each is imported when it is first named: `adze.numpy` needs the special functions and none of the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import cluster as cluster
    from . import fft as fft
    from . import integrate as integrate
    from . import interpolate as interpolate
    from . import linalg as linalg
    from . import ndimage as ndimage
    from . import optimize as optimize
    from . import signal as signal
    from . import sparse as sparse
    from . import spatial as spatial
    from . import special as special
    from . import stats as stats

__all__ = [
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
