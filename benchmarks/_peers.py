"""The array libraries that the benchmarks compare, each as one `Peer`.

A benchmark function is written once and takes a peer. A `Peer` contains the modules and functions whose
names differ between the libraries: linear algebra, the convolution, compiling, and waiting for a result. JAX
and SciPy are peers here, and adze does not need them at run time. NumPy has no `library`, `lax` and `nn`.
"""

import functools
import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Function = Callable[..., Any]
Shape = tuple[int | str, ...]


@dataclass(frozen=True)
class Peer:
    """A library: `xp` is its array namespace, `place` puts an array on its device, `wait` awaits a result.

    `compile_named` compiles a function for arrays of some dtypes and shapes with names of sizes, where the
    library can; others compile for the shapes of a call.
    """

    name: str
    xp: Any
    erf: Function
    convolve: Function
    place: Function
    compile: Function
    wait: Function
    library: Any = None
    lax: Any = None
    nn: Any = None
    random: Any = None
    linalg: Any = None
    compile_named: Function | None = None

    def prepared(
        self, function: Function, inputs: tuple[Any, ...], named: tuple[Shape, ...] = ()
    ) -> Callable[[], Any]:
        """A function without arguments that calls the compiled `function` with inputs on the device.

        `named`: for each input its sizes, a name for each that shows at the call.
        """
        placed = tuple(self.place(array) for array in inputs)
        if named and self.compile_named is not None:
            dtypes = [np.asarray(array).dtype for array in inputs]
            specs = tuple(zip(named, dtypes, strict=True))
            compiled = self.compile_named(lambda *arrays: function(self, *arrays), specs)
        else:
            compiled = self.compile(lambda *arrays: function(self, *arrays))
        wait = self.wait
        return lambda: wait(compiled(*placed))


def peers_here(target: str | None = None) -> tuple[Peer, ...]:
    """adze, which compiles for `target`, JAX if it is installed, and NumPy."""
    jax = (jax_peer(),) if find_spec("jax") else ()
    return (adze_peer(target), *jax, numpy_peer())


def adze_peer(target: str | None = None) -> Peer:
    import adze

    device = os.environ.get("ADZE_DEVICE")  # the one that compiled functions use

    def compile_named(function: Function, specs: Any) -> Function:
        """The function, compiled by the first call."""

        @functools.cache
        def compiled() -> Function:
            traced = adze.trace(function, *(adze.ShapeDtype(*spec) for spec in specs))
            if device is None:
                return traced.lower(*[target] if target else []).compile()
            kind = device.partition(":")[0]  # which means the target of this machine's own devices
            lowered = traced.lower(target or ("cpu" if kind.startswith("local") else kind))
            return lowered.compile(device=device)

        return lambda *arrays: compiled()(*arrays)

    peer = compiler_peer("adze", lambda array: adze.device_put(array, device), wait_for_each)
    peer = replace(peer, compile_named=compile_named)
    return replace(peer, compile=lambda function: adze.jit(function, target=target)) if target else peer


def jax_peer() -> Peer:
    import jax

    return compiler_peer("jax", jax.device_put, jax.block_until_ready)


def compiler_peer(name: str, place: Function, wait: Function) -> Peer:
    """A library with JAX's module names."""
    part = {
        path: importlib.import_module(f"{name}.{path}")
        for path in ("numpy", "lax", "nn", "random", "scipy.special", "scipy.linalg")
    }
    library = importlib.import_module(name)
    return Peer(
        name=name,
        xp=part["numpy"],
        erf=part["scipy.special"].erf,
        convolve=convolution_with(part["lax"]),
        place=place,
        compile=library.jit,
        wait=wait,
        library=library,
        lax=part["lax"],
        nn=part["nn"],
        random=part["random"],
        linalg=part["scipy.linalg"],
    )


def numpy_peer() -> Peer:
    from scipy import linalg, special

    return Peer(
        name="numpy",
        xp=np,
        erf=special.erf,
        convolve=numpy_convolution,
        place=np.asarray,
        compile=lambda function: function,
        wait=contiguous,
        linalg=linalg,
    )


def contiguous(result: Any) -> Any:
    """A view does not count as a result: a transpose is copied, as in the other libraries."""
    for leaf in leaves(result):
        np.asarray(leaf, order="C")
    return result


def wait_for_each(result: Any) -> Any:
    if hasattr(result, "block_until_ready"):
        return result.block_until_ready()
    for leaf in leaves(result):
        leaf.block_until_ready()
    return result


def leaves(result: Any) -> Iterator[Any]:
    """The arrays of nested tuples, lists and dictionaries."""
    if isinstance(result, tuple | list):
        for part in result:
            yield from leaves(part)
    elif isinstance(result, dict):
        for key in sorted(result):
            yield from leaves(result[key])
    elif result is not None:
        yield result


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
