"""The table of op cases: one row an op. `tests/ops/test_ops.py` runs every row through every check.

A row is `row("name", case, case, ..., tolerance="...")`. A case is `case(operand, ..., attribute=value)`:

- `array(2, 3)` is an operand of the dtype under test (each dtype the declaration allows in turn) with
  special and random values; `array(4, dtype=np.int32, domain=below(7))` has its own dtype and domain;
  `given([[1, 2]])` has these values; `size(5)` is a size operand.
- Every case also runs with dynamic dimensions: operand axes become `?` except those in `fixed=(...)`,
  entries of `sizes` attributes become size values except those in `fixed_sizes={"shape": (0,)}`.
- `T` as an attribute is the dtype under test. `elementwise("special", "special")` gives the usual cases.

The format is in `ops/cases.py`, domains in `ops/domains.py`, tolerances in `ops/tolerances.py`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from adze.dialects.types import NUMBERS

from .ops.cases import Row, T, array, case, elementwise, row, size

CONSTANTS: Final = (
    row("constant", case(value=np.array([[1.5, -0.0, np.nan]], np.float32), dtype=np.dtype(np.float32))),
    row("iota", case(shape=(3, 4), axis=1, dtype=T), case(shape=(0,), axis=0, dtype=T), dtypes=NUMBERS),
    row("dim", case(array(2, 5), axis=1), case(array(0, 3), axis=0)),
    row("size_to_array", case(size(7), dtype=T), dtypes=NUMBERS),
    row("size_constant", case(value=7)),
    row("size_add", case(size(7), size(3))),
    row("size_sub", case(size(7), size(3))),
    row("size_mul", case(size(7), size(3))),
    row("size_div", case(size(7), size(3))),
    row("size_max", case(size(7), size(3))),
    row("size_min", case(size(7), size(3))),
)

ARITHMETIC: Final = (
    row("neg", *elementwise("special")),
    row("add", *elementwise("special", "special")),
    row("mul", *elementwise("special", "special"), tolerance="rounded"),
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

ROWS: Final[tuple[Row, ...]] = (*CONSTANTS, *ARITHMETIC, *SHAPE)
BY_OP: Final[dict[str, Row]] = {each.op: each for each in ROWS}
