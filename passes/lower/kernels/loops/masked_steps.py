"""Loops of which a mask says that only some steps matter run through those alone.

Input: the code of a kernel on buffers, as loops. Output: the same, where an innermost loop that

* adds up what is the same for all steps outside of a range, or
* stores, outside of a range, what is there already

runs through the range, which a mask says that compares the step with numbers known before the loop
(`where(arange(n) < i, x, 0).sum()`). What the steps outside add is computed once and multiplied by how many
they are, so NaN and infinity stay in the sum. Sums that have to be added in order are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Operation, Type, Value
from .walk import operations_named
from .windows import base_of, is_own

LEAST_STEPS: Final = 32
"""Of a loop from which on a range gains; shorter ones are a few vectors, masked or not."""

_CASTS: Final = frozenset({"arith.index_cast", "arith.index_castui"})
_PURE: Final = ("arith.", "math.", "complex.", "affine.apply")


@dataclass(frozen=True, eq=False)
class _Range:
    """Steps from the greatest of `first` on and before the least of `stop`, each a value plus a number."""

    first: tuple[tuple[Value, int], ...] = ()
    stop: tuple[tuple[Value, int], ...] = ()

    def __and__(self, other: _Range) -> _Range:
        return _Range(self.first + other.first, self.stop + other.stop)


@dataclass(frozen=True, eq=False)
class _Loop:
    """An innermost loop over every step, and its only store."""

    operation: Operation
    store: Operation

    @property
    def step(self) -> Value:
        """The number of a step."""
        return self.operation.regions[0].blocks[0].arguments[0]

    @property
    def inside(self) -> list[Operation]:
        """The ops of a step, without the last one."""
        return [child.operation for child in self.operation.regions[0].blocks[0].operations][:-1]

    def holds(self, value: Value) -> bool:
        """Whether a value is one of a step."""
        if isinstance(value.owner, mlir.ir.Block):
            return bool(value.owner == self.operation.regions[0].blocks[0])
        return bool(value.owner.operation.parent == self.operation)


def restrict_masked(module: mlir.ir.Module) -> int:
    """Restrict the loops that a mask allows to be; how many."""
    return sum(map(_restrict, operations_named(module, "scf.for")))


def _restrict(operation: Operation) -> bool:
    loop = _loop_of(operation)
    if loop is None:
        return False
    for mask, steps in reversed(list(_masks(loop))):
        without = _Without(loop, mask)
        if without.stores_what_is_there():
            _run_through(loop, mask, steps, None)
            return True
        summand = without.summand()
        if summand is not None:
            _run_through(loop, mask, steps, (without, summand))
            return True
    return False


def _loop_of(operation: Operation) -> _Loop | None:
    if len(operation.results) or _number(operation.operands[2]) != 1:
        return None
    first, stop = (_number(v) for v in list(operation.operands)[:2])
    if first is None or stop is None or stop - first < LEAST_STEPS:
        return None
    inside = [child.operation for child in operation.regions[0].blocks[0].operations][:-1]
    stores = [each for each in inside if each.name == "memref.store"]
    if len(stores) != 1 or not all(map(_is_plain, inside)):
        return None
    bases = [base_of(o.operands[1 if o.name == "memref.store" else 0]) for o in inside if "memref" in o.name]
    return _Loop(operation, stores[0]) if all(map(is_own, bases)) else None


def _is_plain(operation: Operation) -> bool:
    if len(operation.regions):
        return False
    return operation.name.startswith(_PURE) or operation.name in ("memref.load", "memref.store")


def _number(value: Value) -> int | None:
    owner = value.owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.constant":
        return None
    attribute = owner.operation.attributes["value"]
    return int(attribute.value) if isinstance(attribute, mlir.ir.IntegerAttr) else None


# -- masks -------------------------------------------------------------------------------------------


def _masks(loop: _Loop) -> Iterator[tuple[Value, _Range]]:
    """The masks of a step that are ranges, each behind those that it is made of."""
    known: dict[Value, _Range] = {}
    for operation in loop.inside:
        found: _Range | None = None
        if operation.name == "arith.cmpi":
            found = _compared(loop, operation)
        elif operation.name == "arith.andi" and all(v in known for v in operation.operands):
            found = known[operation.operands[0]] & known[operation.operands[1]]
        if found is not None:
            known[operation.results[0]] = found
            yield operation.results[0], found


def _compared(loop: _Loop, operation: Operation) -> _Range | None:
    """The steps for which a comparison of the step with a number holds."""
    predicates = mlir.arith.CmpIPredicate
    predicate = predicates(operation.attributes["predicate"].value)
    left, right = operation.operands
    if not _is_step(loop, left):
        left, right = right, left
        swapped = {
            predicates.slt: predicates.sgt,
            predicates.sgt: predicates.slt,
            predicates.sle: predicates.sge,
            predicates.sge: predicates.sle,
        }
        predicate = swapped.get(predicate, predicate)
    if not _is_step(loop, left) or loop.holds(right):
        return None
    return {
        predicates.slt: _Range(stop=((right, 0),)),
        predicates.sle: _Range(stop=((right, 1),)),
        predicates.sge: _Range(first=((right, 0),)),
        predicates.sgt: _Range(first=((right, 1),)),
        predicates.eq: _Range(first=((right, 0),), stop=((right, 1),)),
    }.get(predicate)


def _is_step(loop: _Loop, value: Value) -> bool:
    """Whether a value is the number of the step, in a type that holds all of them."""
    if value == loop.step:
        return True
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name not in _CASTS:
        return False
    last = _number(loop.operation.operands[1])
    first = _number(loop.operation.operands[0])
    fits = last is not None and last < 1 << (_bits(value.type) - 1) and first is not None and first >= 0
    return fits and bool(value.owner.operation.operands[0] == loop.step)


def _bits(type_: Type) -> int:
    return int(type_.width) if isinstance(type_, mlir.ir.IntegerType) else 64


# -- what a step does where its mask does not hold ---------------------------------------------------


class _Without:
    """The values of a step for which `mask` does not hold."""

    def __init__(self, loop: _Loop, mask: Value) -> None:
        self._loop = loop
        self._mask = mask

    def stores_what_is_there(self) -> bool:
        """Whether the store changes nothing."""
        value = self.settled(self._loop.store.operands[0])
        return self._is_old(value)

    def summand(self) -> Value | None:
        """What each step adds to the same place; None where that is not so, or differs."""
        store = self._loop.store
        total, *_ = store.operands
        if any(self._loop.holds(v) for v in list(store.operands)[1:]) or not self._loop.holds(total):
            return None
        operation = total.owner.operation
        if operation.name not in ("arith.addi", "arith.addf"):
            return None
        if operation.name == "arith.addf" and "reassoc" not in str(operation.attributes.get("fastmath", "")):
            return None
        old = [k for k, v in enumerate(operation.operands) if self._is_old(v)]
        if len(old) != 1 or len(list(operation.operands[old[0]].uses)) != 1 or len(list(total.uses)) != 1:
            return None
        summand = operation.operands[1 - old[0]]
        return summand if self._is_same_in_all(summand) else None

    def settled(self, value: Value) -> Value:
        """The value that a choice is, as far as the mask says."""
        while self._loop.holds(value) and not isinstance(value.owner, mlir.ir.Block):
            operation = value.owner.operation
            if operation.name != "arith.select" or not self.is_false(operation.operands[0]):
                break
            value = operation.operands[2]
        return value

    def is_false(self, value: Value) -> bool:
        """Whether a condition is known not to hold."""
        if value == self._mask:
            return True
        if not self._loop.holds(value) or isinstance(value.owner, mlir.ir.Block):
            return False
        operation = value.owner.operation
        return operation.name == "arith.andi" and any(map(self.is_false, operation.operands))

    def copied(self, value: Value) -> Value:
        """A value that is the same in all steps, at the ambient insertion point."""
        value = self.settled(value)
        if not self._loop.holds(value):
            return value
        copy = value.owner.operation.clone().operation
        for position, operand in enumerate(value.owner.operation.operands):
            with mlir.ir.InsertionPoint(copy):
                copy.operands[position] = self.copied(operand)
        return copy.results[list(value.owner.operation.results).index(value)]

    def _is_same_in_all(self, value: Value) -> bool:
        value = self.settled(value)
        if not self._loop.holds(value):
            return True
        if isinstance(value.owner, mlir.ir.Block):
            return False
        operation = value.owner.operation
        if operation.name == "memref.load" and base_of(operation.operands[0]) == self._written:
            return False
        return all(map(self._is_same_in_all, operation.operands))

    @property
    def _written(self) -> Value:
        return base_of(self._loop.store.operands[1])

    def _is_old(self, value: Value) -> bool:
        """Whether a value was loaded from the place of the store."""
        if not self._loop.holds(value) or isinstance(value.owner, mlir.ir.Block):
            return False
        operation = value.owner.operation
        places = list(self._loop.store.operands)[1:]
        return operation.name == "memref.load" and list(operation.operands) == places


# -- the loop through the range ----------------------------------------------------------------------


def _run_through(loop: _Loop, mask: Value, steps: _Range, outside: tuple[_Without, Value] | None) -> None:
    """Restrict `loop` to `steps`; outside of them, each adds what `outside` says."""
    arith, operation = mlir.arith, loop.operation
    first, stop = list(operation.operands)[:2]
    with mlir.ir.InsertionPoint(operation), operation.location:
        start, end = first, stop
        for number, more in steps.first:
            start = arith.maxsi(start, _before(number, more, stop))
        for number, more in steps.stop:
            end = arith.minsi(end, _before(number, more, stop))
        start = arith.minsi(start, stop)
        end = arith.maxsi(end, start)
        if outside is not None:
            count = arith.subi(arith.subi(stop, first), arith.subi(end, start))
            _add_outside(loop, count, *outside)
    operation.operands[0], operation.operands[1] = start, end
    with mlir.ir.InsertionPoint(mask.owner.operation), operation.location:
        mask.replace_all_uses_with(arith.constant(mlir.ir.IntegerType.get_signless(1), True))


def _before(number: Value, more: int, stop: Value) -> Value:
    """`number + more` as an index, where it is not beyond `stop`."""
    arith = mlir.arith
    if not isinstance(number.type, mlir.ir.IndexType):
        number = arith.index_cast(mlir.ir.IndexType.get(), number)
    if not more:
        return number
    one = arith.constant(mlir.ir.IndexType.get(), mlir.ir.IntegerAttr.get(mlir.ir.IndexType.get(), more))
    return arith.addi(arith.minsi(number, stop), one)


def _add_outside(loop: _Loop, count: Value, without: _Without, summand: Value) -> None:
    """Add the summand of the steps outside as often as there are any."""
    if _is_zero(without.settled(summand)):
        return
    arith, store = mlir.arith, loop.store
    _, target, *places = store.operands
    zero = arith.constant(mlir.ir.IndexType.get(), mlir.ir.IntegerAttr.get(mlir.ir.IndexType.get(), 0))
    branch = mlir.scf.IfOp(arith.cmpi(arith.CmpIPredicate.sgt, count, zero))
    with mlir.ir.InsertionPoint(branch.then_block):
        each, old = without.copied(summand), mlir.memref.load(target, places)
        if isinstance(each.type, mlir.ir.IntegerType):
            times = _integer(count, each.type)
            new = arith.addi(old, arith.muli(times, each))
        else:
            times = arith.sitofp(each.type, arith.index_cast(mlir.ir.IntegerType.get_signless(64), count))
            new = arith.addf(old, arith.mulf(times, each))
        mlir.memref.store(new, target, places)
        mlir.scf.YieldOp([])


def _integer(count: Value, type_: Type) -> Value:
    """A count in an integer type, where it wraps."""
    wide = mlir.arith.index_cast(mlir.ir.IntegerType.get_signless(64), count)
    if type_.width == 64:
        return wide
    return (mlir.arith.trunci if type_.width < 64 else mlir.arith.extsi)(type_, wide)


def _is_zero(value: Value) -> bool:
    owner = value.owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.constant":
        return False
    return bool(owner.operation.attributes["value"].value == 0)
