"""Folds of large arrays: each computes its operand itself, and those of one array are done in one pass.

In: linalg on tensors as the rules emitted it. Out: the same program, where a fold (a reduction over axes)
reads the arrays that its operand is cheaply computed from instead of the operand, and folds that walk the
same arrays the same way are one op of several results. IREE fuses producers too, but drops the tiles of the
fold, and writes out whatever has two readers, as nearly every value in the gradient of a normalisation has;
reading memory costs more than computing it again. What is dear to compute (an exponential), or is written to
memory anyway, is read.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Final

from ....dialects import mlir
from ..tuning import configuration
from .generics import (
    FIXED,
    Generic,
    Map,
    copied,
    emit_fold,
    is_large,
    owner,
    read,
    repeated_constant,
    through,
)
from .merging import LARGE_INPUTS, merge
from .rearrangement import RearrangementForms

BODY: Final = 64  # a fold that would do more scalar operations than this reads its operand


def fuse(lowering: RearrangementForms, module: Any) -> None:
    """Rewrite the large folds of every function of `module`, in place."""
    if not configuration.computes_operands_of_folds(lowering.target):
        return
    for function in module.body.operations:
        for block in function.regions[0].blocks:
            _Block(lowering, block).run()


@dataclass(slots=True)
class _Expression:
    """An operand as it is to be computed in a fold: the arrays read for it, and how much there is to do."""

    inputs: dict[tuple[Any, Map], None] = field(default_factory=dict)
    seen: set[tuple[Any, Map]] = field(default_factory=set)
    operations: int = 0

    def is_worth_it(self, loops: int) -> bool:
        """Whether few large arrays are read and little is done, over loops that the arrays determine.

        No array is read in two ways: IREE computes wrongly what it fuses so (`iree/two_index_maps.py`).
        """
        large = sum(is_large(v) for v, _ in self.inputs)
        walked = {loop for _, map_ in self.inputs for loop in map_}
        is_little = large <= LARGE_INPUTS and self.operations <= BODY
        return (
            is_little and len({v for v, _ in self.inputs}) == len(self.inputs) and walked >= {*range(loops)}
        )


class _Block:
    """The large generics of one block, and the rewriting of its folds."""

    def __init__(self, lowering: RearrangementForms, block: Any) -> None:
        self.lowering = lowering
        self.block = block
        self.generics: dict[Any, Generic] = {}
        self.written: dict[Any, Any] = {}

    def run(self) -> None:
        for operation in self.block.operations:
            found = read(operation.operation)
            if found is not None:
                self.generics[found.key] = found
        folds = [g for g in self.generics.values() if g.is_fold]
        if folds:
            folds = [self._with_its_operand(fold) for fold in folds]
            self._erase_unread()
            merge(self.lowering, self.block, folds)

    def _with_its_operand(self, fold: Generic) -> Generic:
        """`fold`, computing its operand itself where that is cheap.

        Measured: fused by IREE with what computes its operand, a fold of columns walks it in narrow tiles; so
        what such a fold does not compute itself is written to memory before.
        """
        ((operand, walk),) = fold.reads
        by_columns = len(fold.kept) > 0 and walk[-1] in fold.kept
        expression = _Expression()
        self._plan(expression, operand, walk)
        sources = list(expression.inputs) if expression.is_worth_it(fold.loops) else [(operand, walk)]
        with mlir.ir.InsertionPoint(fold.operation), fold.operation.location:
            values = [self._stored(v) if by_columns and is_large(v) else v for v, _ in sources]
            if sources == [(operand, walk)]:
                fold.operation.operands[0] = values[0]
                return fold
            reads = [self._without_fixed_axes(v, m) for v, (_, m) in zip(values, sources, strict=True)]

        def body(*scalars: Any) -> Any:
            known = dict(zip(sources, scalars, strict=False))
            element = _only_added(self._computed(operand, walk, known), fold.body, by_columns)
            return copied(fold.body, [element, scalars[-1]], range(fold.loops))

        del self.generics[fold.key]
        made = emit_fold(self.lowering, [fold], reads, body)
        self.generics[made.key] = made
        return made

    def _plan(self, expression: _Expression, value: Any, walk: Map) -> None:
        """Enter what computes `value` into the expression, or `value` itself."""
        if (value, walk) in expression.seen:
            return
        expression.seen.add((value, walk))
        if repeated_constant(value) is not None:
            return
        producer = self._may_be_computed_again(value)
        if producer is None:
            expression.inputs[value, walk] = None
            return
        expression.operations += sum(1 for _ in producer.body.operations) - 1
        for operand, map_ in zip(producer.inputs, producer.maps, strict=True):
            self._plan(expression, operand, through(map_, walk))

    def _may_be_computed_again(self, value: Any) -> Generic | None:
        """The elementwise op that makes `value`, unless a reader needs the array in memory."""
        found = self.generics.get(value)
        if found is None or not found.is_cheap:
            return None
        readers = (use.owner.operation for use in value.uses)
        return found if all(r.results and r.results[0] in self.generics for r in readers) else None

    def _computed(self, value: Any, walk: Map, known: dict[tuple[Any, Map], Any]) -> Any:
        """The scalar of `value` at the place where the body is; `known` has those that were met before."""
        scalar = known.get((value, walk))
        if scalar is None:
            constant = repeated_constant(value)
            if constant is not None:
                return mlir.arith.constant(constant.type, constant)
            producer = self.generics[value]
            scalars = [self._computed(v, through(m, walk), known) for v, m in producer.reads]
            (scalar,) = copied(producer.body, [*scalars, None], walk)
            known[value, walk] = scalar
        return scalar

    def _stored(self, value: Any) -> Any:
        """`value`, behind a barrier if an op makes it that IREE would fuse with its reader."""
        maker = owner(value)
        if maker is None or maker.name != "linalg.generic":
            return value
        if value not in self.written:
            self.written[value] = self.lowering.materialise(value)
        return self.written[value]

    def _without_fixed_axes(self, value: Any, map_: Map) -> tuple[Any, Map]:
        """`value` without axes of size 1: IREE would fold them away, and drop the tiles of the fold."""
        if FIXED not in map_:
            return value, map_
        moving = tuple(loop for loop in map_ if loop != FIXED)
        if (value, map_) not in self.written:
            # Each axis of size 1 goes with the one before it, those at the front with the first one.
            starts = [axis for axis, loop in enumerate(map_) if loop != FIXED]
            bounds = [0, *starts[1:], len(map_)]
            groups = [list(range(a, b)) for a, b in itertools.pairwise(bounds)] if moving else []
            self.written[value, map_] = self.lowering.collapse(value, groups)
        return self.written[value, map_], moving

    def _erase_unread(self) -> None:
        """Drop the elementwise ops that every reader now computes itself."""
        for key, generic in reversed(list(self.generics.items())):
            if generic.is_fold or _is_read(key):
                continue
            del self.generics[key]
            init = owner(generic.inits[0])
            generic.operation.erase()
            if init is not None and init.name == "tensor.empty" and not _is_read(init.results[0]):
                init.erase()


def _is_read(value: Any) -> bool:
    return any(True for _ in value.uses)


def _only_added(element: Any, body: Any, by_columns: bool) -> Any:
    """`element`, in such a form that a sum of it stays one: adding zero changes no sum.

    Observed in IREE 3.13: a sum of products over columns becomes a contraction of vectors and then scalar
    code (8 times slower), a sum of negatives becomes a subtraction, which is not vectorised at all.
    """
    disguised = ("arith.mulf", "arith.negf") if by_columns else ("arith.negf",)
    sums = any(step.operation.name == "arith.addf" for step in body.operations)
    maker = owner(element)
    if not sums or maker is None or maker.name not in disguised:
        return element
    zero = mlir.arith.constant(element.type, mlir.ir.FloatAttr.get(element.type, 0.0))
    return mlir.arith.addf(element, zero)
