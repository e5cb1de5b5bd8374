"""Integers of 8 and 16 bits that kernels made of SPIR-V widen without their sign.

Input: a lowered module for Vulkan or Metal. Output: the same, where a signed integer of 8 or 16 bits is
widened as an unsigned one, and shifts to the left and back copy its sign. Products that a device computes by
dot products of its own (`dot` in IREE's description of it) stay as they are: these take the integers as they
lie, in tiles that IREE has for static sizes.

Symptom: silently, negative elements of a product count 256 or 65,536 more: eight of them are loaded as 32-bit
    words, and masks and shifts take them apart (MLIR's `RewriteExtOfBitCast`, which extends by zeros).
Seen in: IREE 3.13.
Smallest: `dot_general(a, b, preferred_element_type=int32)` of i8[64,64] and i8[64,64] on lavapipe, of i16
    also for other devices of Vulkan.
Goes when: `tests/gpu/test_sign_extensions.py::test_iree_still_loses_the_sign` fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target, TargetKind, lanes_of_lavapipe
from ...base import Pass
from ...ir.aliases import Operation
from ...ir.functions import functions
from ..plan import target_of

_WIDENED: Final = "arith.extsi"
_GENERIC: Final = "linalg.generic"
_TILES: Final = "compilation_info"
_NARROW: Final = (8, 16)  # bits
_OF_A_DOT: Final = [_WIDENED, _WIDENED, "arith.muli", "arith.addi", "linalg.yield"]


@dataclass(frozen=True)
class SignExtensions(Pass):
    """For Vulkan and Metal, widen signed integers of 8 and 16 bits by shifts, which keep the sign."""

    name = "sign-extensions"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        target = target_of(module)
        if not target.is_spirv:
            return False
        with module.context:
            found = [each for function in functions(module).values() for each in _widened(function)]
            changed = [each for each in found if not (_has_dots(target) and _is_of_a_dot(each))]
            for extension in changed:
                _shift(extension)
        return bool(changed)


def _widened(operation: Operation) -> Iterator[Operation]:
    """The ops within that widen a narrow integer."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name == _WIDENED and inner.operands[0].type in _narrow_types():
                    yield inner
                yield from _widened(inner)


def _narrow_types() -> list[mlir.ir.Type]:
    return [mlir.ir.IntegerType.get_signless(bits) for bits in _NARROW]


def _has_dots(target: Target) -> bool:
    """Whether IREE's description of the device has dot products of integers of 8 bits."""
    return target.kind is TargetKind.VULKAN and not lanes_of_lavapipe(target)


def _is_of_a_dot(extension: Operation) -> bool:
    """Whether an op widens an integer of 8 bits for a product in 32 bits that gets IREE's own tiles: the
    sizes are static, and nothing else is computed."""
    parent = extension.parent.operation
    widths = [mlir.ir.IntegerType(v.type).width for v in (extension.operands[0], extension.results[0])]
    if parent.name != _GENERIC or widths != [8, 32] or _TILES in parent.attributes:
        return False
    if not all(mlir.ir.RankedTensorType(value.type).has_static_shape for value in parent.operands):
        return False
    return [each.operation.name for each in parent.regions[0].blocks[0].operations] == _OF_A_DOT


def _shift(extension: Operation) -> None:
    """Widen an integer as an unsigned one, and copy its sign by shifts."""
    (narrow,), (wide,) = extension.operands, extension.results
    distance = mlir.ir.IntegerType(wide.type).width - mlir.ir.IntegerType(narrow.type).width
    with mlir.ir.InsertionPoint(extension), extension.location:
        count = mlir.arith.constant(wide.type, distance)
        value = mlir.arith.shli(mlir.arith.extui(wide.type, narrow), count)
        wide.replace_all_uses_with(mlir.arith.shrsi(value, count))
    extension.erase()
