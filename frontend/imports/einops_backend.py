"""einops on arrays of adze: `rearrange`, `reduce`, `repeat`, `einsum`, `pack`, traced or not.

Input: einops, which is asked for its base class. Output: a backend, registered with it.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from ..errors import UnsupportedError
from ..library import numpy as xp
from ..tracing.array import Array
from ..tracing.frames import Tracer
from ..tracing.interpreter import as_value

NAME: Final = "adze"
_registered: list[type] = []  # einops finds subclasses of its base class, which only weak references hold


def register_einops() -> None:
    """Let einops take arrays of adze; calling it again changes nothing.

    `einops.array_api`, which asks arrays for their namespace, needs no registration. Raises
    `UnsupportedError` where einops is not installed, or is a version without backends.
    """
    try:
        backends = importlib.import_module("einops._backends")
        base = backends.AbstractBackend
    except (ImportError, AttributeError) as error:
        raise UnsupportedError(f"einops cannot be extended: {error}", hint="pip install einops") from None
    if any(known.framework_name == NAME for known in base.__subclasses__()):
        return
    _registered.append(type("AdzeBackend", (_Methods, base), {"framework_name": NAME}))


class _Methods:
    """What einops asks of a backend."""

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, (Array, Tracer))

    def from_numpy(self, x: Any) -> Any:
        return as_value(x)

    def to_numpy(self, x: Any) -> Any:
        return x.numpy()

    def arange(self, start: int, stop: int) -> Any:
        return xp.arange(start, stop)

    def reshape(self, x: Any, shape: Any) -> Any:
        return xp.reshape(x, tuple(shape))

    def transpose(self, x: Any, axes: Any) -> Any:
        return xp.permute_dims(x, tuple(axes))

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        return getattr(xp, operation)(x, axis=tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return xp.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return xp.expand_dims(x, new_position)

    def tile(self, x: Any, repeats: Any) -> Any:
        return xp.tile(x, tuple(repeats))

    def concat(self, tensors: Any, axis: int) -> Any:
        return xp.concatenate(tensors, axis=axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(as_value(x).dtype.kind in "fcV")

    def einsum(self, pattern: str, *x: Any) -> Any:
        return xp.einsum(pattern, *x)
