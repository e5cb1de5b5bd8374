"""Ops by which a program directs its own differentiation without rules: stops, checkpoints, barriers.

Each computes what its operand (or its `callee`) computes; only the engines of differentiation see the
difference. The inliner replaces the calls that are left by their callees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...attributes import Record, stated
from ...errors import MissingRuleError
from ...factors import Factors
from ...op import (
    Linear,
    Op,
    Operand,
    as_tuple,
    choice,
    symbol,
    text,
)
from ...protocols import (
    Batched,
    Batching,
    Builder,
    Differentiation,
    Size,
    Tangent,
    Tangents,
    Values,
    WithTangents,
)
from ...types import ANY, TensorType
from ..control.call import RESULTS, PlainCall
from ..elementwise.family import Unary


class StopGradient(Unary):
    """``y = x;  dy = 0``."""

    name = "stop_gradient"

    @staticmethod
    def evaluate(x: np.ndarray) -> np.ndarray:
        return x


class CheckpointName(Unary):
    """``y = x``, under a name that checkpoint policies can refer to;  ``dy = dx``."""

    name = "checkpoint_name"
    attributes = {"label": text("the name")}
    label_attribute = "label"

    @staticmethod
    def infer(x: TensorType, *, label: str) -> TensorType:
        return x

    @staticmethod
    def evaluate(x: np.ndarray, *, label: str) -> np.ndarray:
        return x

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], result: Any, *, label: str) -> Tangents:
        return tangents[0]


class OptimizationBarrier(Op):
    """``y... = x...``, which hides the values: equal computations before and behind it are not merged."""

    name = "optimization_barrier"
    is_arithmetic = False
    operands = (Operand("xs", ANY, variadic=True),)

    @staticmethod
    def infer(*xs: TensorType) -> tuple[TensorType, ...]:
        return xs

    @staticmethod
    def factors(*xs: TensorType) -> Factors:
        factors = Factors()
        factors.operands = [factors.all_free(x) for x in xs]
        factors.results = list(factors.operands)
        return factors

    @staticmethod
    def evaluate(*xs: np.ndarray) -> tuple[np.ndarray, ...]:
        return xs

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: Sequence[Tangent], results: Values) -> Sequence[Tangent]:
        return list(tangents)

    @staticmethod
    def transpose(b: Builder, cotangents: Sequence[Tangent], operands: Values) -> Sequence[Tangent]:
        return as_tuple(cotangents)

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool]) -> Batched:
        return list(b.optimization_barrier(*operands)), list(batched)


class UndefinedValue(Op):
    """Values that no rule can compute; evaluating or lowering them is the error `message`.

    The operands are what such a value would be computed from, tangents and cotangents among them: its
    derivatives in them, forward and backward, are as undefined as the value is, never zero.
    """

    name = "undefined_value"
    is_arithmetic = False
    operands = (Operand("xs", ANY, variadic=True),)
    attributes = {"message": text("why there is no such value"), "results": RESULTS}

    @staticmethod
    def infer(*xs: TensorType, message: str, results: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
        return tuple(results)

    @staticmethod
    def evaluate(*xs: np.ndarray, message: str, results: Any) -> Any:
        raise MissingRuleError(message)

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        outputs: Any,
        *,
        message: str,
        results: tuple[TensorType, ...],
    ) -> Sequence[Tangent]:
        moving = [t for t in tangents if t is not None]
        return list(b.undefined_value(*primals, *moving, message=message, results=results))

    @staticmethod
    def transpose(
        b: Builder, cotangents: Any, operands: Values, *, message: str, results: tuple[TensorType, ...]
    ) -> Sequence[Tangent]:
        linear = [x for x in operands if isinstance(x, Linear)]
        sources = [
            x for x in (*operands, *as_tuple(cotangents)) if x is not None and not isinstance(x, Linear)
        ]
        types = tuple(x.type for x in linear)
        missing = iter(b.undefined_value(*sources, message=message, results=types))
        return [next(missing) if isinstance(x, Linear) else None for x in operands]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        message: str,
        results: tuple[TensorType, ...],
    ) -> Batched:
        axis = size if isinstance(size, int) else None
        types = tuple(r.with_shape((axis, *r.shape)) for r in results)
        return list(b.undefined_value(*operands, message=message, results=types)), [True] * len(types)


class Checkpointed(Record):
    """The attributes of a `checkpoint_call`."""

    callee: str = stated(symbol("the function's name"))
    policy: str = stated(
        choice(
            *(
                "nothing",
                "dots",
                "dots_without_batch",
                "named",
                "named_except",
                "everything_except",
                "everything",
            ),
            doc="what may be saved",
        )
    )
    labels: str = stated(text("names of values that may be saved, or must not be"))
    results: tuple[TensorType, ...] = stated(RESULTS)


class CheckpointCall(PlainCall):
    """``y... = callee(x...)``, of which only what `policy` allows is kept for the backward pass.

    `nothing`: inputs only; `dots`: results of contractions and convolutions too; `named`: values that
    `checkpoint_name` gave one of the names in `labels` (comma separated), `named_except`: one of other names;
    `everything_except`: all values but those of these names; `everything`: all.
    """

    name = "checkpoint_call"
    record = Checkpointed

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: Checkpointed,
    ) -> WithTangents:
        saved = attributes.policy, attributes.labels
        return engine.call(b, attributes.callee, primals, tangents, saved)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: Checkpointed,
    ) -> Batched:
        body, flags, types = engine.batched_callee(b, attributes.callee, batched)
        mapped = {**attributes.keywords, "callee": body, "results": types}
        outputs = b.checkpoint_call(*engine.leading(size), *operands, **mapped)
        return list(outputs), flags
