"""A loop over arrays as the loop of one element, where each element is computed from itself.

Input: an `adze.scan` or `adze.while` of a function of a module. Output: a new module with `@kernel`, in
which each array of the loop's shape is a 0-d array, and arrays that are scanned over are vectors; or
`NotPointwise`. Idea: elementwise ops have no shape of their own, so the functions of the loop are emitted
again on 0-d arrays; what else there may be of arrays is listed here and nowhere else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ......dialects import mlir
from ......dialects.builder.core import Application
from ......dialects.builder.emitter import Emitter, Reader
from ......dialects.dataclass import dataclass
from ......dialects.ops.collectives.shardings import ShardingConstraint
from ......dialects.ops.constants import Constant, Dim, Iota, SizeArithmetic, SizeConstant
from ......dialects.ops.control.cond import Cond
from ......dialects.ops.control.scan import Scan
from ......dialects.ops.control.while_loop import While
from ......dialects.ops.custom_rules.checkpoints import CheckpointName, OptimizationBarrier, StopGradient
from ......dialects.ops.elementwise.family import Elementwise
from ......dialects.ops.shape.rearrange import BroadcastInDim
from ......dialects.registration import registered_dialect
from ......dialects.types import INTEGERS, TensorType
from .....ir.aliases import Operation, Value
from .....ir.functions import body, split_body
from ..outline import KERNEL
from .errors import NotPointwise
from .masks import asked_of_elements
from .one_size import require_one_size

FEWEST: Final = 16  # elements: fewer are left to loops over arrays
_SAME: Final = (StopGradient, CheckpointName, OptimizationBarrier, ShardingConstraint)


class Kind(enum.Enum):
    """What the kernel of one element has of an operand or a result."""

    ELEMENT = "one element of an array"
    NUMBER = "a number that all elements share"
    ROWS = "one element of each row"
    NUMBERS = "a number for each step"


@dataclass(frozen=True)
class Single:
    """The module of one element; `@kernel` takes `operands` and returns the loop's results at `results`.

    `shape`: None for sizes that show at the call.
    """

    module: mlir.ir.Module
    shape: tuple[int | None, ...]
    operands: tuple[Value, ...]
    operand_kinds: tuple[Kind, ...]
    results: tuple[int, ...]
    result_kinds: tuple[Kind, ...]
    steps: int | None

    @property
    def count(self) -> int | None:
        """How many elements there are, None where that shows at the call."""
        known = [n for n in self.shape if n is not None]
        return prod(known) if len(known) == len(self.shape) else None


def single_element(
    loop: Operation, by_symbol: Mapping[str, Operation], reader: Reader, *, has_dynamic: bool
) -> Single:
    """The kernel of one element of `loop`; `NotPointwise` where elements depend on each other.

    `has_dynamic`: the sizes of arrays may show at the call.
    """
    application = reader.read(loop)
    assert application is not None
    shape = _shape_of(application, reader, has_dynamic=has_dynamic)
    if None in shape:
        _require_few_kinds(loop, application)
        require_one_size(loop, by_symbol, reader)
    registered_dialect()
    context = reader.codec.context
    used = tuple(k for k, result in enumerate(loop.results) if next(iter(result.uses), None) is not None)
    with context, mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        functions = SingleFunctions(module, by_symbol, reader, shape)
        return functions.kernel(loop, application, used)


def _shape_of(loop: Application, reader: Reader, *, has_dynamic: bool) -> tuple[int | None, ...]:
    """The shape of the arrays that a loop carries."""
    types = [reader.codec.read_type(v.type) for v in _carried(loop)]
    shapes = {t.shape for t in types if isinstance(t, TensorType) and t.shape}
    if len(shapes) != 1:
        raise NotPointwise("it carries no arrays" if not shapes else "it carries arrays of several shapes")
    (found,) = shapes
    shape = tuple(n if isinstance(n, int) else None for n in found)
    known = [n for n in shape if n is not None]
    if len(known) < len(shape) and not has_dynamic:
        raise NotPointwise("it carries arrays of unknown sizes")
    if len(known) == len(shape) and prod(known) < FEWEST:
        raise NotPointwise(f"it carries arrays of fewer than {FEWEST} elements")
    return shape


def _require_few_kinds(loop: Operation, application: Application) -> None:
    """Only arrays of one shape, and numbers that are not used after it, are in a loop over unknown sizes."""
    if application.op is Scan and not isinstance(application.attributes["length"][0], int):
        raise NotPointwise("it has a number of steps that shows at the call")
    scanned = [mlir.ir.RankedTensorType(v.type) for v in application.operands[_scanned(application) :]]
    if any(t.rank != 1 or not t.has_static_shape for t in scanned):
        raise NotPointwise("it scans over arrays of unknown sizes")
    if application.op is Scan and len(loop.results) > application.attributes["carry_count"]:
        raise NotPointwise("it stacks arrays of unknown sizes")
    if any(
        not mlir.ir.RankedTensorType(r.type).shape and next(iter(r.uses), None) is not None
        for r in loop.results
    ):
        raise NotPointwise("a number that it counts is used after it, and there may be no elements")
    arrays = [v for v in (*loop.operands, *loop.results) if isinstance(v.type, mlir.ir.RankedTensorType)]
    if any(isinstance(v.type.element_type, mlir.ir.ComplexType) for v in arrays):
        raise NotPointwise("it works on complex numbers of unknown sizes")


def _carried(loop: Application) -> Sequence[Value]:
    attributes = loop.attributes
    if loop.op is While:
        return loop.operands[attributes["condition_constants"] + attributes["body_constants"] :]
    first = attributes["constant_count"]
    return loop.operands[first : first + attributes["carry_count"]]


class SingleFunctions:
    """The functions of a loop for one element, each emitted once."""

    def __init__(
        self,
        module: mlir.ir.Module,
        by_symbol: Mapping[str, Operation],
        reader: Reader,
        shape: tuple[int | None, ...],
    ) -> None:
        self._module = module
        self._by_symbol = by_symbol
        self._reader = reader
        self._shape = shape
        self._emitted: dict[tuple[str, Value | None, tuple[int, ...]], str] = {}

    # -- the kernel ----------------------------------------------------------------------------

    def kernel(self, loop: Operation, application: Application, used: tuple[int, ...]) -> Single:
        """`@kernel`, which takes the operands of the loop and returns the results at `used`."""
        given, types, kinds = self._operands(application)
        passed = tuple(dict.fromkeys(v for v in given if isinstance(v, mlir.ir.Value)))
        arrays = [v for v in given if v is not None]
        by_value = dict(zip(arrays, zip(types, kinds, strict=True), strict=True))
        is_of_elements, operation = False, application.op
        if operation is While:
            is_of_elements = asked_of_elements(application, self._by_symbol, self._reader) is not None
        result_kinds = tuple(self._result_kind(application, loop.results[k], k) for k in used)
        if is_of_elements and Kind.NUMBER in result_kinds:
            raise NotPointwise("a number that it counts is used after it")
        b = self._function(KERNEL, [by_value[v][0] for v in passed], is_private=False)
        values = dict(zip(passed, b.arguments, strict=True))
        operands = [
            values[v] if isinstance(v, mlir.ir.Value) else v and b.emitter.array(v.array) for v in given
        ]
        results = self._loop(b.emitter, application, operands)
        b.returns([results[k] for k in used])
        return Single(
            self._module,
            self._shape,
            passed,
            tuple(by_value[v][1] for v in passed),
            used,
            result_kinds,
            application.attributes["length"][0] if operation is Scan else None,
        )

    def _operands(
        self, loop: Application
    ) -> tuple[list[Value | _Number | None], list[TensorType], list[Kind]]:
        """What the loop is given, None for sizes, with the types and kinds of the rest."""
        given: list[Value | _Number | None] = []
        types, kinds = [], []
        scanned = _scanned(loop)
        for position, value in enumerate(loop.operands):
            if isinstance(value.type, mlir.ir.IndexType):
                given.append(None)
                continue
            type_ = self._type(value)
            if position >= scanned:
                kind = Kind.NUMBERS if len(type_.shape) == 1 else Kind.ROWS
                if kind is Kind.ROWS and type_.shape[1:] != self._shape:
                    raise NotPointwise(f"it scans over rows of {type_}")
                given.append(value)
                types.append(type_.with_shape(type_.shape[:1]))
            else:
                value, number = self._repeated(value)
                type_ = self._type(value)
                kind = Kind.ELEMENT if type_.shape else Kind.NUMBER
                given.append(value if number is None else _Number(number))
                types.append(self._single_type(type_))
            kinds.append(kind)
        return given, types, kinds

    def _repeated(self, value: Value) -> tuple[Value, np.ndarray | None]:
        """The number of which an array is repetitions, or the array itself; and the number if it is known."""
        application = self._defining(value)
        if application is not None and application.op is BroadcastInDim:
            (operand,) = application.operands
            if not operand.type.shape:
                return self._repeated(operand)
        return value, None if application is None else _splat(application)

    def _result_kind(self, loop: Application, result: Value, position: int) -> Kind:
        type_ = self._type(result)
        if loop.op is Scan and position >= loop.attributes["carry_count"]:
            if type_.shape[1:] != self._shape:
                raise NotPointwise(f"it stacks rows of {type_}")
            return Kind.ROWS
        return Kind.ELEMENT if type_.shape else Kind.NUMBER

    # -- functions -----------------------------------------------------------------------------

    def _function(self, symbol: str, types: Sequence[TensorType], *, is_private: bool) -> _Function:
        return _Function(self._module, self._reader, symbol, types, is_private=is_private)

    def function(self, symbol: str, any_of: Value | None = None, counts: tuple[int, ...] = ()) -> str:
        """The function for one element; `any_of`, a value of it, is the element that it is `any` of.

        Its last arguments are counters, which it returns behind its results, with one of `counts` added.
        """
        if (symbol, any_of, counts) not in self._emitted:
            source = self._by_symbol[symbol]
            sizes = [v for v in body(source).arguments if isinstance(v.type, mlir.ir.IndexType)]
            arrays = [v for v in body(source).arguments if v not in sizes]
            types = [self._single_type(self._type(v)) for v in arrays]
            name = f"{symbol}_{len(self._emitted)}"
            b = self._function(name, types, is_private=True)
            values: dict[Value, Value | None] = dict(zip(arrays, b.arguments, strict=True))
            values.update(dict.fromkeys(sizes))
            operations, end = split_body(source)
            for operation in operations:
                application = self._reader.read(operation.operation, values.__getitem__)
                if application is None:
                    raise NotPointwise(f"{operation.operation.name} is in it")
                if any_of is not None and operation.operation.results[0] == any_of:
                    results: Sequence[Value] = application.operands
                else:
                    results = self._emit(b.emitter, operation.operation, application)
                values.update(zip(operation.operation.results, results, strict=True))
            counters = b.arguments[len(b.arguments) - len(counts) :]
            counted = [
                b.emitter.add(counter, b.emitter.array(np.asarray(step, self._type(counter).dtype)))
                for counter, step in zip(counters, counts, strict=True)
            ]
            b.returns([*(values[v] for v in end.operands), *counted])
            self._emitted[symbol, any_of, counts] = name
        return self._emitted[symbol, any_of, counts]

    def _emit(self, b: Emitter, operation: Operation, application: Application) -> Sequence[Value | None]:
        """One op for one element."""
        op, operands = application.op, application.operands
        if op in (Scan, While, Cond):
            return self._inner(b, operation, application)
        if op in (Dim, SizeConstant) or issubclass(op, SizeArithmetic):
            return [None] * len(operation.results)  # only shapes are made of sizes, and an element has none
        if op is Iota and self._is_counter(operation.results[0]):
            return [None]  # the loop that it is scanned by counts
        for value in (*operation.operands, *operation.results):
            if op is not BroadcastInDim or not isinstance(value.type, mlir.ir.IndexType):
                self._single_type(self._type(value))
        if op in _SAME:
            return operands
        if op is Constant:
            number = _splat(application)
            if number is None:
                raise NotPointwise("an array of constants is in it")
            return (b.array(number),)
        if op is BroadcastInDim:
            if operation.operands[0].type.shape and _is_moved(application):
                raise NotPointwise("it exchanges axes")
            if operation.operands[0].type.shape and None in self._shape:
                raise NotPointwise("it is not known whether its arrays have one size")
            return operands
        if issubclass(op, Elementwise):
            return b.apply(op, operands, application.attributes)
        raise NotPointwise(f"adze.{op.name} uses more than one element")

    def _inner(self, b: Emitter, operation: Operation, application: Application) -> Sequence[Value]:
        """A loop or branch in the body of the loop."""
        scanned = [] if application.op is not Scan else list(operation.operands)[_scanned(application) :]
        if not all(self._is_counter(v) for v in scanned):
            raise NotPointwise("an inner loop scans over arrays")
        if application.op is Scan and len(operation.results) > application.attributes["carry_count"]:
            raise NotPointwise("an inner loop stacks arrays")
        original = self._reader.read(operation)
        assert original is not None
        if application.op is While and asked_of_elements(original, self._by_symbol, self._reader) is not None:
            for result in operation.results:
                if not result.type.shape and next(iter(result.uses), None) is not None:
                    raise NotPointwise("a number that an inner loop counts is used after it")
        if application.op is not Cond:
            results = self._loop(b, application, application.operands, original)
            return results[: len(operation.results)]
        attributes = dict(application.attributes)
        attributes["branches"] = tuple(self.function(symbol) for symbol in attributes["branches"])
        attributes["results"] = tuple(self._single_type(t) for t in attributes["results"])
        return b.apply(Cond, _without_sizes(application.operands), attributes)

    def _is_counter(self, value: Value) -> bool:
        """Whether a value is the numbers 0, 1, 2, ... that loops scan over, and nothing else uses."""
        application, type_ = self._defining(value), self._reader.codec.read_type(value.type)
        if application is None or application.op is not Iota or not isinstance(type_, TensorType):
            return False
        if not type_.is_static or len(type_.shape) != 1 or type_.dtype not in INTEGERS:
            return False
        for use in value.uses:
            loop = self._reader.read(use.owner.operation)
            if loop is None or loop.op is not Scan or use.operand_number < _scanned(loop):
                return False
        return True

    def _loop(
        self,
        b: Emitter,
        loop: Application,
        operands: Sequence[Value | None],
        original: Application | None = None,
    ) -> Sequence[Value]:
        """A loop for one element, on its operands; `original` has the operands of the arrays' loop."""
        attributes: dict[str, Any] = dict(loop.attributes)
        first = 0
        for count in ("condition_constants", "body_constants") if loop.op is While else ("constant_count",):
            constants = operands[first : first + attributes[count]]
            first += len(constants)
            attributes[count] = len(_without_sizes(constants))
        counts: tuple[int, ...] = ()
        operands = _without_sizes(operands)
        if loop.op is While:
            asked = asked_of_elements(original or loop, self._by_symbol, self._reader)
            attributes["condition"] = self.function(attributes["condition"], asked)
        else:
            length = attributes["length"]
            carry = [self._single_type(t) for t in attributes["results"][: attributes["carry_count"]]]
            rows = attributes["results"][attributes["carry_count"] :]
            for counter in [] if original is None else original.operands[_scanned(original) :]:
                type_ = self._type(counter)
                last = np.asarray(length[0] - 1 if attributes["reverse"] else 0, type_.dtype)
                operands.append(b.array(last))
                carry.append(type_.with_shape(()))
                counts = (*counts, -1 if attributes["reverse"] else 1)
            attributes["carry_count"] += len(counts)
            attributes["results"] = (*carry, *(t.with_shape(tuple(length)) for t in rows))
        attributes["body"] = self.function(attributes["body"], counts=counts)
        return b.apply(loop.op, operands, attributes)

    # -- types ---------------------------------------------------------------------------------

    def _type(self, value: Value) -> TensorType:
        type_ = self._reader.codec.read_type(value.type)
        if not isinstance(type_, TensorType) or not (type_.is_static or type_.shape == self._shape):
            raise NotPointwise("it has sizes that are known only when it runs")
        return type_

    def _single_type(self, type_: TensorType) -> TensorType:
        if type_.shape not in ((), self._shape):
            raise NotPointwise(f"it uses an array of {type_}")
        return type_.with_shape(())

    def _defining(self, value: Value) -> Application | None:
        return None if isinstance(value.owner, mlir.ir.Block) else self._reader.read(value.owner.operation)


@dataclass(frozen=True, eq=False)
class _Number:
    """A constant operand that is emitted inside of the kernel."""

    array: np.ndarray


class _Function:
    """A function of the module of one element while it is emitted."""

    def __init__(
        self,
        module: mlir.ir.Module,
        reader: Reader,
        symbol: str,
        types: Sequence[TensorType],
        *,
        is_private: bool,
    ) -> None:
        written = [reader.codec.write_type(t) for t in types]
        with mlir.ir.InsertionPoint(module.body):
            self._operation = mlir.func.FuncOp(symbol, mlir.ir.FunctionType.get(written, []))
            if is_private:
                self._operation.attributes["sym_visibility"] = mlir.ir.StringAttr.get("private")
            block = self._operation.add_entry_block()
        self._point = mlir.ir.InsertionPoint(block)
        self.arguments: list[Value] = list(block.arguments)
        self.emitter = Emitter(reader.codec, self._point, mlir.ir.Location.unknown())

    def returns(self, values: Sequence[Value]) -> None:
        """End the function, whose type is known now."""
        with self._point:
            mlir.func.ReturnOp(values)
        type_ = mlir.ir.FunctionType.get([a.type for a in self.arguments], [v.type for v in values])
        self._operation.attributes["function_type"] = mlir.ir.TypeAttr.get(type_)


def _without_sizes(operands: Sequence[Value | None]) -> list[Value]:
    """What an op for one element is given: sizes, which are None, are of no use to it."""
    return [v for v in operands if v is not None]


def _scanned(loop: Application) -> int:
    """The position of the first operand that a loop scans over."""
    if loop.op is While:
        return len(loop.operands)
    return int(loop.attributes["constant_count"] + loop.attributes["carry_count"])


def _splat(application: Application) -> np.ndarray | None:
    """The element of a constant whose elements are equal, None for other ops."""
    if application.op is not Constant:
        return None
    array = np.asarray(Constant.evaluate(**application.attributes))
    flat = array.reshape(-1)
    if not flat.size or flat.tobytes() != flat[:1].tobytes() * flat.size:
        return None
    return flat[0].reshape(()) if flat.size else None


def _is_moved(application: Application) -> bool:
    dimensions = tuple(application.attributes["dimensions"])
    return dimensions != tuple(range(len(dimensions)))
