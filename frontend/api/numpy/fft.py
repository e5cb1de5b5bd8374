"""Fourier transforms under NumPy's names."""

from ..frontend.fft.public import fft as fft
from ..frontend.fft.public import fft2 as fft2
from ..frontend.fft.public import fftfreq as fftfreq
from ..frontend.fft.public import fftn as fftn
from ..frontend.fft.public import fftshift as fftshift
from ..frontend.fft.public import hfft as hfft
from ..frontend.fft.public import ifft as ifft
from ..frontend.fft.public import ifft2 as ifft2
from ..frontend.fft.public import ifftn as ifftn
from ..frontend.fft.public import ifftshift as ifftshift
from ..frontend.fft.public import ihfft as ihfft
from ..frontend.fft.public import irfft as irfft
from ..frontend.fft.public import irfft2 as irfft2
from ..frontend.fft.public import irfftn as irfftn
from ..frontend.fft.public import rfft as rfft
from ..frontend.fft.public import rfft2 as rfft2
from ..frontend.fft.public import rfftfreq as rfftfreq
from ..frontend.fft.public import rfftn as rfftn

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
