"""Names of `jax` itself that adze has elsewhere or under another class.

`Array` is the class of traced and concrete arrays alike: `isinstance(x, jax.Array)` holds for both.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from .. import tree
from ..errors import ArgumentError, UnsupportedError
from ..sharding.ranks import Rank as Device
from ..staging.jax_settings import Config
from ..staging.jax_settings import config as settings
from ..tracing.array import ArrayMethods as Array
from ..tracing.interludes import at_compile_time as ensure_compile_time_eval
from ..tracing.locations import user_location_text
from .devices import device_count as device_count
from .devices import devices as devices
from .devices import host_count as host_count
from .devices import host_id as host_id
from .devices import host_ids as host_ids
from .devices import local_device_count as local_device_count
from .devices import local_devices as local_devices
from .devices import process_count as process_count
from .devices import process_index as process_index
from .devices import process_indices as process_indices
from .sharding import NamedSharding as NamedSharding
from .sharding import P as P
from .typed_keys import typeof as typeof
from .wide_defaults import set_wide

__version__ = "0.10.2"
__version_info__ = (0, 10, 2)
"""The JAX whose names are followed, for clients that ask."""


class ClientConfig(Config):
    """`jax.config` as clients see it: what they ask to choose a default dtype says that it is float32.

    `jax_enable_x64` is False until it is set, here or by JAX_ENABLE_X64 as for JAX, though 64-bit arrays
    work; set it, and libraries that ask make
    float64 parameters, as they do with JAX.
    """

    def __init__(self) -> None:
        super().__init__()
        asked = os.environ.get("JAX_ENABLE_X64", "").lower()
        self.update("jax_enable_x64", asked in ("1", "true", "t", "yes", "y", "on"))

    def update(self, name: str, value: Any) -> None:
        if name == "jax_enable_x64":
            self._values[name] = bool(value)
            set_wide(bool(value))
        elif name in CHECKS:
            if value not in CHECKS[name]:
                raise ArgumentError(
                    f"{name} cannot be {value!r}, expected one of {', '.join(CHECKS[name])}",
                    where=user_location_text(),
                )
            self._values[name] = value
        else:
            super().update(name, value)
        if name == "jax_num_cpu_devices":
            settings.update(name, value)

    @property
    def x64_enabled(self) -> bool:
        """Whether `jax_enable_x64` was set."""
        return bool(self._values["jax_enable_x64"])

    @property
    def values(self) -> dict[str, Any]:
        """All settings by name."""
        return dict(self._values)

    def read(self, name: str) -> Any:
        """The value of a setting."""
        return getattr(self, name)


config = ClientConfig()

CHECKS: Final = {
    "jax_numpy_dtype_promotion": ("standard", "strict"),
    "jax_numpy_rank_promotion": ("allow", "warn", "raise"),
    "jax_transfer_guard": ("allow", "log", "disallow", "log_explicit", "disallow_explicit"),
}
"""Settings that let JAX refuse programs: they are kept and refuse nothing, as what they allow is the same."""


@contextmanager
def setting(name: str, value: Any) -> Iterator[None]:
    """A context in which a setting has a value."""
    before = config.read(name)
    config.update(name, value)
    try:
        yield
    finally:
        config.update(name, before)


def enable_x64(new_val: bool = True) -> Any:
    """A context in which 64 bits are the default, or 32."""
    return setting("jax_enable_x64", new_val)


def numpy_dtype_promotion(new_val: str = "standard") -> Any:
    """A context of a check that adze does not make: see `CHECKS`."""
    return setting("jax_numpy_dtype_promotion", new_val)


def numpy_rank_promotion(new_val: str = "allow") -> Any:
    """A context of a check that adze does not make: see `CHECKS`."""
    return setting("jax_numpy_rank_promotion", new_val)


def transfer_guard(new_val: str = "allow") -> Any:
    """A context of a check that adze does not make: see `CHECKS`."""
    return setting("jax_transfer_guard", new_val)


transfer_guard_device_to_device = transfer_guard_device_to_host = transfer_guard
transfer_guard_host_to_device = transfer_guard


@contextmanager
def default_device(new_val: Any = None) -> Iterator[None]:
    """A context whose computations run on a device of the CPU, as they do anyway.

    Raises `UnsupportedError` for a device of another kind, which `adze.jit(device=...)` and ADZE_DEVICE name.
    """
    if new_val not in (None, "cpu") and getattr(new_val, "platform", None) != "cpu":
        raise UnsupportedError(
            f"default_device: {new_val} is no device of the CPU",
            where=user_location_text(),
            hint="name it in jit(..., device=...), or set ADZE_DEVICE before the process starts",
        )
    yield


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
    **_: Any,
) -> Callable[..., Any]:
    """`fun` over the devices of this process, one element of the mapped axes each: `jit(vmap(fun))`.

    Collectives over `axis_name` are those of the map. Raises `UnsupportedError` for more elements than there
    are devices (`jax_num_cpu_devices`), and in a job of several processes, which `shard_map` is for.
    """
    from ..staging.jit import jit
    from ..transforms.vmap import vmap

    nums = static_broadcasted_argnums
    static = frozenset((nums,) if isinstance(nums, int) else nums or ())

    def mapped(*args: Any, **kwargs: Any) -> Any:
        fixed = {i: arg for i, arg in enumerate(args) if i in static}
        axes = in_axes
        if isinstance(axes, (tuple, list)):
            axes = tuple(axis for i, axis in enumerate(axes) if i not in static)

        def of_one(*own: Any, **named: Any) -> Any:
            rest = iter(own)
            return fun(*(fixed[i] if i in fixed else next(rest) for i in range(len(args))), **named)

        arrays = [arg for i, arg in enumerate(args) if i not in static]
        return vmap(of_one, in_axes=axes, out_axes=out_axes, axis_name=axis_name, axis_size=axis_size)(
            *arrays, **kwargs
        )

    functools.update_wrapper(mapped, fun)
    compiled = jit(mapped, static_argnums=tuple(static), donate_argnums=donate_argnums)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        count = local_device_count(backend) if devices is None else len(devices)
        axes = in_axes if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
        for i, (arg, axis) in enumerate(zip(args, axes, strict=False)):
            leaves = tree.leaves(arg) if isinstance(axis, int) and i not in static else ()
            for leaf in leaves:
                if np.shape(leaf)[axis] > count or process_count() > 1:
                    raise UnsupportedError(
                        f"pmap over {np.shape(leaf)[axis]} devices, of which each process has {count}",
                        where=user_location_text(),
                        hint="set jax_num_cpu_devices, or write jit(vmap(...)), or shard_map for a job",
                    )
        return compiled(*args, **kwargs)

    return call


def copy_to_host_async(x: Any) -> Any:
    """`x` itself: results are there when a call returns."""
    return x


__all__ = [
    "Array",
    "Device",
    "NamedSharding",
    "P",
    "config",
    "default_device",
    "device_count",
    "devices",
    "enable_x64",
    "ensure_compile_time_eval",
    "local_device_count",
    "local_devices",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "pmap",
    "process_count",
    "process_index",
    "process_indices",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
]
