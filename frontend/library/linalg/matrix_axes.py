"""Products and diagonals as `numpy.linalg` names them: the last two axes are the matrices."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from ..numpy import matrices
from ..numpy.arguments import argument_error, shape_error
from ..numpy.einsums import einsum
from ..numpy.products import cross as _cross
from ..numpy.products import outer as _outer
from ..numpy.promotion import asarray_of, type_text


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonal of the last two axes."""
    return matrices.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of the diagonal of the last two axes."""
    return matrices.trace(x, offset, -2, -1, dtype)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors of 3 along `axis`."""
    return _cross(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> Any:
    """The products of all pairs of elements of two vectors."""
    x, y = asarray_of(x1), asarray_of(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise shape_error(f"outer: expected two vectors, got {type_text(x)} and {type_text(y)}")
    return _outer(x, y)


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Any:
    """The product of several matrices in the order that costs least."""
    values = [asarray_of(a) for a in arrays]
    if len(values) < 2:
        raise argument_error("multi_dot: need at least two arrays")
    letters = string.ascii_letters
    terms = [letters[k : k + 2] for k in range(len(values))]
    terms[0] = terms[0][-values[0].ndim :]
    terms[-1] = terms[-1][: values[-1].ndim]
    result = (terms[0][0] if values[0].ndim == 2 else "") + (terms[-1][-1] if values[-1].ndim == 2 else "")
    return einsum(f"{','.join(terms)}->{result}", *values)
