"""Kernels through SPIR-V that read or write a part of an array, which begins at any of its elements.

Input: a program as far as IREE's phase `executable-configurations`, in which its kernels have pipelines.
Output: the same program, where the arrays of such parts have rows of an unknown length. IREE makes arrays of
vectors of those whose rows have a known one, and divides the number of an element by that of the elements of
a vector: what does not begin with a vector begins with the one before.

Symptom: on Vulkan, silently, `x[:, 1:5] * 2` is `x[:, 0:4] * 2`. Metal's code is made by the same passes.
Seen in: IREE 3.13.
Smallest: `x[:, 1:5] * 2` of f32[16,64]; `x.at[:, 1:5].add(1)`; `dynamic_slice(x, (0, i), (16, 8)) * 2`.
Goes when: `tests/gpu/test_unaligned_slices.py::test_iree_still_begins_with_a_whole_vector` fails.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

_BINDING: Final = "hal.interface.binding.subspan"
_LOAD: Final = "iree_tensor_ext.dispatch.tensor.load"
_STORE: Final = "iree_tensor_ext.dispatch.tensor.store"
_SEGMENTS: Final = "operandSegmentSizes"
_VECTOR_BITS: Final = 128
_TYPE: Final = re.compile(
    r"(?P<begin>!iree_tensor_ext\.dispatch\.tensor<\w+:tensor<(?:(?:\d+|\?)x)*?)"
    r"(?P<length>\d+)x(?P<element>[a-z]+(?P<bits>\d+)\w*)>>"
)
"""An array with rows of a known length, whose elements may be in vectors: numbers that are not complex."""


def with_unaligned_slices(program: bytes) -> bytes:
    """`program`, bytecode of the phase, with rows of unknown lengths; the same if all parts begin aligned."""
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        arrays = [each for each in _arrays(module.operation) if _has_unaligned_part(ir, each)]
        for array in arrays:
            _hide_length(ir, array)
        if not arrays:
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _arrays(operation: Any) -> Iterator[Any]:
    """The arrays that IREE's kernels take."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name == _BINDING:
                    yield inner
                else:
                    yield from _arrays(inner)


def _has_unaligned_part(ir: Any, array: Any) -> bool:
    """Whether a kernel loads or stores parts of an array that may begin within a vector."""
    type_ = _TYPE.fullmatch(str(array.results[0].type))
    if type_ is None or int(type_["length"]) % 2:
        return False  # it has rows that are no whole number of vectors
    width = max(int(type_["bits"]), 8)
    users = [use.owner.operation for use in array.results[0].uses]
    if any(user.name not in (_LOAD, _STORE) or _last(ir, user, "static_strides") != 1 for user in users):
        return False  # in steps IREE reads element by element
    offsets = [_last(ir, user, "static_offsets") for user in users]
    return any(each == ir.ShapedType.get_dynamic_size() or each * width % _VECTOR_BITS for each in offsets)


def _last(ir: Any, operation: Any, name: str) -> int:
    """The last one of some numbers of an op, that of the axis whose elements lie beside each other."""
    return int(list(ir.DenseI64ArrayAttr(operation.attributes[name]))[-1])


def _hide_length(ir: Any, array: Any) -> None:
    """Let the type of an array not tell how long its rows are: an operand does."""
    type_ = _TYPE.fullmatch(str(array.results[0].type))
    assert type_ is not None
    hidden = ir.Type.parse(f"{type_['begin']}?x{type_['element']}>>")
    index = ir.IndexType.get()
    with ir.InsertionPoint(array), array.location:
        value = {"value": ir.IntegerAttr.get(index, int(type_["length"]))}
        length = ir.Operation.create("arith.constant", [index], [], value).result
    new = _with_size(ir, array, 1, length, [hidden]).result
    for use in list(array.results[0].uses):
        user = use.owner.operation
        place = int(user.name == _STORE)  # a store has the value before the array, whose sizes follow it
        changed = _with_size(ir, user, place + 1, length, [each.type for each in user.results])
        changed.operands[place] = new
        for old, result in zip(user.results, changed.results, strict=True):
            old.replace_all_uses_with(result)
        user.erase()
    array.erase()


def _with_size(ir: Any, operation: Any, segment: int, size: Any, types: list[Any]) -> Any:
    """An op before `operation` and like it, with one more size at the end of a segment of its operands."""
    counts = list(ir.DenseI32ArrayAttr(operation.attributes[_SEGMENTS]))
    at = sum(counts[: segment + 1])
    counts[segment] += 1
    operands = list(operation.operands)
    operands.insert(at, size)
    attributes = dict(operation.attributes.items())
    attributes[_SEGMENTS] = ir.DenseI32ArrayAttr.get(counts)
    with ir.InsertionPoint(operation), operation.location:
        return ir.Operation.create(operation.name, types, operands, attributes)
