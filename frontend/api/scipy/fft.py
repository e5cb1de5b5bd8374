"""Cosine transforms under SciPy's names."""

from ..frontend.library.fft.cosine import dct as dct
from ..frontend.library.fft.cosine import dctn as dctn
from ..frontend.library.fft.cosine import idct as idct
from ..frontend.library.fft.cosine import idctn as idctn
from ..frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())
