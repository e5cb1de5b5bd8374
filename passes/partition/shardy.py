"""Shardy, OpenXLA's propagation of shardings, as jaxlib has it: the extra `shard`.

Input: a program as text (`text.py`). Output: the same program, in which each array has a layout and each
exchange of parts between ranks is an op. Everything that touches jaxlib is here.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ...dialects.errors import AdzeError

_PASSES: Final = (
    "sdy-add-data-flow-edges",
    "sdy-apply-sharding-constraints",
    "sdy-user-priority-propagate{keep-sharding-rules=true}",
    "func.func(sdy-sink-data-flow-edges)",
    "func.func(sdy-sharding-constraint-to-reshard)",
    "sdy-update-non-divisible-input-output-shardings",
    "sdy-remove-sub-axes-in-input-output-shardings",
    "sdy-close-shardings",
    "func.func(sdy-insert-explicit-reshards{enable-full-version=true})",
    "func.func(sdy-reshard-to-collectives)",
    "canonicalize{enable-patterns={sdy-collective} region-simplify=disabled}",
)


class MissingShardyError(AdzeError, ImportError):
    """A program is to be divided by its shardings, and the package that propagates them is not there."""


@cache
def _bindings() -> tuple[Any, Any, Any, Any]:
    try:
        from jaxlib.mlir import ir, passmanager
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import sdy, stablehlo
    except ImportError as error:
        raise MissingShardyError(
            f"shardings are propagated by Shardy, which jaxlib has: {error}",
            hint="pip install 'adze-compiler[shard]', or write the function for one rank and use shard_map",
        ) from error
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    return ir, passmanager, registry, (sdy, stablehlo)


def propagated(text: str) -> Any:
    """The program with a layout of each array and collectives; `AdzeError` where Shardy refuses it."""
    ir, passmanager, registry, dialects = _bindings()
    context = ir.Context()
    context.append_dialect_registry(registry)
    for dialect in dialects:
        dialect.register_dialect(context)
    context.load_all_available_dialects()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
            for each in _PASSES:
                passmanager.PassManager.parse(f"builtin.module({each})").run(module.operation)
        except ir.MLIRError as error:
            raise AdzeError(f"Shardy cannot divide the program: {error}") from error
    return module
