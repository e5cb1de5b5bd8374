"""Finds every module called `jax` or `jax.…`: one of names that forward to adze, a test helper of the JAX
checkout (which reaches the library by the same names), or one without names.

A name that adze does not have is a `Missing`: importing it is allowed, using it raises `NotForwarded`, so
that the report counts which names tests need.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

# The only modules taken from the checkout: they hold test code, and reach the library by the names below.
FROM_SOURCES: Final = (
    "jax._src.test_util",
    "jax._src.public_test_util",
    "jax._src.test_loader",
    "jax._src.test_warning_util",
    "jax._src.lax_reference",
    "jax._src.internal_test_util.lax_test_util",
)


class NotForwarded(NotImplementedError):
    """A test used a name of JAX that adze has no counterpart of."""


class Missing:
    """Stands for a name of JAX that is not forwarded, until it is used."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotForwarded(f"no counterpart of {self.__name__}")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __repr__(self) -> str:
        return f"<no counterpart of {self.__name__}>"


class Primitive:
    """A primitive that a test file defines when it is imported; the tests that bind it fail."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("def_"):
            raise AttributeError(name)
        return lambda *_, **__: None  # the rules of JAX's primitives

    def bind(self, *args: Any, **params: Any) -> Any:
        raise NotForwarded(f"no counterpart of jax._src.core.Primitive ({self.name})")


class Names(ModuleType):
    """A module of forwarded names; submodules are imported when they are first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        if full in FROM_SOURCES or full in _tables or any(m.startswith(full + ".") for m in _tables):
            return importlib.import_module(full)
        for library in _fallbacks.get(self.__name__, ()):
            if hasattr(library, name):
                return getattr(library, name)
        return Missing(full)


_tables: Mapping[str, Mapping[str, Any]] = {}
_fallbacks: Mapping[str, Sequence[Any]] = {}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for `jax` and everything below it."""

    def __init__(self, sources: Path) -> None:
        self._sources = sources

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in ("jax", "jaxlib"):
            return None
        if name in FROM_SOURCES:
            file = self._sources.joinpath(*name.split(".")).with_suffix(".py")
            return importlib.util.spec_from_file_location(name, file)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Names(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(_tables.get(module.__name__, {}))


def install(
    sources: Path,
    tables: Callable[[], tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Sequence[Any]]]],
) -> None:
    """Answer imports of `jax` from here on; `tables` says which modules have which names."""
    global _tables, _fallbacks
    if any(name.partition(".")[0] == "jax" for name in sys.modules):
        raise RuntimeError("jax is imported already: install the names first")
    sys.meta_path.insert(0, Finder(sources))
    _tables, _fallbacks = tables()
