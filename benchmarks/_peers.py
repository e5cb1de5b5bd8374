"""The array libraries that the benchmarks compare, each as one `Peer`.

A benchmark function is written once and takes a peer. A `Peer` contains the functions whose names differ
between the libraries: erf, the convolution, compiling, and waiting for a result. JAX and SciPy are peers
here, and adze does not need them at run time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Function = Callable[..., Any]


@dataclass(frozen=True)
class Peer:
    """A library: `xp` is its array namespace, `place` puts an array on its device, `wait` awaits a result."""

    name: str
    xp: Any
    erf: Function
    convolve: Function
    place: Function
    compile: Function
    wait: Function

    def prepared(self, function: Function, inputs: tuple[Any, ...]) -> Callable[[], Any]:
        """A function without arguments that calls the compiled `function` with inputs on the device."""
        placed = tuple(self.place(array) for array in inputs)
        compiled = self.compile(lambda *arrays: function(self, *arrays))
        wait = self.wait
        return lambda: wait(compiled(*placed))


def adze_peer() -> Peer:
    import adze
    import adze.numpy
    from adze import lax
    from adze.scipy import special

    # The result of a compiled identity is on the device that compiled functions use.
    place_on_device = adze.jit(lambda array: array)
    return Peer(
        name="adze",
        xp=adze.numpy,
        erf=special.erf,
        convolve=convolution_with(lax),
        place=place_on_device,
        compile=adze.jit,
        wait=lambda result: result.block_until_ready(),
    )


def jax_peer() -> Peer:
    import jax
    import jax.numpy
    from jax import lax
    from jax.scipy import special

    return Peer(
        name="jax",
        xp=jax.numpy,
        erf=special.erf,
        convolve=convolution_with(lax),
        place=jax.device_put,
        compile=jax.jit,
        wait=lambda result: result.block_until_ready(),
    )


def numpy_peer() -> Peer:
    from scipy import special

    return Peer(
        name="numpy",
        xp=np,
        erf=special.erf,
        convolve=numpy_convolution,
        place=np.asarray,
        compile=lambda function: function,
        # A view does not count as a result: a transpose is copied, as in the other libraries.
        wait=lambda result: np.asarray(result, order="C"),
    )


def convolution_with(lax: Any) -> Function:
    """Cross-correlation with SAME padding, NHWC by HWIO, with the `lax` module of adze or JAX."""

    def convolve(images: Any, kernel: Any) -> Any:
        return lax.conv_general_dilated(
            images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return convolve


def numpy_convolution(images: Any, kernel: Any) -> Any:
    """The same cross-correlation with NumPy: sliding windows and one matrix product."""
    height, width = kernel.shape[0] // 2, kernel.shape[1] // 2
    padded = np.pad(images, ((0, 0), (height, height), (width, width), (0, 0)))
    windows = sliding_window_view(padded, kernel.shape[:2], axis=(1, 2))
    return np.tensordot(windows, kernel, axes=((4, 5, 3), (0, 1, 2)))
