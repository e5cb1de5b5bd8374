"""Whether JAX's rules hold where adze has others: for code that `adze.compat` runs.

Input: the user's frame. Output: yes in a process where `adze.compat.install()` answers `import jax`, and in a
module that imports `adze.compat.jax`. Idea: asked only where the rules differ, so that nothing else pays.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from .locations import user_frames

PREFIX: Final = f"{__name__.partition('.')[0]}.compat.jax"
"""The package whose modules have JAX's names."""


class Installed:
    """Whether `import jax` is answered by adze in this process."""

    is_on: bool = False


def follows_jax() -> bool:
    """Whether the user's current line is of a program that is written for JAX."""
    if Installed.is_on:
        return True
    return any(_imports_jax(scope) for f in user_frames(1) for scope in (f.f_globals, f.f_locals))


def _imports_jax(scope: dict[str, Any]) -> bool:
    modules = (value for value in scope.values() if isinstance(value, ModuleType))
    return any(f"{module.__name__}.".startswith(f"{PREFIX}.") for module in modules)
