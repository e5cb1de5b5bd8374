"""Names of `jax._src.array`: the class of JAX's arrays, and the function that their pickles call.

A pickle of a JAX array names `jax._src.array._reconstruct_array`. After `adze.compat.install()` pickle finds
it here, so that parameters that JAX wrote (with `pickle`, or `numpy.save` of objects) are read again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..staging.placement import device_put
from ..tracing.array import Array

ArrayImpl = Array


def _reconstruct_array(
    fun: Callable[..., Any], args: tuple[Any, ...], arr_state: Any, aval_state: dict[str, Any]
) -> Array:
    """The array of a pickle: `fun(*args)` makes a NumPy array, `arr_state` has its shape, dtype and elements.

    `aval_state` says whether the array is weakly typed (`weak_type`). Elements of 64 bits get 32 while
    `jax_enable_x64` is off, as in JAX. Source: `jax/_src/array.py`.
    """
    elements = fun(*args)
    elements.__setstate__(arr_state)
    array: Array = device_put(elements)
    array.weak_type = bool(aval_state.get("weak_type", False))
    return array


__all__: list[str] = []
