"""Branches: `scf.if`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import mlir
from .bodies import BodyForms


class BranchForms(BodyForms):
    """A choice between functions."""

    def cond(self, index: Any, operands: Sequence[Any], branches: Sequence[str]) -> tuple[Any, ...]:
        """A chain of `scf.if`, the last branch taken when no other is."""
        chosen = mlir.tensor.extract(index, [])
        types = self._result_tensors()
        return self._choose(chosen, 0, operands, branches, types)

    def _choose(
        self, chosen: Any, position: int, operands: Sequence[Any], branches: Sequence[str], types: list[Any]
    ) -> tuple[Any, ...]:
        if position == len(branches) - 1:
            return self._called(branches[position], operands, types)
        limit = self.scalars.constant(np.dtype(np.int32), position)
        is_this = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sle, chosen, limit)
        # Branches give their dynamic sizes too, which IREE cannot find out inside of loops.
        index = mlir.ir.IndexType.get()
        dynamic = [index for t in types for axis in range(t.rank) if t.is_dynamic_dim(axis)]
        choice = mlir.scf.IfOp(is_this, [*types, *dynamic], has_else=True)
        with mlir.ir.InsertionPoint(choice.then_block):
            mlir.scf.YieldOp(self._with_sizes(self._called(branches[position], operands, types)))
        with mlir.ir.InsertionPoint(choice.else_block):
            found = self._choose(chosen, position + 1, operands, branches, types)
            mlir.scf.YieldOp(self._with_sizes(found))
        results, sizes = list(choice.results)[: len(types)], iter(list(choice.results)[len(types) :])
        shapes = [
            [next(sizes) if t.is_dynamic_dim(axis) else t.get_dim_size(axis) for axis in range(t.rank)]
            for t in types
        ]
        return tuple(self._shaped(r, shape) for r, shape in zip(results, shapes, strict=True))

    def _with_sizes(self, values: Sequence[Any]) -> list[Any]:
        """The values, then all of their sizes that are dynamic."""
        return [*values, *(n for v in values for n in self._dynamic(v, self.shape(v)))]
