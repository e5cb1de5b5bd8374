"""What SciPy names: `adze.scipy.linalg`, `special`, `stats`, `signal`, `optimize`, ..."""

from . import cluster as cluster
from . import fft as fft
from . import integrate as integrate
from . import interpolate as interpolate
from . import linalg as linalg
from . import ndimage as ndimage
from . import optimize as optimize
from . import signal as signal
from . import sparse as sparse
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
    "special",
    "stats",
]
