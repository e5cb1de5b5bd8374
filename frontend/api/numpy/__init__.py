"""`adze.numpy`: arrays as NumPy and the Python array API standard (2024.12) name them.

Default dtypes are float32 and int64; no function ever narrows a dtype. Out-of-range values of index
arrays are clamped when read and dropped when written; integers known while tracing are checked.
"""

from ..frontend.library.linalg.polynomial_roots import polydiv as polydiv
from ..frontend.library.linalg.polynomial_roots import roots as roots
from ..frontend.library.linalg.polynomials import poly as poly
from ..frontend.library.linalg.polynomials import polyadd as polyadd
from ..frontend.library.linalg.polynomials import polyder as polyder
from ..frontend.library.linalg.polynomials import polyfit as polyfit
from ..frontend.library.linalg.polynomials import polyint as polyint
from ..frontend.library.linalg.polynomials import polymul as polymul
from ..frontend.library.linalg.polynomials import polysub as polysub
from ..frontend.library.names import public_names as _public_names
from ..frontend.library.numpy import *  # noqa: F403
from ..frontend.library.numpy import __array_namespace_info__ as __array_namespace_info__
from ..frontend.library.numpy.grids import c_ as c_
from ..frontend.library.numpy.grids import index_exp as index_exp
from ..frontend.library.numpy.grids import mgrid as mgrid
from ..frontend.library.numpy.grids import ogrid as ogrid
from ..frontend.library.numpy.grids import r_ as r_
from ..frontend.library.numpy.grids import s_ as s_
from ..frontend.library.numpy.vectorize import frompyfunc as frompyfunc
from ..frontend.library.numpy.vectorize import vectorize as vectorize
from ..frontend.library.special.gcd import gcd as gcd
from ..frontend.library.special.gcd import lcm as lcm
from ..frontend.library.special.scipy_names import i0 as i0
from . import fft as fft
from . import linalg as linalg
from . import special as special

__array_api_version__ = "2024.12"

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "fft",
    "linalg",
    "special",
    *_public_names(globals()),
]
