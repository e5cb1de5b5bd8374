"""Names of `jax` itself that adze has elsewhere or under another class.

`Array` is the class of traced and concrete arrays alike: `isinstance(x, jax.Array)` holds for both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...runtime.execute.devices import Device as Device
from .. import tree
from ..errors import UnsupportedError
from ..staging.jax_settings import Config
from ..tracing.array import ArrayMethods as Array
from ..tracing.frames import at_compile_time as ensure_compile_time_eval
from ..tracing.locations import user_location_text
from .sharding import NamedSharding as NamedSharding
from .sharding import P as P

__version__ = "0.10.2"
__version_info__ = (0, 10, 2)
"""The JAX whose names are followed, for clients that ask."""


class ClientConfig(Config):
    """`jax.config` as clients see it: what they ask to choose a default dtype says that it is float32.

    `jax_enable_x64` is False until it is set, though 64-bit arrays work; set it, and libraries that ask make
    float64 parameters, as they do with JAX.
    """

    def __init__(self) -> None:
        super().__init__()
        self._values["jax_enable_x64"] = False

    def update(self, name: str, value: Any) -> None:
        if name == "jax_enable_x64":
            self._values[name] = bool(value)
        else:
            super().update(name, value)

    @property
    def x64_enabled(self) -> bool:
        """Whether `jax_enable_x64` was set."""
        return bool(self._values["jax_enable_x64"])


config = ClientConfig()


def local_devices(process_index: int | None = None, backend: str | None = None) -> list[Any]:
    """The devices of this process: `adze.devices()`."""
    from ..staging.machine import devices

    return devices()


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: Any = (),
    **_: Any,
) -> Callable[..., Any]:
    """`fun` over the one device of a program: the mapped axes are of size 1, as they are in JAX there.

    Raises `UnsupportedError` for axes of other sizes.
    """
    from ..staging.jit import jit
    from ..transforms.vmap import vmap

    if static_broadcasted_argnums not in ((), None):
        raise UnsupportedError("pmap(static_broadcasted_argnums=...)", where=user_location_text())
    mapped = jit(vmap(fun, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name))
    axes = in_axes if isinstance(in_axes, (tuple, list)) else None

    @functools.wraps(fun)
    def call(*args: Any) -> Any:
        for i, arg in enumerate(args):
            axis = in_axes if axes is None else axes[i]
            for leaf in tree.leaves(arg) if isinstance(axis, int) else ():
                if np.shape(leaf)[axis] != 1:
                    raise UnsupportedError(
                        f"pmap over {np.shape(leaf)[axis]} devices: a program of adze runs on one",
                        where=user_location_text(),
                        hint="write jit(vmap(...))",
                    )
        return mapped(*args)

    return call


__all__ = [
    "Array",
    "Device",
    "NamedSharding",
    "P",
    "config",
    "ensure_compile_time_eval",
    "local_devices",
    "pmap",
]
