"""Fusion of large reductions: each computes its operand itself, and those of one array become one op.

Input: linalg on tensors as the lowerings emitted it. Output: the same program, where a reduction reads the
arrays that its operand is cheaply computed from instead of the operand, and reductions that read the same
arrays in the same way are one op of several results.
Idea: IREE fuses producers too, but drops the tiles of the reduction, and writes out whatever has two uses, as
nearly every value in the gradient of a normalisation has. Reading memory costs more than computing a value
again. What is dear to compute (an exponential), or is written to memory anyway, is read.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from ...ir.functions import functions
from ..builder import LinalgBuilder, Value
from ..tuning import configuration
from .generics import (
    FIXED,
    Access,
    Generic,
    Map,
    compose,
    defining_op,
    emit_reduction,
    inline_body,
    is_large,
    may_be_a_reduction,
    recognise,
    splat_constant,
)
from .horizontal_fusion import LARGE_INPUTS, fuse_horizontally
from .short_reductions import MOST, emit_unrolled, is_short
from .tensor_ops import collapse_axes

if TYPE_CHECKING:
    from iree.compiler import ir

MOST_OPERATIONS: Final = 64  # a reduction that would do more scalar operations than this reads its operand


def fuse_reductions(b: LinalgBuilder, target: Target, module: ir.Module) -> None:
    """Rewrite the large reductions of every function of `module`, in place."""
    if not configuration.recomputes_operands(target):
        return
    for function in functions(module).values():
        for block in function.regions[0].blocks:
            _Block(b, block).run()


@dataclass(slots=True)
class _Expression:
    """How an operand is computed in a reduction: the arrays that it reads, and how much there is to do."""

    inputs: dict[Access, None] = field(default_factory=dict)
    seen: set[Access] = field(default_factory=set)
    operations: int = 0

    def pays(self, loops: int) -> bool:
        """Whether few large arrays are read and little is done, over loops that the arrays determine.

        No array is read by two maps: IREE computes wrongly what it fuses so (`iree/two_index_maps.py`).
        """
        large = sum(is_large(v) for v, _ in self.inputs)
        indexed = {loop for _, map_ in self.inputs for loop in map_}
        is_little = large <= LARGE_INPUTS and self.operations <= MOST_OPERATIONS
        has_one_map_each = len({v for v, _ in self.inputs}) == len(self.inputs)
        return is_little and has_one_map_each and indexed >= {*range(loops)}


class _Block:
    """The large generics of one block, and the rewriting of its reductions."""

    def __init__(self, b: LinalgBuilder, block: ir.Block) -> None:
        self.builder = b
        self.block = block
        self.generics: dict[Value, Generic] = {}
        self.materialised: dict[Value, Value] = {}
        self.collapsed: dict[Access, Value] = {}

    def run(self) -> None:
        operations = [child.operation for child in self.block.operations]
        if not any(map(may_be_a_reduction, operations)):
            return
        for operation in operations:
            generic = recognise(operation)
            if generic is not None:
                self.generics[generic.key] = generic
        reductions = [g for g in self.generics.values() if g.is_reduction]
        if reductions:
            fused = [self._with_its_operand(reduction) for reduction in reductions]
            self._erase_unused()
            fuse_horizontally(self.builder, self.block, [reduction for reduction in fused if reduction])

    def _with_its_operand(self, reduction: Generic) -> Generic | None:
        """`reduction`, computing its operand itself where that is cheap; None if it reduces no longer.

        Measured: fused by IREE with what computes its operand, a reduction of columns goes through it in
        narrow tiles; so what such a reduction does not compute itself is written to memory before.
        """
        ((operand, map_),) = reduction.accesses
        by_columns = len(reduction.kept) > 0 and map_[-1] in reduction.kept
        expression = _Expression()
        self._expand(expression, operand, map_)
        is_little = expression.operations <= MOST_OPERATIONS // MOST
        if (
            is_little
            and is_short(reduction, list(expression.inputs))
            and self._is_alone(reduction, expression)
        ):
            self._unroll(reduction, list(expression.inputs))
            return None
        sources = list(expression.inputs) if expression.pays(reduction.loops) else [(operand, map_)]
        with mlir.ir.InsertionPoint(reduction.operation), reduction.operation.location:
            values = [self._materialised(v) if by_columns and is_large(v) else v for v, _ in sources]
            if sources == [(operand, map_)]:
                reduction.operation.operands[0] = values[0]
                return reduction
            accesses = [self._without_fixed_axes(v, m) for v, (_, m) in zip(values, sources, strict=True)]

        def body(*scalars: Value) -> list[Value]:
            known = dict(zip(sources, scalars, strict=False))
            element = self._computed(operand, map_, known)
            element = _as_plain_summand(element, reduction.body, by_columns)
            return inline_body(reduction.body, [element, scalars[-1]], range(reduction.loops))

        del self.generics[reduction.key]
        fused = emit_reduction(self.builder, [reduction], accesses, body)
        self.generics[fused.key] = fused
        return fused

    def _is_alone(self, reduction: Generic, expression: _Expression) -> bool:
        """Whether nothing else uses what is computed on the way.

        Observed: where something does, as in gradients, IREE computes an elementwise op in each of its users,
        for elements of which there are more: forces of 150 particles took 99 us, and 75 with a reduction.
        """
        inputs = {value for value, _ in expression.inputs}
        computed = [v for v, _ in expression.seen if v in self.generics and v not in inputs]
        known = {reduction.operation, *(value.owner.operation for value in computed)}
        return all(use.owner.operation in known for value in computed for use in value.uses)

    def _unroll(self, reduction: Generic, sources: Sequence[Access]) -> None:
        """Write a reduction of a few elements as an elementwise op, which computes each of them."""
        ((operand, map_),) = reduction.accesses
        with mlir.ir.InsertionPoint(reduction.operation), reduction.operation.location:
            accesses = [self._without_fixed_axes(v, m) for v, m in sources]

        def element(scalars: Sequence[Value]) -> Value:
            return self._computed(operand, map_, dict(zip(sources, scalars, strict=True)))

        del self.generics[reduction.key]
        unrolled = recognise(emit_unrolled(self.builder, reduction, accesses, element))
        if unrolled is not None:
            self.generics[unrolled.key] = unrolled

    def _expand(self, expression: _Expression, value: Value, map_: Map) -> None:
        """Enter what computes `value` into the expression, or `value` itself."""
        if (value, map_) in expression.seen:
            return
        expression.seen.add((value, map_))
        if splat_constant(value) is not None:
            return
        producer = self._recomputable(value)
        if producer is None:
            expression.inputs[value, map_] = None
            return
        expression.operations += sum(1 for _ in producer.body.operations) - 1
        for operand, operand_map in producer.accesses:
            self._expand(expression, operand, compose(operand_map, map_))

    def _recomputable(self, value: Value) -> Generic | None:
        """The elementwise op that computes `value`, unless a user needs the array in memory."""
        generic = self.generics.get(value)
        if generic is None or not generic.is_cheap:
            return None
        users = (use.owner.operation for use in value.uses)
        return generic if all(u.results and u.results[0] in self.generics for u in users) else None

    def _computed(self, value: Value, map_: Map, known: dict[Access, Value]) -> Value:
        """The scalar of `value` at the index of the body; `known` has those that are computed already."""
        scalar = known.get((value, map_))
        if scalar is None:
            constant = splat_constant(value)
            if constant is not None:
                return mlir.arith.constant(constant.type, constant)
            producer = self.generics[value]
            scalars = [self._computed(v, compose(m, map_), known) for v, m in producer.accesses]
            (scalar,) = inline_body(producer.body, [*scalars, None], map_)
            known[value, map_] = scalar
        return scalar

    def _materialised(self, value: Value) -> Value:
        """`value`, behind a barrier if it is the result of an op that IREE would fuse with its user."""
        operation = defining_op(value)
        if operation is None or operation.name != "linalg.generic":
            return value
        if value not in self.materialised:
            self.materialised[value] = self.builder.materialise(value)
        return self.materialised[value]

    def _without_fixed_axes(self, value: Value, map_: Map) -> Access:
        """`value` without axes of size 1: IREE would fold them away, and drop the tiles of the reduction."""
        if FIXED not in map_:
            return value, map_
        moving = tuple(loop for loop in map_ if loop != FIXED)
        if (value, map_) not in self.collapsed:
            # Each axis of size 1 goes with the one before it, those at the front with the first one.
            starts = [axis for axis, loop in enumerate(map_) if loop != FIXED]
            bounds = [0, *starts[1:], len(map_)]
            groups = [list(range(i, j)) for i, j in itertools.pairwise(bounds)] if moving else []
            self.collapsed[value, map_] = collapse_axes(self.builder, value, groups)
        return self.collapsed[value, map_], moving

    def _erase_unused(self) -> None:
        """Erase the elementwise ops that every user now computes itself."""
        for key, generic in reversed(list(self.generics.items())):
            if generic.is_reduction or _is_used(key):
                continue
            del self.generics[key]
            init = defining_op(generic.inits[0])
            generic.operation.erase()
            if init is not None and init.name == "tensor.empty" and not _is_used(init.results[0]):
                init.erase()


def _is_used(value: Value) -> bool:
    return any(True for _ in value.uses)


def _as_plain_summand(element: Value, body: ir.Block, by_columns: bool) -> Value:
    """`element`, in such a form that IREE sees a sum of it as one: adding zero changes no sum.

    Observed in IREE 3.13: a sum of products over columns becomes a contraction of vectors and then scalar
    code (8 times slower), a sum of negatives becomes a subtraction, which is not vectorised at all.
    """
    disguised = ("arith.mulf", "arith.negf") if by_columns else ("arith.negf",)
    sums = any(step.operation.name == "arith.addf" for step in body.operations)
    operation = defining_op(element)
    if not sums or operation is None or operation.name not in disguised:
        return element
    zero = mlir.arith.constant(element.type, mlir.ir.FloatAttr.get(element.type, 0.0))
    return mlir.arith.addf(element, zero)
