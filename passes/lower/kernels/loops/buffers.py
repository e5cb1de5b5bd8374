"""Copies between buffers that are not needed: of a window onto itself, of a temporary to its destination, and
of a window to a temporary that is read once.

Input: the bufferized code of a kernel. Output: the same with fewer copies. What may be the same memory is
judged by what a view shows of which buffer; where that is not known, the copy stays.
"""

from __future__ import annotations

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Operation, Value
from .walk import nested, operations_named
from .windows import VIEWS, Box, base_of, box_of, is_own


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
    while not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name in VIEWS:
        operation = value.owner.operation
        source, *values = operation.operands
        if operation.name == "memref.subview":
            named = (f"static_{name}" for name in ("offsets", "sizes", "strides"))
            numbers = tuple(str(operation.attributes[name]) for name in named)
            windows.append(_Window(tuple(source.type.shape), numbers, tuple(values)))
        value = source
    return value, windows


# -- temporaries -------------------------------------------------------------------------------


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
    where = box_of(target)
    if where is None or not _may_write(make, where):
        return False
    operations = [child.operation for child in copy.block.operations]
    first = operations.index(make)
    between = operations[first + 1 : operations.index(copy)]
    if any(_touches(operation, where) for operation in between):
        if not _may_follow(make, between):
            return False
        make.move_before(copy)
        between = []
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


def _may_follow(make: Operation, others: list[Operation]) -> bool:
    """Whether a generic may be computed behind some ops instead of before: they write nothing that it takes.

    Its result is a temporary, which only a copy behind them uses.
    """
    inputs, _ = make.attributes["operandSegmentSizes"]
    taken = [v for v in (*list(make.operands)[:inputs], *_captured(make)) if _is_memref(v)]
    boxes = [box_of(value) for value in taken]
    return all(
        box is not None and not any(_touches(other, box, is_read=False) for other in others) for box in boxes
    )


def read_directly(module: mlir.ir.Module) -> int:
    """Let generics take a window itself and not a copy of it; how many copies are gone.

    That is right where nothing writes into the window before they have read it, but for a generic that writes
    each of its elements where it takes that element.
    """
    return sum(map(_try_window, operations_named(module, "memref.copy")))


def _try_window(copy: Operation) -> bool:
    source, temporary = copy.operands
    where = box_of(source)
    if where is None or isinstance(temporary.owner, mlir.ir.Block):
        return False
    if temporary.owner.operation.name != "memref.alloc":
        return False
    uses = [(u.owner.operation, u.operand_number) for u in temporary.uses if u.owner.operation != copy]
    if not uses or any(user.name != "linalg.generic" or user.block != copy.block for user, _ in uses):
        return False
    operations = [child.operation for child in copy.block.operations]
    start, places = operations.index(copy), [operations.index(user) for user, _ in uses]
    last = operations[max(places)]
    if min(places) < start or any(position >= _first_written(user) for user, position in uses):
        return False
    if any(_touches(each, where, is_read=False) for each in operations[start + 1 : max(places)]):
        return False
    if not all(_is_read_first(user, position, where) for user, position in uses if user == last):
        return False
    for user, position in uses:
        user.operands[position] = source
    copy.erase()
    return True


def _is_read_first(make: Operation, position: int, where: Box) -> bool:
    """Whether a generic that takes the window as an operand writes no element before it reads it."""
    maps = [str(m) for m in make.attributes["indexing_maps"]]
    is_parallel = all("parallel" in str(kind) for kind in make.attributes["iterator_types"])
    inputs, _ = make.attributes["operandSegmentSizes"]
    if any(_is_memref(v) for v in _captured(make)):
        return False
    return all(
        _is_apart(value, where) or (is_parallel and map_ == maps[position] and _is_window(value, where))
        for value, map_ in zip(list(make.operands)[inputs:], maps[inputs:], strict=True)
    )


def _is_window(value: Value, where: Box) -> bool:
    """Whether a view is known to be the window."""
    box = box_of(value)
    return box is not None and box.base == where.base and box.is_same(where)


def _touches(operation: Operation, where: Box, *, is_read: bool = True) -> bool:
    """Whether an op may write the window, or read it if that matters, as far as is known."""
    if operation.name.startswith(("arith.", "memref.alloc", *VIEWS)):
        return False
    if operation.name not in ("linalg.generic", "linalg.fill", "memref.copy", "memref.load", "memref.store"):
        return True
    captured = _captured(operation)
    first = 0 if is_read else _first_written(operation)
    return not all(
        _is_apart(v, where) for v in (*list(operation.operands)[first:], *captured) if _is_memref(v)
    )


def _captured(operation: Operation) -> list[Value]:
    """What the ops inside of an op take."""
    return [v for inner in nested(operation) for v in inner.operands]


def _first_written(operation: Operation) -> int:
    """Behind which operands those come that an op writes."""
    if operation.name == "linalg.generic":
        return int(operation.attributes["operandSegmentSizes"][0])
    return len(operation.operands) if operation.name == "memref.load" else 1


def _is_apart(value: Value, where: Box) -> bool:
    """Whether a view is known to have no element of the window."""
    base = base_of(value)
    if not is_own(base):
        return False
    box = box_of(value)
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


def _may_write(make: Operation, where: Box) -> bool:
    """Whether `make` may write into `where` while it computes."""
    maps = [str(m) for m in make.attributes["indexing_maps"]]
    for value, map_ in zip(list(make.operands)[:-1], maps, strict=False):
        if not isinstance(value.type, mlir.ir.MemRefType):
            continue
        base = base_of(value)
        if not is_own(base):
            return False
        if base == where.base:
            box = box_of(value)
            if box is None:
                return False
            is_same = map_ == maps[-1] and box.is_same(where)
            if not is_same and not box.is_apart_from(where):
                return False
    bases = [base_of(v) for v in _captured(make) if _is_memref(v)]
    return all(is_own(base) and base != where.base for base in bases)
