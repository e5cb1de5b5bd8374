"""The passes `outline-layers` and `inline-layers`: IREE divides one of many equal layers into kernels.

Input: lowered IR; then, IREE's phase `flow` of it. Output: equal layers as calls of one function each; then,
the same program without those functions. Idea: IREE's passes over tensors take 40 ms a layer, and some are
quadratic. Up to `flow`, where the program is divided into kernels, a function that is not inlined is
optimized and divided once. Inlined there, it costs nothing when the program runs: what follows sees all.
Layers are cut where IREE would fuse nothing (`equal_layers.py`), but a sum behind the last one may be divided
into other parts than without this, and rounded so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..base import Pass
from ..ir.aliases import Operation
from ..ir.construction import add_function, clone_operation, finish_function, unique_symbol
from ..ir.functions import functions, is_private
from .equal_layers import LEAST_SAVED, Region, equal_regions, may_have_equal_regions

NAME: Final = "adze_layer"
_INLINE: Final = "builtin.module(inline{default-pipeline=},symbol-dce)"


@dataclass(frozen=True)
class OutlineLayers(Pass):
    """Make equal layers of a function calls of one function, which IREE optimizes once."""

    name = "outline-layers"
    leaves_adze = False
    least_saved: str = str(LEAST_SAVED)

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether there are equal layers."""
        groups = _groups(module, int(self.least_saved))
        _outline(module, groups)
        return bool(groups)


@dataclass(frozen=True)
class InlineLayers(Pass):
    """Inline the functions of `outline-layers` in IREE's phase `flow`."""

    name = "inline-layers"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether there were such functions."""
        layers = [o.operation for o in module.body.operations if _is_layer(o.operation)]
        for layer in layers:
            del layer.attributes["inlining_policy"]
        if layers:
            mlir.passmanager.PassManager.parse(_INLINE, module.context).run(module.operation)
        return bool(layers)


def may_have_equal_layers(module: mlir.ir.Module) -> bool:
    """Whether it is worth while to look for equal layers."""
    return any(map(may_have_equal_regions, _exported(module)))


def has_layers(module: mlir.ir.Module) -> bool:
    """Whether `outline-layers` has changed a lowered module."""
    return any(is_private(f) and name.startswith(NAME) for name, f in functions(module).items())


def _groups(module: mlir.ir.Module, least_saved: int) -> list[list[Region]]:
    """The equal layers of the functions that a module exports."""
    return [
        group
        for operations in _exported(module)
        if len(operations) > least_saved
        for group in equal_regions(operations, least_saved)
    ]


def _exported(module: mlir.ir.Module) -> Iterator[list[Operation]]:
    """The ops of each exported function."""
    for function in functions(module).values():
        if not is_private(function) and len(function.regions[0].blocks) == 1:
            yield [child.operation for child in function.regions[0].blocks[0].operations]


def _is_layer(operation: Operation) -> bool:
    return (
        operation.name == "util.func"
        and "inlining_policy" in operation.attributes
        and operation.attributes["sym_name"].value.startswith(NAME)
    )


def _outline(module: mlir.ir.Module, groups: list[list[Region]]) -> None:
    """Replace the regions of each group by calls of a function of the first one's ops."""
    calls = [(region, _call(symbol, region)) for symbol, region in _callees(module, groups)]
    # Operands of one call may be results of another: all are replaced before an op goes.
    for region, call in calls:
        for old, new in zip(region.results, call.results, strict=True):
            old.replace_all_uses_with(new)
    for region, _ in calls:
        for operation in reversed(region.operations):
            operation.erase()


def _callees(module: mlir.ir.Module, groups: list[list[Region]]) -> list[tuple[str, Region]]:
    """Each region with the function that computes it."""
    symbols = [_function(module, regions[0]) for regions in groups]
    return [(symbol, region) for symbol, regions in zip(symbols, groups, strict=True) for region in regions]


def _function(module: mlir.ir.Module, region: Region) -> str:
    """A function of the ops of a region, which IREE does not inline by itself."""
    ir = mlir.ir
    symbol = unique_symbol(module, NAME)
    location = ir.Location.unknown(module.context)
    function, block = add_function(module, symbol, location, [v.type for v in region.operands])
    function.attributes["noinline"] = ir.UnitAttr.get(module.context)
    values = dict(zip(region.operands, block.arguments, strict=True))
    point = ir.InsertionPoint(block)
    for operation in (*region.shared, *region.operations):
        clone_operation(operation, values, point)
    finish_function(function, [values[v] for v in region.results], location)
    return symbol


def _call(symbol: str, region: Region) -> Operation:
    """A call in the place of a region, behind it."""
    ir = mlir.ir
    last = region.operations[-1]
    call = ir.Operation.create(
        "func.call",
        results=[v.type for v in region.results],
        operands=list(region.operands),
        attributes={"callee": ir.FlatSymbolRefAttr.get(symbol, last.context)},
        loc=last.location,
        ip=ir.InsertionPoint(last),
    )
    call.move_after(last)
    return call
