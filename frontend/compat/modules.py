"""`Forwarding`: a module under JAX's name whose contents are looked up in modules of adze.

Input: JAX's name of a module. Output: a module with the names that adze has there. Idea: what
`adze.numpy` has is `jax.numpy`'s, name by name; a module of `STAND_INS` comes first where JAX's place of a
name is another one, or where clients of JAX import what adze has no use for.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType
from typing import Any, Final

from .narrow_dtypes import with_narrow_dtypes
from .parameter_orders import in_jax_order
from .weak_types import with_weak_types

ADZE: Final = __name__.partition(".")[0]

STAND_INS: Final = {
    "": "top",
    "ad": "cotangents",
    "core": "core",
    "custom_derivatives": "derivatives",
    "distributed": "job",
    "debug": "hosts",
    "dtypes": "kinds",
    "experimental": "experimental",
    "experimental.array_serialization": "empty",
    "experimental.array_serialization.serialization": "parts",
    "experimental.colocated_python": "parts",
    "experimental.colocated_python.serialization": "parts",
    "experimental.hijax": "hijax",
    "experimental.mesh_utils": "meshes",
    "experimental.multihost_utils": "distributed_helpers",
    "experimental.pallas": "pallas",
    "experimental.pallas.mosaic_gpu": "pallas",
    "experimental.pallas.tpu": "pallas",
    "experimental.pallas.triton": "pallas",
    "experimental.pjit": "older_names",
    "experimental.random": "stateful_random",
    "experimental.shard_map": "older_names",
    "experimental.x64_context": "experimental",
    "extend": "empty",
    "extend.backend": "backends",
    "extend.core": "core",
    "extend.core.primitives": "primitives",
    "extend.ifrt_programs": "parts",
    "extend.linear_util": "partial_tracing",
    "extend.source_info_util": "functions",
    "api_util": "functions",
    "interpreters": "empty",
    "interpreters.ad": "interpreters",
    "interpreters.batching": "interpreters",
    "interpreters.mlir": "interpreters",
    "interpreters.partial_eval": "partial_tracing",
    "interpreters.xla": "interpreters",
    "interpreters.pxla": "interpreters",
    "linear_util": "partial_tracing",
    "monitoring": "monitoring",
    "sharding": "sharding",
    "tree": "tree_names",
    "tree_util": "tree_names",
    "stages": "stages",
    "version": "top",
    "numpy": "array_names",
    "lax": "primitives",
    "random": "random_names",
    "_src": "parts",
    "_src.api": "top",
    "_src.api_util": "functions",
    "_src.array": "pickled_arrays",
    "_src.checkify": "empty",
    "_src.core": "core",
    "_src.dispatch": "functions",
    "_src.distributed": "job",
    "experimental.layout": "formats",
    "_src.dtypes": "kinds",
    "_src.lax": "empty",
    "_src.lax.lax": "primitives",
    "_src.literals": "core",
    "_src.traceback_util": "functions",
    "_src.tree_util": "tree_names",
    "_src.util": "utilities",
    "util": "utilities",
}
"""JAX's module -> the file of this folder whose names come before adze's."""


_ASKED_FOR: Final = (
    *("__version__", "__version_info__"),
    *("__array_namespace_info__", "__array_api_version__"),  # by which SciPy knows jax.numpy
)


class Forwarding(ModuleType):
    """A module whose names are those of other modules, each looked up when it is first used."""

    def __init__(self, name: str, jax_name: str, homes: list[ModuleType]) -> None:
        super().__init__(name, f"The names of `{jax_name}` in adze.")
        self._jax_name = jax_name
        self._homes = homes
        self.__path__: list[str] = []
        listed = [n for home in homes for n in getattr(home, "__all__", ())]
        self.__all__ = sorted(set(listed))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _ASKED_FOR:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        inner = f"{self._jax_name}.{name}".removeprefix("jax.")
        for home in self._homes if inner not in STAND_INS else ():
            value = getattr(home, name, self)
            if value is self:
                continue
            if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == ADZE:
                break  # a module of adze under JAX's name forwards too
            value = with_weak_types(self._jax_name, name, with_narrow_dtypes(self._jax_name, value))
            value = in_jax_order(self._jax_name, name, value)
            setattr(self, name, value)
            return value
        try:
            return importlib.import_module(f"{self.__name__}.{name}")
        except ModuleNotFoundError:
            raise AttributeError(
                f"adze has no {self._jax_name}.{name} (docs/coming_from_jax.md lists what is there)"
            ) from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


PUBLIC: Final = {"_src.api": "", "_src.checkify": "experimental.checkify", "_src.lax.lax": "lax"}
"""Where JAX makes names public that clients import from its private modules."""

PRIVATE: Final = ("_src.", "interpreters.")
"""Modules of JAX whose every name can be imported, and is refused where it is used."""


def _stand_in(path: str) -> str | None:
    return STAND_INS.get(path, "parts" if _is_private(path) else None)


def _is_private(path: str) -> bool:
    """Whether a path can be a module of `PRIVATE`; a name with an underscore is a function, or absent."""
    return path.startswith(PRIVATE) and not path.rpartition(".")[2].startswith("_")


def homes_of(path: str) -> list[ModuleType]:
    """The modules that hold the names of JAX's module `path` (without `jax.`); empty where adze has none."""
    homes = []
    stand_in = _stand_in(path)
    if stand_in is not None:
        homes.append(importlib.import_module(f"{__package__}.{stand_in}"))
    public = PUBLIC.get(path, path)
    name = f"{ADZE}.{public}".rstrip(".")
    if not public.startswith(("_", "compat", "frontend", "passes", "runtime", "dialects", "cli")) and _exists(
        name
    ):
        homes.append(importlib.import_module(name))
    if _is_private(path) and stand_in != "parts":
        homes.append(importlib.import_module(f"{__package__}.parts"))
    return homes


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
