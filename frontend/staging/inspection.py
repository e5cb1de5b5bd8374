"""What programs written for JAX ask about values, devices and traced functions.

Input: arrays, trees, functions. Output: types, devices, printed programs; all under JAX's names.
"""

from __future__ import annotations

import functools
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import tree
from ..tracing.interpreter import as_value
from ..tracing.specs import ShapeDtype
from .jit import jit, trace
from .shape_evaluation import eval_shape


def typeof(x: Any) -> ShapeDtype:
    """The type of an array, a tracer or a number: its shape and dtype, printed as `f32[2,3]`."""
    value = as_value(x)
    return ShapeDtype(value.shape, value.dtype)


class TracedText:
    """A traced function as `make_jaxpr` returns it: it prints one op a line."""

    def __init__(self, traced: Any) -> None:
        self.traced = traced

    def __str__(self) -> str:
        return str(self.traced.pretty())

    __repr__ = __str__

    @property
    def jaxpr(self) -> TracedText:
        """Itself: what it prints has no constants beside it."""
        return self

    @property
    def in_avals(self) -> list[ShapeDtype]:
        """The types of the arguments."""
        return [ShapeDtype(tuple(p.type.shape), p.type.dtype) for p in self.traced.parameters]

    @property
    def out_avals(self) -> list[ShapeDtype]:
        """The types of the results."""
        program = self.traced.program
        pairs = zip(program.result_shapes, program.result_types, strict=True)
        return [ShapeDtype(shape, kind.dtype) for shape, kind in pairs]


def make_jaxpr(
    fun: Callable[..., Any], static_argnums: Any = (), return_shape: bool = False
) -> Callable[..., Any]:
    """A function of arguments (or specs) that traces `fun` and returns its ops, which print one a line.

    They are ops of adze, not of JAX. With `return_shape` the tree of the result types comes too.
    """
    traceable = jit(fun, static_argnums=static_argnums)

    @functools.wraps(fun)
    def make(*args: Any, **kwargs: Any) -> Any:
        text = TracedText(trace(traceable, *args, **kwargs))
        return (text, eval_shape(traceable, *args, **kwargs)) if return_shape else text

    return make


def block_until_ready(x: Any) -> Any:
    """The tree `x` itself: calls of adze return when their results are there."""
    return x


def device_get(x: Any) -> Any:
    """The tree `x` with its arrays as NumPy arrays."""
    return tree.map(np.asarray, x)


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """`fun` itself: ops carry the user's line, which names them."""
    return fun


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """A context that changes nothing: ops carry the user's line, which names them."""
    yield


def default_backend() -> str:
    """The kind of the device that programs run on by default: `cpu`."""
    return "cpu"


def process_index(backend: str | None = None) -> int:
    """0: a program is one process."""
    return 0


def process_count(backend: str | None = None) -> int:
    """1: a program is one process."""
    return 1


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of the processes: 0 alone."""
    return [0]


def device_count(backend: str | None = None) -> int:
    """1: a program runs on one device."""
    return 1


def clear_caches() -> None:
    """Forget what JAX would keep between calls; jitted functions here own their programs (`clear_cache`)."""


def effects_barrier() -> None:
    """Return at once: calls of adze return when their effects are done."""


def print_environment_info(return_string: bool = False) -> str | None:
    """Print (or return) the versions that a report of a problem needs."""
    text = f"python: {sys.version}\nnumpy: {np.__version__}\nplatform: {platform.platform()}\n"
    if return_string:
        return text
    print(text)
    return None


host_id, host_count, host_ids = process_index, process_count, process_indices
local_device_count = device_count
