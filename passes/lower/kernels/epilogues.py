"""What a kernel applies to its sums before it stores them: a few elementwise ops, as code for vectors.

Input: the steps of an epilogue, a vector of sums, and the vectors of its operands. Output: the vector that is
stored. Each step is the code that `scalars/` emits for an element (`tests/passes/lower/kernels/` compares).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from .builder import Number, broadcast, choose, constant

CONSTANT: Final = "constant"
COMPARE: Final = "compare"


@dataclass(frozen=True, slots=True)
class Step:
    """One op: the numbers of its operands, and the direction of a comparison or the text of a constant.

    The sum has number 0, then come the operands of the epilogue, then its steps.
    """

    op: str
    operands: tuple[int, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Steps in order, the last of which has the result, and how many operands they use besides the sum."""

    steps: tuple[Step, ...]
    operands: int

    def applied(self, total: Number, load: Callable[[int], Number]) -> Number:
        """The result for a vector of sums; `load(n)` is the vector of the n-th operand."""
        values = [total, *(load(number) for number in range(self.operands))]
        for step in self.steps:
            if step.op == CONSTANT:
                values.append(broadcast(constant(total.element, float(step.text)), total.type))
            elif step.op == COMPARE:
                x, y = (values[n] for n in step.operands)
                values.append(_COMPARISONS[step.text](x, y))
            else:
                values.append(CODE[step.op](*(values[n] for n in step.operands)))
        return values[-1]


def _maximum(x: Number, y: Number) -> Number:
    return Number(mlir.arith.maximumf(x.value, y.value))


def _minimum(x: Number, y: Number) -> Number:
    return Number(mlir.arith.minimumf(x.value, y.value))


CODE: Final[Mapping[str, Callable[..., Number]]] = {
    "add": Number.__add__,
    "sub": Number.__sub__,
    "mul": Number.__mul__,
    "div": Number.__truediv__,
    "neg": Number.__neg__,
    "abs": lambda x: Number(mlir.math.absf(x.value)),
    "max": _maximum,
    "min": _minimum,
    "clamp": lambda low, x, high: _minimum(_maximum(x, low), high),
    "select": choose,
}
"""The ops that an epilogue may have, beside comparisons and constants, by their names in adze."""

_COMPARISONS: Final[Mapping[str, Callable[[Number, Number], Number]]] = {
    "LT": Number.__lt__,
    "LE": Number.__le__,
    "GT": Number.__gt__,
    "GE": Number.__ge__,
    "EQ": Number.equals,
    "NE": Number.differs,
}
