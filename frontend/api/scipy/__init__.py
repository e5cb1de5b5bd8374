"""What SciPy names: `adze.scipy.linalg`, `special`, `stats`."""

from . import linalg as linalg
from . import special as special
from . import stats as stats

__all__ = ["linalg", "special", "stats"]
