"""Signals under SciPy's names."""

from ..frontend.library.names import public_names as _public_names
from ..frontend.library.signals.convolutions import convolve as convolve
from ..frontend.library.signals.convolutions import convolve2d as convolve2d
from ..frontend.library.signals.convolutions import correlate as correlate
from ..frontend.library.signals.convolutions import correlate2d as correlate2d
from ..frontend.library.signals.convolutions import fftconvolve as fftconvolve
from ..frontend.library.signals.spectra import csd as csd
from ..frontend.library.signals.spectra import detrend as detrend
from ..frontend.library.signals.spectra import istft as istft
from ..frontend.library.signals.spectra import stft as stft
from ..frontend.library.signals.spectra import welch as welch

__all__ = _public_names(globals())
