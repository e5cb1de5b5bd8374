"""Scalar code for one element as vector code for several: each lane of a vector is an element.

Input: the code of `@kernel` of one element (`single.py`), lowered to scalars. Output: vector, arith, math and
scf ops at the ambient insertion point. Idea: a value that follows from an element is a vector, what all
elements share stays scalar. A loop runs as long as any lane goes on; `masks.py` has seen to it that lanes
which are done stay what they are. A complex number is two vectors. A code that this file does not know is a
`KernelError`: the loop gets another form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ......dialects import mlir
from ......dialects.dataclass import dataclass
from .....ir.aliases import Block, Operation, Type, Value
from ..walk import terminator
from .errors import NotPointwise

Wide: TypeAlias = "tuple[Value, ...]"
"""The parts of a value: one, or the real and the imaginary part."""

HIDDEN: Final = "util.optimization_barrier"
"""A value of which passes on scalar code know nothing."""
_PLAIN: Final = ("arith.", "math.")


@dataclass(frozen=True)
class Memory:
    """What scalar code finds in memory: `load` and `store` of one element are of lanes here."""

    load: Callable[[Value, Sequence[Value]], Wide | None]
    """The parts of an element of an argument at indices of its own; None where it is no array."""
    store: Callable[[int, Wide, Sequence[Value]], None]
    """Store a row of the stack of a result."""


def widen(function: Operation, lanes: int, memory: Memory, varying: frozenset[int]) -> list[Wide | None]:
    """The values that `function` returns, None for stacks; `varying` are its arguments of elements."""
    block = function.regions[0].blocks[0]
    elements = {block.arguments[k] for k in varying}
    stacks = _stacks(block)
    widening = Widening(lanes, memory, _varying(block, elements), stacks)
    widening.block(block, {})
    return [None if v in stacks else widening.returned(v) for v in terminator(block).operands]


def _stacks(block: Block) -> dict[Value, int]:
    """The values that are the stack of a result, by the position of the result."""
    stacks: dict[Value, int] = {}
    for position, value in enumerate(terminator(block).operands):
        if not mlir.ir.RankedTensorType(value.type).rank:
            continue
        owner = value.owner
        if isinstance(owner, mlir.ir.Block) or owner.operation.name != "scf.for":
            raise NotPointwise("what it stacks is not the result of a loop")
        loop = owner.operation
        number = list(loop.results).index(value)
        start = loop.operands[3 + number]
        if isinstance(start.owner, mlir.ir.Block) or start.owner.operation.name != "tensor.empty":
            raise NotPointwise("what it stacks is not empty at first")
        if value in stacks:
            raise NotPointwise("two results are one stack")
        inner = loop.regions[0].blocks[0]
        written = terminator(inner).operands[number]
        stacks |= {value: position, inner.arguments[1 + number]: position, written: position}
    return stacks


# -- which values are of elements ------------------------------------------------------------------


def _varying(block: Block, elements: set[Value]) -> set[Value]:
    """The values that follow from elements."""
    found = set(elements)
    while True:
        before = len(found)
        _mark(block, found)
        if len(found) == before:
            return found


def _mark(block: Block, found: set[Value]) -> None:
    for child in block.operations:
        operation = child.operation
        for region in operation.regions:
            for inner in region.blocks:
                _mark(inner, found)
        if operation.name in ("scf.for", "scf.while", "scf.if"):
            for source, targets in _flows(operation):
                if source in found:
                    found.update(targets)
        elif any(v in found for v in operation.operands):
            found.update(operation.results)


def _flows(operation: Operation) -> Iterator[tuple[Value, list[Value]]]:
    """Which values of a loop or branch become which."""
    results = list(operation.results)
    if operation.name == "scf.if":
        for region in operation.regions:
            if len(region.blocks):
                for value, result in zip(terminator(region.blocks[0]).operands, results, strict=True):
                    yield value, [result]
        return
    if operation.name == "scf.for":
        inner = operation.regions[0].blocks[0]
        carried = list(inner.arguments)[1:]
        for sources in (list(operation.operands)[3:], list(terminator(inner).operands)):
            for source, argument, result in zip(sources, carried, results, strict=True):
                yield source, [argument, result]
        return
    before, after = (region.blocks[0] for region in operation.regions)
    for sources in (list(operation.operands), list(terminator(after).operands)):
        for source, argument in zip(sources, before.arguments, strict=True):
            yield source, [argument]
    passed = list(terminator(before).operands)[1:]
    for source, argument, result in zip(passed, after.arguments, results, strict=True):
        yield source, [argument, result]


# -- code --------------------------------------------------------------------------------------------


class Widening:
    """Emits the vector code of blocks."""

    def __init__(self, lanes: int, memory: Memory, varying: set[Value], stacks: Mapping[Value, int]) -> None:
        self._lanes = lanes
        self._memory = memory
        self._varying = varying
        self._stacks = stacks
        self._values: dict[Value, Wide] = {}

    def block(self, block: Block, arguments: Mapping[Value, Wide]) -> None:
        """The ops of a block but its last."""
        self._values.update(arguments)
        end = terminator(block)
        for child in block.operations:
            if child.operation != end:
                self._operation(child.operation)

    def of(self, value: Value) -> Wide:
        """The parts of a value."""
        return self._values[value]

    def as_vectors(self, value: Value) -> Wide:
        """The parts of a value as vectors."""
        return tuple(self._vector(part) for part in self.of(value))

    def returned(self, value: Value) -> Wide:
        """The parts of a 0-d result."""
        if isinstance(value.owner, mlir.ir.Block):
            loaded = self._memory.load(value, [])
            if loaded is None:
                raise NotPointwise("it returns what it is given")
            return loaded
        operation = value.owner.operation
        if operation.name == "tensor.from_elements":
            return self.of(operation.operands[0])
        if operation.name != "arith.constant" or isinstance(value.type.element_type, mlir.ir.ComplexType):
            raise NotPointwise(f"it returns a {operation.name}")
        known = mlir.ir.DenseElementsAttr(operation.attributes["value"]).get_splat_value()
        return (mlir.arith.constant(value.type.element_type, known),)

    def _vector(self, part: Value) -> Value:
        if isinstance(part.type, mlir.ir.VectorType):
            return part
        return mlir.vector.broadcast(mlir.ir.VectorType.get([self._lanes], part.type), part)

    def _operation(self, operation: Operation) -> None:
        name = operation.name
        if name in ("tensor.empty", "tensor.from_elements"):
            return  # stacks and results, which have no values here
        if name == "tensor.extract":
            array, *indices = operation.operands
            loaded = self._memory.load(array, [self._scalar(v) for v in indices])
            if loaded is None:
                raise NotPointwise("it uses elements of an array that it computes")
            self._set(operation, [loaded])
        elif name == "tensor.insert":
            self._insert(operation)
        elif name == HIDDEN:
            self._set(operation, [self.of(operation.operands[0])])
        elif name.startswith("complex."):
            self._set(operation, [self._complex(operation)])
        elif name == "scf.for":
            self._for(operation)
        elif name == "scf.while":
            self._while(operation)
        elif name == "scf.if":
            self._if(operation)
        elif name.startswith(_PLAIN) and not operation.regions:
            self._set(operation, [self._arithmetic(operation)])
        else:
            raise NotPointwise(f"{name} has no form on vectors")

    def _set(self, operation: Operation, values: Sequence[Wide]) -> None:
        self._values.update(zip(operation.results, values, strict=True))

    def _scalar(self, value: Value) -> Value:
        if value in self._varying:
            raise NotPointwise("an index follows from an element")
        (part,) = self.of(value)
        return part

    def _insert(self, operation: Operation) -> None:
        value, stack, *indices = operation.operands
        if stack not in self._stacks or operation.results[0] not in self._stacks:
            raise NotPointwise("it updates an array")
        at = [self._scalar(v) for v in indices]
        self._memory.store(self._stacks[stack], self.as_vectors(value), at)

    # -- single ops ----------------------------------------------------------------------------

    def _arithmetic(self, operation: Operation) -> Wide:
        if operation.name == "arith.select":
            return self._select(operation)
        is_wide = operation.results[0] in self._varying
        parts = [self.as_vectors(v) if is_wide else self.of(v) for v in operation.operands]
        type_ = operation.results[0].type
        attributes = {name: operation.attributes[name] for name in operation.attributes}
        created = mlir.ir.Operation.create(
            operation.name,
            results=[mlir.ir.VectorType.get([self._lanes], type_) if is_wide else type_],
            operands=[part for (part,) in parts],
            attributes=attributes,
        )
        return (created.results[0],)

    def _select(self, operation: Operation) -> Wide:
        condition, yes, no = operation.operands
        is_wide = operation.results[0] in self._varying
        (chosen,) = self.as_vectors(condition) if is_wide else self.of(condition)
        sides = [self.as_vectors(v) if is_wide else self.of(v) for v in (yes, no)]
        return tuple(mlir.arith.select(chosen, a, b) for a, b in zip(*sides, strict=True))

    def _complex(self, operation: Operation) -> Wide:
        name = operation.name
        if name == "complex.constant":
            element = mlir.ir.ComplexType(operation.results[0].type).element_type
            return tuple(mlir.arith.constant(element, part) for part in operation.attributes["value"])
        parts = [part for v in operation.operands for part in self.of(v)]
        if name == "complex.create":
            return tuple(map(self._vector, parts)) if operation.results[0] in self._varying else tuple(parts)
        if name in ("complex.re", "complex.im"):
            return (parts[0 if name == "complex.re" else 1],)
        raise NotPointwise(f"{name} has no form on vectors")

    # -- loops and branches --------------------------------------------------------------------

    def _carried(self, argument: Value, value: Value) -> Wide:
        return self.as_vectors(value) if argument in self._varying else self.of(value)

    def _for(self, operation: Operation) -> None:
        inner = operation.regions[0].blocks[0]
        counter, *carried = inner.arguments
        kept = [k for k, argument in enumerate(carried) if argument not in self._stacks]
        bounds = [self._scalar(v) for v in list(operation.operands)[:3]]
        starts = [self._carried(carried[k], operation.operands[3 + k]) for k in kept]
        loop = mlir.scf.ForOp(*bounds, [part for parts in starts for part in parts])
        with mlir.ir.InsertionPoint(loop.body):
            arguments = dict(
                zip((carried[k] for k in kept), _grouped(loop.inner_iter_args, starts), strict=True)
            )
            self.block(inner, {counter: (loop.induction_variable,), **arguments})
            yielded = terminator(inner).operands
            mlir.scf.YieldOp([part for k in kept for part in self._carried(carried[k], yielded[k])])
        for k, parts in zip(kept, _grouped(loop.results, starts), strict=True):
            self._values[operation.results[k]] = parts

    def _while(self, operation: Operation) -> None:
        before, after = (region.blocks[0] for region in operation.regions)
        starts = [self._carried(a, v) for a, v in zip(before.arguments, operation.operands, strict=True)]
        kinds = [part.type for parts in starts for part in parts]
        going_on, *passed = terminator(before).operands
        shapes = [self._parts_of(a) for a in after.arguments]
        results = [type_ for types in shapes for type_ in types]
        loop = mlir.scf.WhileOp(results, [part for parts in starts for part in parts])
        locations = [mlir.ir.Location.unknown()] * max(len(kinds), len(results))
        asks = loop.before.blocks.append(*kinds, arg_locs=locations[: len(kinds)])
        with mlir.ir.InsertionPoint(asks):
            self.block(before, dict(zip(before.arguments, _grouped(asks.arguments, starts), strict=True)))
            values = [
                part for a, v in zip(after.arguments, passed, strict=True) for part in self._carried(a, v)
            ]
            mlir.scf.ConditionOp(self._any(going_on), values)
        steps = loop.after.blocks.append(*results, arg_locs=locations[: len(results)])
        with mlir.ir.InsertionPoint(steps):
            self.block(after, dict(zip(after.arguments, _grouped(steps.arguments, shapes), strict=True)))
            yielded = zip(before.arguments, terminator(after).operands, strict=True)
            mlir.scf.YieldOp([part for a, v in yielded for part in self._carried(a, v)])
        self._set(operation, list(_grouped(loop.results, shapes)))

    def _any(self, condition: Value) -> Value:
        (part,) = self.of(condition)
        if condition not in self._varying:
            return part
        kind = mlir.ir.Attribute.parse("#vector.kind<or>")
        return mlir.vector.reduction(mlir.ir.IntegerType.get_signless(1), kind, part)

    def _parts_of(self, value: Value) -> tuple[Type, ...]:
        """The types of the parts of a value."""
        type_ = value.type
        elements = (
            (mlir.ir.ComplexType(type_).element_type,) * 2
            if isinstance(type_, mlir.ir.ComplexType)
            else (type_,)
        )
        if value in self._varying:
            return tuple(mlir.ir.VectorType.get([self._lanes], element) for element in elements)
        return elements

    def _if(self, operation: Operation) -> None:
        condition = self._scalar(operation.operands[0])
        shapes = [self._parts_of(r) for r in operation.results]
        branch = mlir.scf.IfOp(condition, [t for types in shapes for t in types], has_else=True)
        for block, region in zip((branch.then_block, branch.else_block), operation.regions, strict=True):
            with mlir.ir.InsertionPoint(block):
                yielded: list[Value] = []
                if len(region.blocks):
                    inner = region.blocks[0]
                    self.block(inner, {})
                    for result, value in zip(operation.results, terminator(inner).operands, strict=True):
                        yielded += self._carried(result, value)
                mlir.scf.YieldOp(yielded)
        self._set(operation, list(_grouped(branch.results, shapes)))


def _grouped(parts: Sequence[Value], shapes: Sequence[Sequence[object]]) -> Iterator[Wide]:
    """Consecutive parts in groups as long as those of `shapes`."""
    rest = iter(list(parts))
    for shape in shapes:
        yield tuple(next(rest) for _ in shape)
