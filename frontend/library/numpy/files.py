"""Arrays from and to files, buffers, strings and iterators, and as text: NumPy's functions, whose results are
arrays of adze.

Input: what NumPy's function of the name takes; arrays must be concrete. Floats without a dtype are float32.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....dialects.types import FLOAT32
from .arguments import concrete
from .creation import asarray

get_printoptions = np.get_printoptions
set_printoptions = np.set_printoptions
printoptions = np.printoptions


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write a concrete array to a `.npy` file."""
    np.save(file, concrete("save", arr, "the array"), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several concrete arrays to a `.npz` file: `arr_0` and so on, or by their keywords."""
    values = [concrete("savez", a, "an array") for a in args]
    named = {name: concrete("savez", a, name) for name, a in kwds.items()}
    np.savez(file, *values, allow_pickle=allow_pickle, **named)


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array of a `.npy` file; of a `.npz` file what NumPy returns."""
    found = np.load(file, *args, **kwargs)
    return asarray(found) if isinstance(found, np.ndarray) else found


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """The bytes of an object with a buffer as a vector, copied; by default they are float64, as in NumPy."""
    return asarray(np.frombuffer(buffer, dtype, count, offset).copy())


def fromfile(file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0) -> Any:
    """The numbers of a binary file, or of a text file separated by `sep`, as a vector; by default float64."""
    return asarray(np.fromfile(file, dtype, count, sep, offset))


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1) -> Any:
    """The elements of an iterator as a vector."""
    return asarray(np.fromiter(iter, dtype, count))


def fromstring(string: str, dtype: Any = FLOAT32, count: int = -1, *, sep: str) -> Any:
    """The numbers of a text, separated by `sep`, as a vector."""
    return asarray(np.fromstring(string, dtype, count, sep=sep))


def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """A concrete array as NumPy writes it: `array([1., 2.], dtype=float32)`."""
    value = concrete("array_repr", arr, "the array")
    return np.array_repr(value, max_line_width, precision, suppress_small)


def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """The elements of a concrete array as NumPy writes them: `[1. 2.]`."""
    value = concrete("array_str", a, "the array")
    return np.array_str(value, max_line_width, precision, suppress_small)
