"""`adze.Array`: the class that every array is an instance of, traced or concrete, as `jax.Array` is.

Input: a value. Output: `isinstance(x, adze.Array)` for both kinds. Idea: arrays have two classes that share
`ArrayMethods`; this one makes concrete arrays and is asked about both.
"""

from __future__ import annotations

from typing import Any

from .array import Array as ConcreteArray
from .array import ArrayMethods


class _AnyArray(type):
    """The class of a class whose instances are all arrays."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, ArrayMethods)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, ArrayMethods)


class Array(ConcreteArray, metaclass=_AnyArray):
    """An array: `isinstance(x, adze.Array)` holds for concrete and for traced ones.

    `adze.Array(x)` is a concrete array of the elements of a NumPy array; `adze.numpy.asarray` takes all else.
    `numpy.asarray(x)` returns the elements of a concrete one, without a copy where the device's memory is the
    host's.
    """

    __slots__ = ()

    def __new__(cls, value: Any) -> Any:
        return ConcreteArray(value)
