"""Arguments of calls that come again: what they are to a program, and how the runtime gets them.

Input: the leaves of the arguments of a call. Output: a key, equal for leaves that a program takes alike, and
for each leaf a function that makes the runtime's view of such leaves. Idea: whether a leaf fits, and how it
is converted, is found out once for a key; later calls convert and check nothing else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...dialects.types import ANY
from ..tracing.array import Array
from ..tracing.scalars import surely_held
from .host import SHARE_FROM_BYTES, view_on_cpu

if TYPE_CHECKING:
    from ...runtime.execute.devices import Device

ViewOf = Callable[[Any], Any]
"""From a leaf to the runtime's view of it; None for a leaf that must be looked at as a whole."""

_SCALARS: Final = frozenset({bool, int, float, complex, *(dtype.type for dtype in ANY)})
HELD: Final[ViewOf] = operator.attrgetter("_view")
"""The view that an array has already."""

UNKNOWN: Final = object()
"""What a short way returns for arguments that it does not know."""


def call_key(leaves: Sequence[Any]) -> tuple[Any, ...] | None:
    """The key of leaves that are arrays or numbers; None where one is something else.

    Python's numbers are known by their class, arrays on a device by their kind, and so are those in host
    memory of which the runtime has a view.
    """
    key: list[Any] = []
    for leaf in leaves:
        cls = type(leaf)
        if cls is Array:
            kind = leaf.call_kind
            if kind is not None:
                key.append(kind)
            elif leaf.wide is None:
                key.append((leaf.shape, leaf.dtype, leaf.weak_type))
            else:
                return None
        elif cls is np.ndarray:
            key.append((leaf.shape, leaf.dtype))
        elif cls in _SCALARS:
            key.append(cls)
        else:
            return None
    return tuple(key)


def views_of(leaves: Sequence[Any], dtypes: Sequence[np.dtype], device: Device) -> list[ViewOf] | None:
    """For each leaf of a call of a program on `device` how its view is made; None where one has no short way.

    `dtypes` are those of the program's arguments.
    """
    views = [_view_of(leaf, dtype, device) for leaf, dtype in zip(leaves, dtypes, strict=True)]
    known = [view for view in views if view is not None]
    return known if len(known) == len(views) else None


def _view_of(leaf: Any, dtype: np.dtype, device: Device) -> ViewOf | None:
    if type(leaf) is Array:
        return _view_of_array(leaf, device)
    from ...runtime.execute.array import buffer_element_type

    element_type = buffer_element_type(dtype)
    if element_type is None:
        return None
    if type(leaf) is np.ndarray:
        return _view_of_numpy(leaf, element_type, device) if leaf.dtype == dtype else None
    if isinstance(leaf, np.generic):
        if leaf.dtype != dtype:
            return None
        return lambda number: device.copy_in(np.asarray(number), element_type)
    held = surely_held(type(leaf), dtype)
    if held is None:
        return None
    low, high = held

    def of_number(number: Any) -> Any:
        return device.copy_in(np.array(number, dtype), element_type) if low <= number <= high else None

    return of_number


def _view_of_array(array: Array, device: Device) -> ViewOf | None:
    kind = array.kind
    if kind is not None:
        fits = kind.device.memory == device.memory and array.weak_type == kind.is_weak
        return HELD if fits else None
    if array.wide is not None or not device.is_cpu:
        return None
    return lambda host: host._view or view_on_cpu(host, device)


def _view_of_numpy(array: np.ndarray, element_type: int, device: Device) -> ViewOf | None:
    """Small arrays are copied; so are large ones whose memory a program cannot share, which most are."""
    from ...runtime.execute.array import is_shareable

    if array.nbytes < SHARE_FROM_BYTES:

        def of_small(small: np.ndarray) -> Any:
            return device.copy_in(small, element_type) if small.flags.c_contiguous else None

        return of_small
    if not device.is_cpu:
        return None

    def of_large(large: np.ndarray) -> Any:
        if not large.flags.c_contiguous or is_shareable(large):
            return None
        return device.copy_in(large, element_type)

    return of_large
