"""Questions about whole arrays (`allclose`, `array_equal`, `isscalar`), `apply_along_axis`, devices, and the
inspection functions of the array API standard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....dialects.types import BOOL, INT64
from ...tracing.array import Array
from ...tracing.interpreter import ops
from ...tracing.sizes import Dim, minimum
from .arguments import argument_error, count_array, scalar
from .dtypes import default_dtypes, isdtype
from .joining import stack
from .logic import equal, isclose, isnan, logical_and, logical_or
from .promotion import asarray_of, same_shape
from .reductions import all as all_of
from .reshaping import moveaxis


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether all elements are close; a 0-d boolean array."""
    return all_of(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether shapes and all elements are equal; a 0-d boolean array."""
    x, y = asarray_of(a1), asarray_of(a2)
    if x.ndim != y.ndim:
        return scalar(False, BOOL)
    unlike = [(m, n) for m, n in zip(x.shape, y.shape, strict=True) if not same_shape((m,), (n,))]
    if any(isinstance(m, int) and isinstance(n, int) for m, n in unlike):
        return scalar(False, BOOL)
    if unlike:
        common = tuple(slice(minimum(m, n)) for m, n in zip(x.shape, y.shape, strict=True))
        x, y = x[common], y[common]
    same = equal(x, y)
    result = all_of(logical_or(same, logical_and(isnan(x), isnan(y))) if equal_nan else same)
    for m, n in unlike:
        result = logical_and(result, equal(count_array(m, INT64), count_array(n, INT64)))
    return result


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether all elements are equal after broadcasting; a 0-d boolean array."""
    return all_of(equal(a1, a2))


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`func1d` of each vector along `axis`, stacked; the sizes of the other axes must be static."""
    value = moveaxis(asarray_of(arr), axis, -1)
    rows = value.shape[:-1]
    if any(isinstance(n, Dim) for n in rows):
        raise argument_error("apply_along_axis: the other axes must have static sizes", "use adze.vmap")
    results = [asarray_of(func1d(value[index], *args, **kwargs)) for index in np.ndindex(*rows)]
    if not results:
        raise argument_error("apply_along_axis: there are no vectors to apply the function to")
    stacked = stack(results)
    result = ops.reshape(stacked, shape=(*rows, *results[0].shape))
    for offset in range(results[0].ndim):
        result = moveaxis(result, len(rows) + offset, (axis % asarray_of(arr).ndim) + offset)
    return result


def iterable(y: Any) -> bool:
    """Whether `y` can be iterated over."""
    return np.iterable(y)


def isscalar(element: Any) -> bool:
    """Whether `element` is a scalar of Python or NumPy; a 0-d array is not."""
    return np.isscalar(element)


def to_device(x: Any, device: Any, /) -> Any:
    """The array on `device`; a traced array stays where its program runs."""
    value = asarray_of(x)
    if not isinstance(value, Array):
        return value
    if device in ("host", None):
        return Array(value.numpy())
    from ....runtime.execute.array import from_host  # loads IREE's runtime, which the namespace does not need

    return Array(from_host(value.numpy(), getattr(device, "name", device)))


__array_api_version__ = "2024.12"


class Information:
    """What `__array_namespace_info__` of the array API standard says of adze."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and data dependent shapes exist for concrete arrays only, so: not."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": None}

    def default_device(self) -> str:
        """Arrays are made in host memory."""
        return "host"

    def devices(self) -> list[str]:
        """Where arrays outside compiled programs live."""
        return ["host"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """The dtypes of new arrays by kind."""
        return default_dtypes()

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The dtypes of the standard by name, of one kind when given."""
        names: Sequence[str] = (
            *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("float32", "float64", "complex64", "complex128"),
        )
        return {n: np.dtype(n) for n in names if kind is None or isdtype(np.dtype(n), kind)}


def __array_namespace_info__() -> Information:
    """The inspection functions of the array API standard."""
    return Information()
