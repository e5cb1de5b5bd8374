"""Kernels of adze whose compiler is told which of their arrays are not parts of one another.

Input: the functions of kernels, of the phase `executable-sources`. Output: the same, with a hint in those
that gain by it. Idea: LLVM takes elements at places that were loaded themselves (a search, a gather) in
vectors only where it knows that what is stored between them is no other array's. IREE has put arrays that it
allocates together into one binding, at several offsets, and LLVM asks whether two accesses belong to one
binding: a hint that named two arrays of one would mean that nothing in it overlaps, not even with itself. So
it names one array of each binding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

_SUBSPAN: Final = "hal.interface.binding.subspan"
_BINDING: Final = "binding"
_HINT: Final = "memref.distinct_objects"
_ELEMENT: Final = "memref.load"
_LOADS: Final = frozenset((_ELEMENT, "vector.load"))
_COMPUTING: Final = "arith."


def say_what_is_separate(ir: Any, functions: list[Any]) -> None:
    """Insert the hint into those of `functions` that take elements at places that are loaded."""
    for function in functions:
        spans = _spans(function)
        arrays = _one_of_each_binding(ir, spans)
        if len(arrays) > 1 and _takes_at_loaded_places(function):
            _say(ir, spans[-1], arrays)


def _spans(function: Any) -> list[Any]:
    """The operations that make a kernel's arrays of its bindings."""
    blocks = function.regions[0].blocks
    operations = [each.operation for each in blocks[0].operations] if len(blocks) == 1 else []
    return [each for each in operations if each.name == _SUBSPAN]


def _one_of_each_binding(ir: Any, spans: list[Any]) -> list[Any]:
    """The first array of each binding."""
    arrays: dict[int, Any] = {}
    for span in spans:
        arrays.setdefault(ir.IntegerAttr(span.attributes[_BINDING]).value, span.results[0])
    return list(arrays.values())


def _takes_at_loaded_places(function: Any) -> bool:
    """Whether one of an element's indices was loaded. Rows that are vectors already gain nothing."""
    seen: set[Any] = set()
    return any(_is_loaded(index, seen) for load in _elements(function) for index in list(load.operands)[1:])


def _elements(operation: Any) -> Iterator[Any]:
    """The loads of single elements in an operation."""
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                if view.operation.name == _ELEMENT:
                    yield view.operation
                yield from _elements(view.operation)


def _is_loaded(number: Any, seen: set[Any]) -> bool:
    """Whether a number is computed of one that is loaded, by operations that were not `seen` before."""
    waiting = [number]
    while waiting:
        owner = getattr(waiting.pop().owner, "operation", None)  # None: the argument of a block
        if owner is None or owner in seen:
            continue
        seen.add(owner)
        if owner.name in _LOADS:
            return True
        if owner.name.startswith(_COMPUTING):
            waiting.extend(owner.operands)
    return False


def _say(ir: Any, last: Any, arrays: list[Any]) -> None:
    """Insert the hint behind the `last` of a kernel's arrays."""
    with ir.InsertionPoint.after(last), last.location:
        hint = ir.Operation.create(_HINT, operands=arrays, results=[each.type for each in arrays]).operation
    for array, apart in zip(arrays, hint.results, strict=True):
        array.replace_all_uses_except(apart, hint)
