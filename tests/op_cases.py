"""The table of op cases: one row an op. `tests/dialects/ops/test_ops.py` runs every row through every check.

A row is `row("name", case, case, ..., tolerance="...")`. A case is `case(operand, ..., attribute=value)`:

- `array(2, 3)` is an operand of the dtype under test (each dtype the declaration allows in turn) with
  special and random values; `array(4, dtype=np.int32, domain=below(7))` has its own dtype and domain;
  `given([[1, 2]])` has these values; `size(5)` is a size operand.
- Every case also runs with dynamic dimensions: operand axes become `?` except those in `fixed=(...)`,
  entries of `sizes` attributes become size values except those in `fixed_sizes={"shape": (0,)}`.
- `T` as an attribute is the dtype under test. `elementwise("special", "special")` are the usual cases.

The format is in `ops/cases.py`, domains in `ops/domains.py`, tolerances in `ops/tolerances.py`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from adze.dialects.types import ANY, COMPLEX, NUMBERS, REALS, TensorType, storage

from .dialects.ops.cases import Callee, Row, T, array, case, elementwise, row, size
from .dialects.ops.contraction_rows import CONTRACTION, CONVOLUTION, ORDERING, REDUCTIONS
from .dialects.ops.derivative_rows import DERIVATIVES
from .dialects.ops.domains import few, halves, powers, shifts
from .dialects.ops.loop_rows import LOOPS
from .dialects.ops.movement_rows import EFFECTS, INDEXING, RANDOMNESS
from .dialects.ops.movement_rows import SHAPE as MOVEMENT

ROOTS_AND_LOGARITHMS: Final = ("cbrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "logistic")
CIRCULAR: Final = ("sin", "cos", "tan", "asin", "acos", "atan")
HYPERBOLIC: Final = ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
SPECIAL: Final = ("erf", "erfc", "erf_inv", "lgamma")
SHIFTS: Final = ("shift_left", "shift_right_logical", "shift_right_arithmetic")
DIRECTIONS: Final = (("EQ", ANY), ("NE", ANY), *((d, ANY - COMPLEX) for d in ("LT", "LE", "GT", "GE")))

CONSTANT_ARRAYS: Final = [
    np.array(values).astype(dtype)
    for dtype in sorted(ANY, key=str)
    for values in ([[1, 0, 3]], [[2, 2], [2, 2]], 5, np.zeros((0, 2)))
]

CONSTANTS: Final = (
    row("constant", *(case(value=storage(a), dtype=a.dtype) for a in CONSTANT_ARRAYS)),
    row("iota", case(shape=(3, 4), axis=1, dtype=T), case(shape=(0,), axis=0, dtype=T), dtypes=NUMBERS),
    row("dim", case(array(2, 5), axis=1), case(array(0, 3), axis=0)),
    row("size_to_array", case(size(7), dtype=T), dtypes=REALS),
    row("size_constant", case(value=7)),
    row("size_add", case(size(7), size(3))),
    row("size_sub", case(size(7), size(3))),
    row("size_mul", case(size(7), size(3))),
    row("size_div", case(size(7), size(3))),
    row("size_max", case(size(7), size(3))),
    row("size_min", case(size(7), size(3))),
    row("size_check", case(size(7), size(7), message="sizes must agree")),
    row("size_check", case(size(7), size(7), message="the sizes differ")),
)

ARITHMETIC: Final = (
    row("neg", *elementwise("special")),
    row("abs", *elementwise("special"), tolerance="modulus"),
    row("sign", *elementwise("special"), tolerance="modulus"),
    row("floor", *elementwise("special")),
    row("ceil", *elementwise("special")),
    row("round", *elementwise("special")),
    row("add", *elementwise("special", "special")),
    row("sub", *elementwise("special", "special")),
    row("mul", *elementwise("special", "special"), tolerance="rounded"),
    row("div", *elementwise("special", "special"), tolerance="rounded"),
    row("rem", *elementwise("special", "special")),
    row("pow", *elementwise(powers, "special"), tolerance="power"),
    row("max", *elementwise("special", "special")),
    row("min", *elementwise("special", "special")),
)

TRANSCENDENTAL: Final = (
    *(row(op, *elementwise("special"), tolerance="rounded") for op in ("sqrt", "rsqrt")),
    *(
        row(op, *elementwise("special"), tolerance="transcendental")
        for op in (*ROOTS_AND_LOGARITHMS, *CIRCULAR, *HYPERBOLIC)
    ),
    row("atan2", *elementwise("special", "special"), tolerance="transcendental"),
    *(row(op, *elementwise("special"), tolerance="special") for op in SPECIAL),
    row("digamma", *elementwise("special"), tolerance="digamma"),
)

BITWISE: Final = (
    *(row(op, *elementwise("special")) for op in ("not", "popcount", "clz")),
    *(row(op, *elementwise("special", "special")) for op in ("and", "or", "xor")),
    *(row(op, *elementwise("special", shifts)) for op in SHIFTS),
)

COMPARISON: Final = (
    row("is_finite", *elementwise("special")),
    row(
        "compare",
        *(
            case(
                array(2, 60, domain=few),
                array(2, 60, domain=few),
                direction=direction,
                only=dtypes,
                static_only="the direction makes no difference to dimensions",
            )
            for direction, dtypes in DIRECTIONS
        ),
        *elementwise(few, few, direction="NE"),
    ),
    row("select", *elementwise("special", "special", "special", dtypes=(np.bool_, T, T))),
    row("clamp", *elementwise("special", "special", "special")),
)

CONVERSION: Final = (
    row(
        "convert",
        *(
            case(
                array(2, 60, domain=halves),
                dtype=to,
                static_only="the dtypes make no difference to dimensions",
            )
            for to in sorted(ANY, key=str)
        ),
        *elementwise(halves, dtype=np.dtype(np.float32)),
    ),
    row(
        "bitcast_convert",
        *(
            case(
                array(2, 30),
                dtype=to,
                only={d for d in REALS if d.itemsize == to.itemsize},
                static_only="the dtypes make no difference to dimensions",
            )
            for to in sorted(REALS, key=str)
        ),
        *(
            case(array(*shape), dtype=np.dtype(np.int32), only={np.dtype(np.float32)})
            for shape in ((2, 30), (0, 3), ())
        ),
    ),
    *(row(op, *elementwise("special")) for op in ("real", "imag", "conj")),
    row("complex", *elementwise("special", "special")),
    row("nextafter", *elementwise("special", "special")),
)

SHAPE: Final = (
    row(
        "broadcast_in_dim",
        case(array(), shape=(2, 3), dimensions=()),
        case(array(3), shape=(2, 3), dimensions=(1,)),
        case(array(1, 3, fixed=(0,)), shape=(2, 3), dimensions=(0, 1)),
        case(array(0), shape=(2, 0), dimensions=(1,)),
    ),
)

VECTOR: Final = TensorType((4,), np.dtype(np.float32))
CONTROL: Final = (
    row(
        "call",
        case(
            array(4, dtype=np.float32),
            array(4, dtype=np.float32),
            callee="sum_and_product",
            results=(VECTOR, VECTOR),
            static_only="the callee states its types",
            functions={
                "sum_and_product": Callee(
                    (VECTOR, VECTOR),
                    lambda b, x, y: (b.add(x, y), b.mul(x, y)),
                    lambda x, y: (x + y, x * y),
                )
            },
        ),
        tolerance="rounded",
    ),
)

ROWS: Final[tuple[Row, ...]] = (
    *CONSTANTS,
    *ARITHMETIC,
    *TRANSCENDENTAL,
    *BITWISE,
    *COMPARISON,
    *CONVERSION,
    *SHAPE,
    *MOVEMENT,
    *INDEXING,
    *REDUCTIONS,
    *CONTRACTION,
    *CONVOLUTION,
    *ORDERING,
    *RANDOMNESS,
    *CONTROL,
    *DERIVATIVES,
    *LOOPS,
    *EFFECTS,
)
BY_OP: Final[dict[str, Row]] = {each.op: each for each in ROWS}
