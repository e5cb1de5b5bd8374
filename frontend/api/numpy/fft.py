"""Fourier transforms under NumPy's names."""

from ..frontend.library.fft.numpy_names import fft as fft
from ..frontend.library.fft.numpy_names import fft2 as fft2
from ..frontend.library.fft.numpy_names import fftfreq as fftfreq
from ..frontend.library.fft.numpy_names import fftn as fftn
from ..frontend.library.fft.numpy_names import fftshift as fftshift
from ..frontend.library.fft.numpy_names import hfft as hfft
from ..frontend.library.fft.numpy_names import ifft as ifft
from ..frontend.library.fft.numpy_names import ifft2 as ifft2
from ..frontend.library.fft.numpy_names import ifftn as ifftn
from ..frontend.library.fft.numpy_names import ifftshift as ifftshift
from ..frontend.library.fft.numpy_names import ihfft as ihfft
from ..frontend.library.fft.numpy_names import irfft as irfft
from ..frontend.library.fft.numpy_names import irfft2 as irfft2
from ..frontend.library.fft.numpy_names import irfftn as irfftn
from ..frontend.library.fft.numpy_names import rfft as rfft
from ..frontend.library.fft.numpy_names import rfft2 as rfft2
from ..frontend.library.fft.numpy_names import rfftfreq as rfftfreq
from ..frontend.library.fft.numpy_names import rfftn as rfftn
from ..frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())
