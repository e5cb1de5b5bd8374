"""adze: ahead-of-time compilation of differentiable array programs.

`adze.jit` compiles a Python function, `adze.trace` shows its IR, `adze.load` runs a saved program.
Array functions are in `adze.numpy`, primitives in `adze.lax`, layers in `adze.nn`. Names are imported
when first used, so that `import adze` costs next to nothing and loading an artifact loads no compiler;
the one list of them is `__init__.pyi`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from .frontend.tracing import imported as _imported  # noqa: F401 (first)

# isort: split
from .frontend.listed_names import ListedNames as _ListedNames
from .frontend.tracing import operators as _operators

_names = _ListedNames(globals())

__all__ = [*_names.modules]


def _array_functions() -> Mapping[str, Callable[..., Any]]:
    """What the operators and methods of arrays are; Python imports this file before any other of adze."""
    try:
        from .frontend.library.operators import TABLE
    except ModuleNotFoundError as error:
        if not _is_left_out(error):
            raise
        from .frontend.tracing.numpy_operators import TABLE as WITHOUT_LIBRARY

        return WITHOUT_LIBRARY

    def namespace() -> Any:
        return importlib.import_module(".numpy", __name__)

    def has_function(module: str, name: str) -> bool:
        return callable(getattr(importlib.import_module(f".{module}", __name__), name, None))

    def of_module(module: str, name: str) -> Callable[..., Any]:
        return lambda *args: getattr(importlib.import_module(f".frontend.{module}", __name__), name)(*args)

    places = {
        "sharding_of": "sharding.arrays",
        "shards_of": "sharding.arrays",
        "laid_out": "sharding.arrays",
        "device_of_jax": "sharding.ranks",
        "lying_as": "sharding.constraints",
        "compiled_loop": "staging.long_loops",
        "jitted_function": "staging.long_loops",
        "name_saved_values": "staging.callable_policies",
        "stablehlo_text": "imports.stablehlo_out.function",
    }
    of_layers_above = {name: of_module(module, name) for name, module in places.items()}
    return {**TABLE, "array_namespace": namespace, "has_function": has_function, **of_layers_above}


_operators.register(_array_functions)


def _is_left_out(error: ModuleNotFoundError) -> bool:
    """Whether a module of adze itself is missing: the distribution adze-runtime has those of loading only."""
    return (error.name or "").startswith(f"{__name__}.")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module(".runtime.distribution", __name__).version()
    try:
        return _names.load(name)
    except ModuleNotFoundError as error:
        if not _is_left_out(error):
            raise
        from .runtime.errors import MissingCompilerError

        raise MissingCompilerError(f"adze.{name}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
