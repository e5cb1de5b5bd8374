"""`adze.numpy`: arrays as NumPy and the Python array API standard (2024.12) name them.

Default dtypes are float32 and int64; no function ever narrows a dtype. Out-of-range values of index
arrays are clamped when read and dropped when written; integers known while tracing are checked.
"""

from ..frontend import namespace
from ..frontend.namespace import *  # noqa: F403
from . import fft as fft
from . import linalg as linalg

__array_api_version__ = "2024.12"

__all__ = ["__array_api_version__", "fft", "linalg"]
__all__ += namespace.__all__
