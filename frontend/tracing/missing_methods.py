"""The error for an attribute that arrays do not have, which says what other libraries' methods are here.

Input: an array and a name, such as `unsqueeze` of PyTorch. Output: Python's AttributeError, or one that says
what to write instead. Idea: most methods of other libraries are functions of `adze.numpy` or `adze.nn`.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import MissingMethodError
from .locations import user_location_text
from .operators import library_function

_has_function = library_function("has_function")

_INSTEAD: Final = {
    **dict.fromkeys(
        ("backward", "requires_grad", "requires_grad_", "grad", "retain_grad"),
        "derivatives are functions of functions: adze.grad(loss)(x)",
    ),
    **dict.fromkeys(("cuda", "cpu", "to"), "write adze.device_put(x, device), or x.astype(dtype)"),
    **dict.fromkeys(("detach", "data_ptr"), "write adze.lax.stop_gradient(x); np.asarray(x) has its memory"),
    "numpy": "write np.asarray(x) outside the traced function",
    "eval": "write np.asarray(x) outside the traced function",
    "clone": "arrays never change: x itself will do",
    "contiguous": "arrays have no strides: x itself will do",
    "is_contiguous": "arrays have no strides: leave it out",
    "dim": "write x.ndim",
    "numel": "write x.size",
    "get_shape": "write x.shape",
    "unsqueeze": "write adze.numpy.expand_dims(x, axis)",
    "permute": "write x.transpose(axes)",
    "expand": "write adze.numpy.broadcast_to(x, shape)",
    "expand_as": "write adze.numpy.broadcast_to(x, y.shape)",
    "view_as": "write x.reshape(y.shape)",
    "type_as": "write x.astype(y.dtype)",
    **dict.fromkeys(("mm", "bmm", "mv"), "write x @ y"),
    "float": 'write x.astype("float32")',
    "double": 'write x.astype("float64")',
    "half": 'write x.astype("float16")',
    "bfloat16": 'write x.astype("bfloat16")',
    "int": 'write x.astype("int32")',
    "long": 'write x.astype("int64")',
    "bool": 'write x.astype("bool")',
    "norm": "write adze.numpy.linalg.norm(x)",
    "assign": "arrays never change: write x = x.at[index].set(y)",
}
"""What to write instead of methods of PyTorch and TensorFlow that have no namesake here."""

ASKED_BY_NUMPY: Final = frozenset({"__array_interface__", "__array_struct__"})
"""What `numpy.asarray` looks for before it calls `__array__`, each time."""


def missing_attribute(array: Any, name: str) -> AttributeError:
    """The error for `array.name`."""
    message = f"{type(array).__name__!r} object has no attribute {name!r}"
    hint = None if name.startswith("_") else _hint(name)
    if hint is None:
        return AttributeError(message, name=name, obj=array)
    return MissingMethodError(message, where=user_location_text(), hint=hint)


def _hint(name: str) -> str | None:
    """What to write instead, where that is known."""
    if name in _INSTEAD:
        return _INSTEAD[name]
    if name.endswith("_"):
        return "arrays never change: write x = f(x) with another function, or x.at[index].set(y)"
    for module in ("numpy", "nn", "lax"):
        if _has_function(module, name):
            return f"it is a function: adze.{module}.{name}(x)"
    return None
