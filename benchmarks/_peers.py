"""The array libraries that the benchmarks run side by side, each as one `Peer` value.

A benchmark function is written once and gets a peer's namespace; only what has no common name (erf, the
convolution, compiling, waiting for a result) differs here. JAX and SciPy are peers and never run-time
dependencies of adze.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Function = Callable[..., Any]


@dataclass(frozen=True)
class Peer:
    """A library: `xp` its array namespace, `place` onto its device, `compile`, `wait` until done."""

    name: str
    xp: Any
    erf: Function
    convolve: Function
    place: Function
    compile: Function
    wait: Function

    def prepared(self, function: Function, inputs: tuple[Any, ...]) -> Callable[[], Any]:
        """A call of no arguments: `function(peer, *inputs)` compiled, inputs already in place."""
        placed = tuple(self.place(array) for array in inputs)
        compiled = self.compile(lambda *arrays: function(self, *arrays))
        wait = self.wait
        return lambda: wait(compiled(*placed))


def adze_peer() -> Peer:
    import adze
    import adze.numpy
    from adze import lax
    from adze.scipy import special

    # A compiled identity leaves its argument on the device that compiled functions use.
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
        # A view is no result: a transpose has to be written out as the others do it.
        wait=lambda result: np.asarray(result, order="C"),
    )


def convolution_with(lax: Any) -> Function:
    """Same-size cross-correlation, NHWC by HWIO, in the convention that adze shares with JAX."""

    def convolve(images: Any, kernel: Any) -> Any:
        return lax.conv_general_dilated(
            images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return convolve


def numpy_convolution(images: Any, kernel: Any) -> Any:
    """The same by gathered windows and one matrix product."""
    height, width = kernel.shape[0] // 2, kernel.shape[1] // 2
    padded = np.pad(images, ((0, 0), (height, height), (width, width), (0, 0)))
    windows = sliding_window_view(padded, kernel.shape[:2], axis=(1, 2))
    return np.tensordot(windows, kernel, axes=((4, 5, 3), (0, 1, 2)))
