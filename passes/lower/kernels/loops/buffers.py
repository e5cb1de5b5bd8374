"""Copies between buffers that are not needed: of a window onto itself, and of a temporary to its destination.

Input: the bufferized code of a kernel. Output: the same with fewer copies. What may be the same memory is
judged by what a view shows of which buffer; where that is not known, the copy stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import nested, operations_named

_RESHAPES: Final = ("memref.collapse_shape", "memref.expand_shape", "memref.cast")
_VIEWS: Final = ("memref.subview", *_RESHAPES)
_DYNAMIC: Final = -(2**63)


def drop_self_copies(module: mlir.ir.Module) -> None:
    """Drop the copies of a window onto itself."""
    for copy in operations_named(module, "memref.copy"):
        source, target = copy.operands
        if _is_same_place(source, target):
            copy.erase()


@dataclass(frozen=True, eq=False)
class _Window:
    """One step of a view: the shape of what is beneath it, the numbers and the values that say which part."""

    shape: tuple[int, ...]
    numbers: tuple[str, ...]
    values: tuple[Value, ...]

    def is_same(self, other: _Window) -> bool:
        return (
            self.shape == other.shape
            and self.numbers == other.numbers  # so both have as many values
            and all(mine == theirs for mine, theirs in zip(self.values, other.values, strict=True))
        )


def _is_same_place(one: Value, other: Value) -> bool:
    """Whether two views of one shape are known to show the same elements in the same order."""
    (buffer, windows), (other_buffer, other_windows) = _place(one), _place(other)
    return bool(
        buffer == other_buffer
        and len(windows) == len(other_windows)
        and all(mine.is_same(theirs) for mine, theirs in zip(windows, other_windows, strict=True))
    )


def _place(value: Value) -> tuple[Value, list[_Window]]:
    """The buffer of a view, and the windows on it from the view on.

    Reshapes keep the order of the elements, so they are no windows; but row 1 of 3 x 4 elements is not row 1
    of 2 x 6, so a window is one of a shape.
    """
    windows: list[_Window] = []
    while not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name in _VIEWS:
        operation = value.owner.operation
        source, *values = operation.operands
        if operation.name == "memref.subview":
            named = (f"static_{name}" for name in ("offsets", "sizes", "strides"))
            numbers = tuple(str(operation.attributes[name]) for name in named)
            windows.append(_Window(tuple(source.type.shape), numbers, tuple(values)))
        value = source
    return value, windows


# -- temporaries -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Offset:
    """An offset as `sign * value + number`; without a value it is the number."""

    value: Value | None
    sign: int
    number: int

    def moves_with(self, other: _Offset) -> bool:
        """Whether the two differ by a known number."""
        if self.value is None or other.value is None:  # a value of MLIR compares with values alone
            return self.value is other.value
        return bool(self.value == other.value) and self.sign == other.sign


@dataclass(frozen=True, eq=False)
class _Box:
    """A window of a buffer with unit strides: offsets and sizes."""

    base: Value
    offsets: tuple[_Offset, ...]
    sizes: tuple[int, ...]

    def is_apart_from(self, other: _Box) -> bool:
        """Whether the windows have no element in common: along one axis they are known to be apart."""
        axes = zip(self.offsets, other.offsets, self.sizes, other.sizes, strict=True)
        return any(
            a.moves_with(b) and (a.number + m <= b.number or b.number + n <= a.number) for a, b, m, n in axes
        )

    def is_same(self, other: _Box) -> bool:
        """Whether the windows are known to be one."""
        pairs = zip(self.offsets, other.offsets, strict=True)
        return self.sizes == other.sizes and all(a.moves_with(b) and a.number == b.number for a, b in pairs)


def write_directly(module: mlir.ir.Module) -> int:
    """Let a generic whose result is only copied write it where it goes; how many did not before.

    That is right where it takes nothing from the destination's buffer, or only what is apart from its window,
    or each element only where it writes that element.
    """
    return sum(map(_try_directly, operations_named(module, "memref.copy")))


def _try_directly(copy: Operation) -> bool:
    source, target = copy.operands
    make = _maker(copy, source)
    if make is None or source.type.shape != target.type.shape:
        return False
    where = _box(target)
    if where is None or not _may_write(make, where):
        return False
    operations = [child.operation for child in copy.block.operations]
    first = operations.index(make)
    between = operations[first + 1 : operations.index(copy)]
    if any(_touches(operation, where) for operation in between):
        return False
    if not isinstance(target.owner, mlir.ir.Block) and target.owner.operation in between:
        view = target.owner.operation
        if view.name == "memref.alloc":
            return False  # a copy of it would be another buffer than its other uses have
        if any(_is_one_of(v, between) for v in view.operands):
            return False
        target = view.clone(ip=mlir.ir.InsertionPoint(make)).operation.results[0]
    make.operands[len(make.operands) - 1] = target
    copy.erase()
    return True


def _touches(operation: Operation, where: _Box) -> bool:
    """Whether an op may read or write the window, as far as is known."""
    if operation.name.startswith(("arith.", "memref.alloc", *_VIEWS)):
        return False
    if operation.name not in ("linalg.generic", "linalg.fill", "memref.copy", "memref.load", "memref.store"):
        return True
    captured = [v for inner in nested(operation) for v in inner.operands]
    return not all(_is_apart(v, where) for v in (*operation.operands, *captured) if _is_memref(v))


def _is_apart(value: Value, where: _Box) -> bool:
    """Whether a view is known to have no element of the window."""
    base = _base(value)
    if not _is_own(base):
        return False
    box = _box(value)
    return base != where.base or (box is not None and box.is_apart_from(where))


def _is_memref(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.MemRefType)


def _is_one_of(value: Value, operations: list[Operation]) -> bool:
    return not isinstance(value.owner, mlir.ir.Block) and value.owner.operation in operations


def _maker(copy: Operation, source: Value) -> Operation | None:
    """The elementwise generic of the same block that writes the copied temporary, its only other user."""
    if isinstance(source.owner, mlir.ir.Block) or source.owner.operation.name != "memref.alloc":
        return None
    others = [use.owner.operation for use in source.uses if use.owner.operation != copy]
    if len(others) != 1 or others[0].name != "linalg.generic" or others[0].block != copy.block:
        return None
    (make,) = others
    inputs, outputs = make.attributes["operandSegmentSizes"]
    if outputs != 1 or make.operands[inputs] != source:
        return None
    if any("parallel" not in str(kind) for kind in make.attributes["iterator_types"]):
        return None
    return make


def _may_write(make: Operation, where: _Box) -> bool:
    """Whether `make` may write into `where` while it computes."""
    maps = [str(m) for m in make.attributes["indexing_maps"]]
    for value, map_ in zip(list(make.operands)[:-1], maps, strict=False):
        if not isinstance(value.type, mlir.ir.MemRefType):
            continue
        base = _base(value)
        if not _is_own(base):
            return False
        if base == where.base:
            box = _box(value)
            if box is None:
                return False
            is_same = map_ == maps[-1] and box.is_same(where)
            if not is_same and not box.is_apart_from(where):
                return False
    captured = [v for inner in nested(make) for v in inner.operands]
    bases = [_base(v) for v in captured if isinstance(v.type, mlir.ir.MemRefType)]
    return all(_is_own(base) and base != where.base for base in bases)


def _base(value: Value) -> Value:
    while not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    return value


def _is_own(value: Value) -> bool:
    """Whether this is a buffer of its own: an argument of the kernel or an allocation."""
    owner = value.owner
    if isinstance(owner, mlir.ir.Block):
        return bool(owner.owner.operation.name == "func.func")
    return bool(owner.operation.name == "memref.alloc")


def _box(value: Value) -> _Box | None:
    """The window of a buffer that a value is, None where that is not plain."""
    if _is_own(value):
        zero = _Offset(None, 1, 0)
        return _Box(value, (zero,) * len(value.type.shape), tuple(value.type.shape))
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "memref.subview":
        return None
    view = value.owner.operation
    base, *dynamic = view.operands
    if not _is_own(base) or any(stride != 1 for stride in view.attributes["static_strides"]):
        return None
    sizes = tuple(view.attributes["static_sizes"])
    if _DYNAMIC in sizes:
        return None
    values = iter(dynamic)
    offsets = tuple(
        _offset(next(values)) if n == _DYNAMIC else _Offset(None, 1, n)
        for n in view.attributes["static_offsets"]
    )
    return _Box(base, offsets, sizes)


def _offset(value: Value) -> _Offset:
    """An index as a value and a number, through additions and subtractions of numbers."""
    number, sign = 0, 1
    while not isinstance(value.owner, mlir.ir.Block):
        operation = value.owner.operation
        known = _number(value)
        if known is not None:
            return _Offset(None, 1, number + sign * known)
        if operation.name not in ("arith.addi", "arith.subi"):
            break
        left, right = operation.operands
        is_difference = operation.name == "arith.subi"
        first, second = _number(left), _number(right)
        if second is not None:
            number += sign * (-second if is_difference else second)
            value = left
        elif first is not None:
            number += sign * first
            value, sign = right, -sign if is_difference else sign
        else:
            break
    return _Offset(value, sign, number)


def _number(value: Value) -> int | None:
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return int(value.owner.operation.attributes["value"].value)
