"""Parts of JAX's own tracer that clients name in annotations and in functions that are not called.

Every name is a class that cannot be made: the error says so.
"""

from __future__ import annotations

from typing import Any

from .core import OfJaxprs

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return type(name, (OfJaxprs,), {"__doc__": f"JAX's {name}."})
