"""Special functions, as an extension of the array API would name them: those of `adze.scipy.special`.

SciPy under `SCIPY_ARRAY_API=1` looks for the functions of `scipy.special` here.
"""

from ..scipy.special import *  # noqa: F403
from ..scipy.special import __all__ as __all__
