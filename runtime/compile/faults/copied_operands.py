"""Kernels for GPUs whose operands IREE copies to the memory of their workgroup, wrongly.

Input: a program as far as IREE's phase `executable-configurations`, in which its kernels have tiles. Output:
the same program without the copies that are wrong: the kernel reads where the operand lies. They are those of
complex numbers, and the second one where both factors of a product are one array and tiles take all of its
rows or columns: IREE makes one copy of two then, and no longer keeps the sums in registers.

Symptom: on CUDA and ROCm the compiler dies of a wrong address (SIGSEGV), as it counts the bits of complex
    elements. On CUDA, silently, products have numbers of what was in memory before: a thread loads the first
    values of its sums, which other threads store, without waiting for them.
Seen in: IREE 3.13.
Smallest: `x.T` of c64[32,32]; `x @ x.T` of f32[64,64] in tiles of 64 x 64.
Goes when: `tests/gpu/test_copied_operands.py::test_iree_still_dies` fails, and the one beside it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

_PROMOTES: Final = b"promote_operands"
_CONFIGURATION: Final = "lowering_config"
_MAPS: Final = "indexing_maps"
_PROMOTION: Final = re.compile(r"promote_operands = \[([^\]]*)\]")
_TILES: Final = re.compile(r"workgroup = \[([^\]]*)\]")


def without_wrong_copies(program: bytes) -> bytes:
    """`program`, bytecode of the phase, without the copies; the very object where there are none."""
    if _PROMOTES not in program:
        return program
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if not sum(_corrected(ir, operation) for operation in list(_configured(module.operation))):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _configured(operation: Any) -> Iterator[Any]:
    """The ops within that have tiles."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if _CONFIGURATION in inner.attributes:
                    yield inner
                else:
                    yield from _configured(inner)


def _corrected(ir: Any, operation: Any) -> bool:
    """Whether the tiles of an op asked for a wrong copy; they no longer do."""
    text = str(operation.attributes[_CONFIGURATION])
    copied = _numbers(_PROMOTION, text)
    right = [number for number in copied if not _is_complex(ir, operation.operands[number])]
    if right[:2] == [0, 1] and operation.operands[0] == operation.operands[1] and _is_whole(ir, operation):
        right.remove(1)
    if right != copied:
        text = _PROMOTION.sub(f"promote_operands = {right}", text)
        operation.attributes[_CONFIGURATION] = ir.Attribute.parse(text)
    return right != copied


def _numbers(pattern: re.Pattern[str], text: str) -> list[int]:
    found = pattern.search(text)
    return [int(number) for number in found[1].split(",") if number.strip()] if found else []


def _is_complex(ir: Any, value: Any) -> bool:
    return isinstance(value.type.element_type, ir.ComplexType)


def _is_whole(ir: Any, product: Any) -> bool:
    """Whether a tile takes all rows of the one factor or of the other; also where that is not known."""
    tiles = _numbers(_TILES, str(product.attributes[_CONFIGURATION]))
    left, right = (_loops(ir, product, number) for number in (0, 1))
    if left is None or right is None:
        return True
    for own, other in ((left, right), (right, left)):
        rows = [(loop, size) for loop, size in own.items() if loop not in other]
        if all(loop < len(tiles) and 0 < size <= tiles[loop] for loop, size in rows):
            return True
    return False


def _loops(ir: Any, product: Any, number: int) -> dict[int, int] | None:
    """The loop of each axis of an operand, and its size; None where an axis has no loop of its own."""
    if _MAPS not in product.attributes:
        return None
    maps = ir.ArrayAttr(product.attributes[_MAPS])
    places: Sequence[Any] = list(ir.AffineMapAttr(maps[number]).value.results)
    if not all(isinstance(place, ir.AffineDimExpr) for place in places):
        return None
    shape = product.operands[number].type.shape
    return {place.position: size for place, size in zip(places, shape, strict=True)}
