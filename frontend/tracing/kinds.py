"""Kinds of arrays: what a compiled program asks of an argument, as one object that is compared by identity.

Input: shape, dtype, the device that holds the elements, and whether the dtype yields to others. Output: a
`Kind`, the same object for the same four, so that a tuple of kinds is a key that hashes without looking at
shapes or dtypes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import numpy as np

if TYPE_CHECKING:
    from ...runtime.execute.devices import Device


class Kind:
    """Shape, dtype and device of an array; get one with `kind_of`."""

    __slots__ = ("__weakref__", "device", "dtype", "is_weak", "nbytes", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, device: Device, is_weak: bool) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.is_weak = is_weak
        self.nbytes = math.prod(shape, start=dtype.itemsize)

    def __repr__(self) -> str:
        weak = ", weak" if self.is_weak else ""
        return f"Kind({self.shape}, {self.dtype.name}, {self.device.name}{weak})"


def kind_of(shape: tuple[int, ...], dtype: np.dtype, device: Device, is_weak: bool = False) -> Kind:
    """The kind of arrays of this shape and dtype on this device."""
    key = (shape, dtype, device, is_weak)
    kind = _KINDS.get(key)
    return kind if kind is not None else _KINDS.setdefault(key, Kind(*key))


_KINDS: Final[WeakValueDictionary[tuple[tuple[int, ...], np.dtype, Device, bool], Kind]] = (
    WeakValueDictionary()
)
