"""A small language for the code of kernels: numbers, arrays, loops and branches that emit MLIR.

Input: memrefs and scalars of a kernel, and Python code over the classes here. Output: memref, vector, arith,
math and scf ops at the ambient insertion point.
Idea: a `Number` is a scalar or a vector with operators, an `Array` a memref that is indexed; `with loop(a, b)
as i:` emits a loop, `carried` one whose values go from iteration to iteration. Python's own loops unroll.
Integers and indices compare as signed ones, floats are ordered (false on NaN). Nothing checks bounds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from math import prod
from typing import Any, Final, TypeAlias, overload

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Block, Type, Value

Operand: TypeAlias = "Number | int | float"
Place: TypeAlias = "Number | int"

ALIGNMENT: Final = 64  # bytes of what lies on the stack


@dataclass(frozen=True, slots=True)
class _Constants:
    """The first block of a function, and what has been emitted there, by type and number."""

    block: Block
    emitted: dict[tuple[Type, int | str], Number] = field(default_factory=dict)


_CONSTANTS: Final[ContextVar[_Constants | None]] = ContextVar("constants", default=None)


class Number:
    """A scalar or a vector of floats, integers or indices."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def type(self) -> Type:
        """The MLIR type."""
        return self.value.type

    @property
    def element(self) -> Type:
        """The type of a scalar, or of a vector's elements."""
        return mlir.ir.VectorType(self.type).element_type if self.is_vector else self.type

    @property
    def is_vector(self) -> bool:
        """Whether this is a vector."""
        return isinstance(self.type, mlir.ir.VectorType)

    @property
    def is_float(self) -> bool:
        """Whether the elements are floats."""
        return not isinstance(self.element, (mlir.ir.IntegerType, mlir.ir.IndexType))

    def lift(self, other: Operand) -> Number:
        """`other` in the type of this number: constants, and scalars beside a vector, are broadcast."""
        if not isinstance(other, Number):
            other = constant(self.element, other)
        return broadcast(other, self.type) if self.is_vector and not other.is_vector else other

    def _emit(self, float_name: str, integer_name: str, other: Operand, swap: bool = False) -> Number:
        right = self.lift(other)
        build = getattr(mlir.arith, float_name if self.is_float else integer_name)
        return Number(build(right.value, self.value) if swap else build(self.value, right.value))

    def __add__(self, other: Operand) -> Number:
        return self._emit("addf", "addi", other)

    def __sub__(self, other: Operand) -> Number:
        return self._emit("subf", "subi", other)

    def __mul__(self, other: Operand) -> Number:
        return self._emit("mulf", "muli", other)

    def __truediv__(self, other: Operand) -> Number:
        return self._emit("divf", "", other)

    def __floordiv__(self, other: Operand) -> Number:
        """The quotient of numbers that are not negative."""
        return self._emit("", "divui", other)

    def __mod__(self, other: Operand) -> Number:
        """The remainder of numbers that are not negative."""
        return self._emit("", "remui", other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Operand) -> Number:
        return self._emit("subf", "subi", other, swap=True)

    def __rtruediv__(self, other: Operand) -> Number:
        return self._emit("divf", "", other, swap=True)

    def __neg__(self) -> Number:
        return Number(mlir.arith.negf(self.value)) if self.is_float else 0 - self

    def __and__(self, other: Operand) -> Number:
        return self._emit("", "andi", other)

    def __or__(self, other: Operand) -> Number:
        return self._emit("", "ori", other)

    def __xor__(self, other: Operand) -> Number:
        return self._emit("", "xori", other)

    def __lshift__(self, other: Operand) -> Number:
        return self._emit("", "shli", other)

    def __rshift__(self, other: Operand) -> Number:
        """Logical shift right."""
        return self._emit("", "shrui", other)

    def _compare(self, name: str, other: Operand) -> Number:
        right = self.lift(other).value
        if self.is_float:
            ordered: Any = getattr(mlir.arith.CmpFPredicate, "UNE" if name == "ne" else "O" + name.upper())
            return Number(mlir.arith.cmpf(ordered, self.value, right))
        signed: Any = getattr(mlir.arith.CmpIPredicate, name if name in ("eq", "ne") else "s" + name)
        return Number(mlir.arith.cmpi(signed, self.value, right))

    def __lt__(self, other: Operand) -> Number:
        return self._compare("lt", other)

    def __le__(self, other: Operand) -> Number:
        return self._compare("le", other)

    def __gt__(self, other: Operand) -> Number:
        return self._compare("gt", other)

    def __ge__(self, other: Operand) -> Number:
        return self._compare("ge", other)

    def equals(self, other: Operand) -> Number:
        """Whether the numbers are equal."""
        return self._compare("eq", other)

    def differs(self, other: Operand) -> Number:
        """Whether the numbers are not equal."""
        return self._compare("ne", other)

    def below(self, other: Operand) -> Number:
        """`<` of unsigned integers."""
        return Number(mlir.arith.cmpi(mlir.arith.CmpIPredicate.ult, self.value, self.lift(other).value))

    def least(self, other: Operand) -> Number:
        """The smaller one of two signed integers."""
        return self._emit("", "minsi", other)

    def most(self, other: Operand) -> Number:
        """The greater one of two signed integers."""
        return self._emit("", "maxsi", other)

    def as_index(self) -> Number:
        """An unsigned integer as an index."""
        return Number(mlir.arith.index_castui(mlir.ir.IndexType.get(), self.value))

    def as_integer(self, type_: Type) -> Number:
        """An index as an integer."""
        return Number(mlir.arith.index_cast(type_, self.value))


@contextmanager
def body_of(block: Block) -> Iterator[None]:
    """Emit code into the first block of a function: each constant once, where the block begins."""
    token = _CONSTANTS.set(_Constants(block))
    try:
        with mlir.ir.InsertionPoint(block):
            yield
    finally:
        _CONSTANTS.reset(token)


def constant(type_: Type, number: int | float) -> Number:
    """A constant of a scalar type; integers wrap to its width."""
    wrapped = _wrapped(type_, number)
    constants = _CONSTANTS.get()
    if constants is None:
        return _constant(type_, wrapped)
    key = type_, wrapped.hex() if isinstance(wrapped, float) else wrapped  # 0.0 is not -0.0
    found = constants.emitted.get(key)
    if found is None:
        with mlir.ir.InsertionPoint.at_block_begin(constants.block):
            found = constants.emitted[key] = _constant(type_, wrapped)
    return found


def _wrapped(type_: Type, number: int | float) -> int | float:
    """A number as a constant of the type states it."""
    if isinstance(type_, mlir.ir.IndexType):
        return int(number)
    if not isinstance(type_, mlir.ir.IntegerType):
        return float(number)
    wrapped = int(number) & ((1 << type_.width) - 1)
    if type_.width > 1:
        wrapped -= (wrapped >> (type_.width - 1)) << type_.width
    return wrapped


def _constant(type_: Type, number: int | float) -> Number:
    kind = mlir.ir.FloatAttr if isinstance(number, float) else mlir.ir.IntegerAttr
    return Number(mlir.arith.constant(type_, kind.get(type_, number)))


def index(place: Place) -> Number:
    """A place as an index."""
    return place if isinstance(place, Number) else constant(mlir.ir.IndexType.get(), place)


def least(a: Place, b: Place) -> Place:
    """The smaller one of two places."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else index(a).least(b)


def most(a: Place, b: Place) -> Place:
    """The greater one of two places."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else index(a).most(b)


def ceil_divided(a: Place, b: Place) -> Place:
    """How many times `b`, which is not 0, it takes to have `a`."""
    return -(-a // b) if isinstance(a, int) and isinstance(b, int) else (index(a) + (b - 1)) // b


def product(places: Iterable[Place]) -> Place:
    """The product of places; those that are known are multiplied first."""
    several = list(places)
    known = prod(place for place in several if isinstance(place, int))
    counted = [place for place in several if isinstance(place, Number)]
    if not counted:
        return known
    found = functools.reduce(Number.__mul__, counted)
    return found if known == 1 else found * known


@overload
def opaque(place: Number) -> Number: ...
@overload
def opaque(place: Place) -> Place: ...
def opaque(place: Place) -> Place:
    """A place of which the compiler does not know how it came about, unless it is a constant.

    What begins at a place that a loop counts concerns that loop: LLVM seeks the best counters for its
    addresses anew in each of the loops around them, in a time that grows with a power of how many there are
    (loop strength reduction took half of the time of a convolution's kernel). An empty assembly ends that.
    """
    if not isinstance(place, Number):
        return place
    mlir.load_dialect("llvm")
    word = mlir.ir.IntegerType.get_signless(64)
    hidden = mlir.ir.Operation.create(
        "llvm.inline_asm",
        results=[word],
        operands=[mlir.arith.index_cast(word, place.value)],
        attributes={
            "asm_string": mlir.ir.StringAttr.get(""),
            "constraints": mlir.ir.StringAttr.get("=r,0"),
        },
    )
    return Number(mlir.arith.index_cast(mlir.ir.IndexType.get(), hidden.result))


def broadcast(number: Number, type_: Type) -> Number:
    """A vector all of whose elements are the scalar."""
    return Number(mlir.vector.broadcast(type_, number.value))


def choose(condition: Number, yes: Number, no: Operand) -> Number:
    """`yes` where the condition holds, else `no`."""
    return Number(mlir.arith.select(condition.value, yes.value, yes.lift(no).value))


class Array:
    """A memref, indexed by places: `a[i, j]` is a scalar, `a[i, j] = x` stores a scalar or a vector."""

    def __init__(self, memref: Value) -> None:
        self.memref = memref
        self.type = mlir.ir.MemRefType(memref.type)

    @property
    def element(self) -> Type:
        """The type of an element."""
        return self.type.element_type

    def size(self, axis: int) -> Place:
        """The size of an axis."""
        if self.type.is_dynamic_dim(axis):
            return Number(mlir.memref.dim(self.memref, index(axis).value))
        return int(self.type.shape[axis])

    def __getitem__(self, places: Place | tuple[Place, ...]) -> Number:
        return Number(mlir.memref.load(self.memref, _indices(places)))

    def __setitem__(self, places: Place | tuple[Place, ...], number: Number) -> None:
        if number.is_vector:
            mlir.vector.store(number.value, self.memref, _indices(places))
        else:
            mlir.memref.store(number.value, self.memref, _indices(places))

    def vector(self, width: int, *places: Place) -> Number:
        """`width` elements of the last axis, from the place on."""
        type_ = mlir.ir.VectorType.get([width], self.element)
        return Number(mlir.vector.load(type_, self.memref, _indices(places)))


def local(sizes: Sequence[int], element: Type) -> Array:
    """A small array of the workgroup itself, on its stack; made where the kernel begins."""
    alignment = mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), ALIGNMENT)
    attributes = {"alignment": alignment, "operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([0, 0])}
    type_ = mlir.ir.MemRefType.get(list(sizes), element)
    return Array(mlir.ir.Operation.create("memref.alloca", results=[type_], attributes=attributes).result)


def of_workgroup(count: int, element: Type) -> Array:
    """An array that the threads of a GPU's workgroup share."""
    space = mlir.ir.Attribute.parse("#gpu.address_space<workgroup>")
    type_ = mlir.ir.MemRefType.get([count], element, memory_space=space)
    none = {"operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([0, 0])}
    return Array(mlir.ir.Operation.create("memref.alloc", results=[type_], attributes=none).result)


def _indices(places: Place | tuple[Place, ...]) -> list[Value]:
    several = places if isinstance(places, tuple) else (places,)
    return [index(place).value for place in several]


@contextmanager
def loop(start: Place, stop: Place, step: Place = 1) -> Iterator[Number]:
    """A loop over indices, with its index."""
    operation = mlir.scf.ForOp(index(start).value, index(stop).value, index(step).value)
    with mlir.ir.InsertionPoint(operation.body):
        yield Number(operation.induction_variable)
        mlir.scf.YieldOp([])


def carried(
    start: Place,
    stop: Place,
    initial: Sequence[Number],
    body: Callable[..., Sequence[Number]],
    step: Place = 1,
) -> list[Number]:
    """What `body(i, *values)` returns in the last iteration; the first one gets `initial`."""
    operation = mlir.scf.ForOp(
        index(start).value, index(stop).value, index(step).value, [n.value for n in initial]
    )
    with mlir.ir.InsertionPoint(operation.body):
        values = [Number(v) for v in operation.inner_iter_args]
        following = body(Number(operation.induction_variable), *values)
        mlir.scf.YieldOp([n.value for n in following])
    return [Number(v) for v in operation.results]


def repeated(
    initial: Sequence[Number],
    condition: Callable[..., Number],
    body: Callable[..., Sequence[Number]],
) -> list[Number]:
    """The values when `condition(*values)` no longer holds, each iteration's made by `body(*values)`."""
    types = [n.type for n in initial]
    operation = mlir.scf.WhileOp(types, [n.value for n in initial])
    locations = [mlir.ir.Location.current] * len(types)
    before = operation.before.blocks.append(*types, arg_locs=locations)
    after = operation.after.blocks.append(*types, arg_locs=locations)
    with mlir.ir.InsertionPoint(before):
        goes_on = condition(*(Number(v) for v in before.arguments))
        mlir.scf.ConditionOp(goes_on.value, list(before.arguments))
    with mlir.ir.InsertionPoint(after):
        mlir.scf.YieldOp([n.value for n in body(*(Number(v) for v in after.arguments))])
    return [Number(v) for v in operation.results]


@contextmanager
def when(condition: Number) -> Iterator[None]:
    """A branch that is taken where the condition holds."""
    operation = mlir.scf.IfOp(condition.value)
    with mlir.ir.InsertionPoint(operation.then_block):
        yield
        mlir.scf.YieldOp([])


def branches(
    condition: Number,
    types: Sequence[Type],
    yes: Callable[[], Sequence[Number]],
    no: Callable[[], Sequence[Number]],
) -> list[Number]:
    """What `yes()` returns where the condition holds, else what `no()` returns."""
    operation = mlir.scf.IfOp(condition.value, list(types), has_else=True)
    for block, emit in ((operation.then_block, yes), (operation.else_block, no)):
        with mlir.ir.InsertionPoint(block):
            mlir.scf.YieldOp([n.value for n in emit()])
    return [Number(v) for v in operation.results]
