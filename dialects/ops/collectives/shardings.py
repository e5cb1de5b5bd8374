"""How an array lies on the ranks of a mesh, stated in the program.

Nothing is computed: the pass `partition` reads it where a program is divided among ranks, and elsewhere it is
the array itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...attributes import Record, ints, stated, text
from ...factors import Factors, aligned
from ...op import Op, Operand, require
from ...protocols import Batched, Builder, Cotangents, OneTangent, Size, Tangents, Value, Values
from ...types import ANY, TensorType


class Divided(Record):
    """The attributes of `sharding_constraint`."""

    mesh: tuple[int, ...] = stated(ints("the sizes of the axes of the mesh"))
    axis_names: str = stated(text("their names, comma separated"))
    spec: str = stated(
        text('for each axis of x the axes of the mesh that divide it, as Shardy writes it: [{"data"}, {?}]')
    )


class ShardingConstraint(Op):
    """``y = x``, which lies on the ranks of a mesh as `spec` says;  ``dy`` and ``x'`` do so too."""

    name = "sharding_constraint"
    operands = (Operand("x", ANY),)
    record = Divided
    is_arithmetic = False
    is_elementwise = True
    is_aligned = True

    @staticmethod
    def infer(x: TensorType, *, attributes: Divided) -> TensorType:
        entries = attributes.spec.count("{")
        require(entries == x.rank, f"sharding_constraint: {attributes.spec} has {entries} entries for {x}")
        return x

    @staticmethod
    def evaluate(x: np.ndarray, *, attributes: Divided) -> np.ndarray:
        return x

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: OneTangent, result: Value, *, attributes: Divided
    ) -> Tangents:
        return b.sharding_constraint(tangents[0], **attributes.keywords)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Divided) -> Cotangents:
        return b.sharding_constraint(cotangent, **attributes.keywords)

    @staticmethod
    def batch(
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, attributes: Divided
    ) -> Batched:
        """The new axis may be divided in any way."""
        own = attributes.spec.removeprefix("[")
        spec = "[{?}" + (", " if own != "]" else "") + own
        x = b.sharding_constraint(operands[0], **{**attributes.keywords, "spec": spec})
        return [x], [True]

    @staticmethod
    def factors(x: TensorType, *, attributes: Divided) -> Factors:
        return aligned(1, x)
