"""Whether JAX's rules hold where adze has others: for code that `adze.compat` runs.

Input: the user's frame. Output: yes in a process where `adze.compat.install()` answers `import jax`, and in a
module that imports `adze.compat.jax`. Idea: asked only where the rules differ, so that nothing else pays.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

import numpy as np

from .locations import user_frames

PREFIX: Final = f"{__name__.partition('.')[0]}.compat.jax"
"""The package whose modules have JAX's names."""


FLOAT0: Final = np.dtype([("float0", np.void, 0)])
"""JAX's dtype of the tangents of integers: arrays of it have shapes and no elements."""


class Installed:
    """Whether `import jax` is answered by adze in this process."""

    is_on: bool = False


def follows_jax() -> bool:
    """Whether the user's current line is of a program that is written for JAX."""
    if Installed.is_on:
        return True
    return any(_imports_jax(scope) for f in user_frames(1) for scope in (f.f_globals, f.f_locals))


def array_text(elements: np.ndarray, weak_type: bool) -> str:
    """An array as JAX prints it."""
    width = np.get_printoptions()["linewidth"]
    text = f"[], shape={elements.shape}"
    if elements.size:
        text = np.array2string(elements, prefix="Array(", suffix=",", separator=", ", max_line_width=width)
    ending = f"dtype={elements.dtype.name}{', weak_type=True' if weak_type else ''})"
    last_line = len(text) - text.rfind("\n") + 1
    space = " " if last_line + len(ending) + 1 <= width else " " * len("Array(")
    return f"Array({text},{space}{ending}"


def _imports_jax(scope: dict[str, Any]) -> bool:
    modules = (value for value in scope.values() if isinstance(value, ModuleType))
    return any(f"{module.__name__}.".startswith(f"{PREFIX}.") for module in modules)
