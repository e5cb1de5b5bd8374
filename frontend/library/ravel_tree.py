"""A tree as one vector: `ravel_pytree`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from . import numpy as xp
from .numpy.arguments import shape_error
from .numpy.promotion import asarray_of, promote, type_text


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The leaves of a tree as one vector of the dtype they meet in, and the function from it to the tree.

    The function returns each leaf in its own dtype and raises `ShapeError` for a vector of another length.
    """
    leaves, structure = tree.flatten(pytree)
    values = [asarray_of(leaf) for leaf in leaves]
    if not values:
        return xp.zeros((0,), np.float32), lambda _: tree.unflatten(structure, [])
    shapes, dtypes = [v.shape for v in values], [v.dtype for v in values]
    flat = xp.concatenate([xp.ravel(v) for v in promote(*values)])
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])

    def unravel(vector: Any) -> Any:
        given = asarray_of(vector)
        if tuple(given.shape) != (int(ends[-1]),):
            raise shape_error(f"unravel: expected a vector of {ends[-1]} elements, got {type_text(given)}")
        parts = xp.split(given, ends[:-1].tolist())
        made = [xp.astype(xp.reshape(p, s), d) for p, s, d in zip(parts, shapes, dtypes, strict=True)]
        return tree.unflatten(structure, made)

    return flat, unravel
