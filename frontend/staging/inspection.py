"""What programs written for JAX ask about values, devices and traced functions.

Input: arrays, trees, functions. Output: types, devices, printed programs; all under JAX's names.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import tree
from ..sharding.mesh import PartitionSpec, current_mesh
from ..sharding.named import NamedSharding, of_layout
from ..tracing.array import Array
from ..tracing.interpreter import as_value
from ..tracing.jax_rules import Installed
from ..tracing.layouts import UNKNOWN, layout_of
from ..tracing.specs import ShapedArray, ShapeDtype
from ..tracing.varying import axes_of_value, mesh_axes


def typeof(x: Any) -> ShapeDtype:
    """The type of an array, a tracer or a number: its shape and dtype, printed as `f32[2,3]`."""
    value = as_value(x)
    is_weak = Installed.is_on and bool(value.weak_type)
    form = ShapedArray if Installed.is_on else ShapeDtype
    if mesh_axes():
        return form(value.shape, value.dtype, weak_type=is_weak, vma=axes_of_value(value))
    return form(value.shape, value.dtype, weak_type=is_weak, sharding=_stated_sharding(value))


def _stated_sharding(value: Any) -> NamedSharding | None:
    """How a value lies on the mesh in force, as part of its type: as it was put there, or whole."""
    layout = layout_of(value)
    if layout is not None and layout is not UNKNOWN:
        return of_layout(layout)
    mesh = current_mesh()
    if mesh is None or not mesh.are_all_axes_explicit:
        return None
    return NamedSharding(mesh, PartitionSpec(*(None,) * value.ndim))


def block_until_ready(x: Any) -> Any:
    """The tree `x` itself: calls of adze return when their results are there."""
    return x


def device_get(x: Any) -> Any:
    """The tree `x` with its arrays as NumPy arrays; other leaves stay as they are. Arrays of GPUs are copied
    together."""
    for leaf in tree.leaves(x):
        if isinstance(leaf, Array):
            leaf.copy_to_host_async()
    return tree.map(lambda leaf: np.asarray(leaf) if hasattr(leaf, "__array__") else leaf, x)


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
