"""The import finder that answers `import adze.compat.jax.numpy`, and `import jax.numpy` while installed.

Input: names of modules. Output: `Forwarding` modules, one for both names. Idea: a finder in front of
`sys.meta_path`, so that an installed JAX is not looked at; nothing of another package is patched.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Final, Self

from ..errors import TraceError
from ..staging.described import Shown
from ..tracing.jax_rules import PREFIX
from ..tracing.jax_rules import Installed as Rules
from ..tree.key_order import KeyOrder
from .modules import Forwarding, homes_of
from .wide_defaults import forget_dtypes

REAL: Final = ("jax", "jaxlib")


class _Loader(importlib.abc.Loader):
    """Loads a module of the shim, under either of its names."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        path = _path_of(spec.name)
        name = f"{PREFIX}.{path}".rstrip(".")
        if spec.name != name:
            return importlib.import_module(name)
        return Forwarding(name, f"jax.{path}".rstrip("."), homes_of(path or ""))

    def exec_module(self, module: ModuleType) -> None:
        """Names are looked up when they are used."""


class _Finder(importlib.abc.MetaPathFinder):
    """Answers names of the shim; `is_installed` decides about `jax` itself."""

    is_installed = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        inner = _path_of(fullname)
        if inner is None or (fullname.partition(".")[0] == "jax" and not self.is_installed):
            return None
        if inner and not homes_of(inner):
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=True)


_FINDER: Final = _Finder()


def _path_of(name: str) -> str | None:
    """The part of a name behind `jax.`, None for names of others."""
    for prefix in (PREFIX, "jax"):
        if name == prefix:
            return ""
        if name.startswith(f"{prefix}."):
            return name.removeprefix(f"{prefix}.")
    return None


def register() -> None:
    """Let modules of `adze.compat.jax` be imported."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


class Installed:
    """What `install` returns: a context whose end removes the answer to `import jax` again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        uninstall()


def install() -> Installed:
    """Answer `import jax`, `import jax.numpy` and so on with adze from now on, in this process.

    Libraries that are written for JAX (optax, equinox, ...) then run on adze. `uninstall()`, or the end of
    `with adze.compat.install():`, removes the answer; modules that were imported meanwhile keep it. Raises
    `ImportError` when JAX itself is imported already: what holds its objects would meet adze's.
    """
    register()
    loaded = sys.modules.get("jax")
    if loaded is not None and not isinstance(loaded, Forwarding):
        raise JaxIsImportedError(
            f"adze.compat.install(): jax is imported already: {getattr(loaded, '__file__', '')}",
            hint="call install() before anything imports jax, or write `import adze.compat.jax as jax`",
        )
    _switch(is_on=True)
    importlib.import_module("jax")
    return Installed()


def uninstall() -> None:
    """Remove what `install` added: `import jax` finds JAX again, where it is installed."""
    _switch(is_on=False)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "jax" and isinstance(module, Forwarding):
            del sys.modules[name]


def _switch(is_on: bool) -> None:
    """Let JAX's rules hold in this process, or adze's again."""
    if Rules.is_on != is_on:
        forget_dtypes()
    _FINDER.is_installed = Rules.is_on = KeyOrder.is_sorted = is_on
    trees = importlib.import_module(f"{__package__}.tree_names") if is_on else None
    Shown.structure = None if trees is None else trees.structure


class JaxIsImportedError(TraceError, ImportError):
    """`adze.compat.install()` came after an import of JAX itself."""
