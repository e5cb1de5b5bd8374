"""Argument leaves on their way to the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...dialects.types import plain_array
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.array import Array
from ..tracing.default_dtypes import narrowed
from ..tracing.exchange import of_dlpack
from ..tracing.kinds import kind_of
from ..tracing.locations import located, user_location_text
from ..tracing.scalars import scalar_in_dtype, wide_array

if TYPE_CHECKING:
    from ...runtime.execute.array import DeviceArray
    from ...runtime.execute.devices import Device

# From this size on, an array in host memory whose memory programs can share is not copied for them.
SHARE_FROM_BYTES: Final = 1 << 16
_KINDS: Final = {bool: "biufVc", int: "iufVc", float: "fVc", complex: "c"}


def runtime_argument(leaf: Any, dtype: np.dtype, device: Device | None = None) -> DeviceArray | np.ndarray:
    """One argument leaf as the runtime takes it, for a program on `device` if there is one."""
    if type(leaf) is np.ndarray:
        return _narrow_enough(leaf, dtype)
    if isinstance(leaf, Array):
        leaf = leaf if leaf.dtype == dtype else wide_array(leaf)
        if leaf.buffer is not None:
            return leaf.buffer
        return leaf.numpy() if device is None or not device.is_cpu else device_array_on_cpu(leaf, device)
    if isinstance(leaf, np.generic):
        return _narrow_enough(np.asarray(leaf), dtype)
    if isinstance(leaf, (bool, int, float, complex)):
        return _python_scalar(leaf, dtype)
    if isinstance(leaf, np.ndarray):
        with located():
            return np.asarray(plain_array(leaf))
    if hasattr(leaf, "__dlpack__"):
        found = of_dlpack(leaf)
        return found.buffer if isinstance(found, Array) else found
    if isinstance(leaf, (str, bytes)) or leaf is None or callable(leaf):
        raise ArgumentTypeError(
            f"expected an array or a number, got {type(leaf).__name__}: {str(leaf)[:60]!r}",
            where=user_location_text(),
        )
    if isinstance(leaf, (list, tuple)):
        return _numbers(leaf, dtype)
    return np.asarray(leaf)


def _narrow_enough(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array of NumPy's in `dtype` where programs written for JAX narrow it to that, else as it is."""
    is_wide = array.dtype != dtype and narrowed(array.dtype) == dtype
    return array.astype(dtype) if is_wide else array


def view_on_cpu(array: Array, device: Device) -> Any:
    """The elements of an array in host memory as programs on CPUs take them; `device` is one of these.

    It is made for the first call and kept, so that no later call copies. Where a large array lies in memory
    that programs cannot share, which NumPy's own mostly is, the copy takes its place.
    """
    if array._view is None:
        from ...runtime.execute.array import from_host

        is_large = array.nbytes >= SHARE_FROM_BYTES
        held = from_host(array.numpy(), device, copy=None if is_large else True)
        if is_large:
            array._host = held.numpy()
        array._view = held.view
        if array.wide is None:
            array.call_kind = kind_of(array.shape, array.dtype, device, array.weak_type)
    return array._view


def device_array_on_cpu(array: Array, device: Device) -> DeviceArray:
    """`view_on_cpu` with its shape and dtype."""
    from ...runtime.execute.array import DeviceArray

    return DeviceArray(view_on_cpu(array, device), array.shape, array.dtype, device)


def _numbers(leaf: Any, dtype: np.dtype) -> np.ndarray:
    """Nested lists of Python numbers in the dtype of their parameter, when that holds each of them."""
    shape: list[int] = []
    level = [leaf]
    while level and all(isinstance(entry, (list, tuple)) for entry in level):
        if len({len(entry) for entry in level}) > 1:
            raise _ragged()
        shape.append(len(level[0]))
        level = [entry for inner in level for entry in inner]
    if any(isinstance(entry, (list, tuple)) for entry in level):
        raise _ragged()
    flat = [runtime_argument(entry, dtype) for entry in level]
    for entry in flat:
        if tuple(entry.shape) or entry.dtype != dtype:
            raise ArgumentError(
                f"a list for an argument of dtype {dtype.name} holds an array of dtype {entry.dtype.name}",
                where=user_location_text(),
                hint=f"make one array of it: numpy.asarray(..., dtype={dtype.name!r})",
            )
    return np.array([np.asarray(entry) for entry in flat], dtype=dtype).reshape(shape)


def _ragged() -> ArgumentError:
    return ArgumentError(
        "a list for an argument is no full box of numbers: its lists differ in length or depth",
        where=user_location_text(),
    )


def _python_scalar(leaf: bool | int | float | complex, dtype: np.dtype) -> np.ndarray:
    """A Python number in the dtype of its parameter, when that holds it."""
    kind = type(leaf) if type(leaf) in _KINDS else next(k for k in _KINDS if isinstance(leaf, k))
    if dtype.kind in _KINDS[kind]:
        return scalar_in_dtype(leaf, dtype).numpy()
    raise ArgumentTypeError(
        f"an argument of dtype {dtype.name} was given the Python {kind.__name__} {leaf!r}",
        where=user_location_text(),
        hint=f"give a value that {dtype.name} holds, or trace the function again at this one",
    )
