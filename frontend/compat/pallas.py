"""Names of Pallas, JAX's language for kernels, which adze does not have.

Libraries import it for GPUs and run without it elsewhere. Every name is a class that cannot be made: the
error says so.
"""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError
from ..tracing.locations import user_location_text

__all__: list[str] = []


class OfPallas:
    """A part of Pallas."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UnsupportedError(
            f"{type(self).__name__} is a part of Pallas, which adze does not have",
            where=user_location_text(),
            hint="write the kernel with jax.numpy: adze compiles its ops to kernels",
        )


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return type(name, (OfPallas,), {"__doc__": f"Pallas's {name}."})
