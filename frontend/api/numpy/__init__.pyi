"""The names of `adze.numpy`, each with its module: for type checkers and for `__init__.py`."""

from ..frontend.library.linalg.polynomial_roots import polydiv as polydiv
from ..frontend.library.linalg.polynomial_roots import roots as roots
from ..frontend.library.linalg.polynomials import poly as poly
from ..frontend.library.linalg.polynomials import polyadd as polyadd
from ..frontend.library.linalg.polynomials import polyder as polyder
from ..frontend.library.linalg.polynomials import polyfit as polyfit
from ..frontend.library.linalg.polynomials import polyint as polyint
from ..frontend.library.linalg.polynomials import polymul as polymul
from ..frontend.library.linalg.polynomials import polysub as polysub
from ..frontend.library.numpy import *  # noqa: F403
from ..frontend.library.numpy import __array_api_version__ as __array_api_version__
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
