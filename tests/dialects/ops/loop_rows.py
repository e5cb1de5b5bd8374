"""Rows of the ops of control flow; see `tests/op_cases.py`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from adze.dialects.types import TensorType

from .cases import Callee, Case, Row, array, case, given, row
from .domains import normal

VECTOR: Final = TensorType((4,), np.dtype(np.float32))
SCALAR: Final = TensorType((), np.dtype(np.float32))
COUNT: Final = TensorType((), np.dtype(np.int32))
STATED: Final = "the bodies state their types"

DOUBLE: Final = Callee((VECTOR,), lambda b, x: (b.add(x, x),), lambda x: (x + x,))
SQUARE: Final = Callee((VECTOR,), lambda b, x: (b.mul(x, x),), lambda x: (x * x,))
NEGATE: Final = Callee((VECTOR,), lambda b, x: (b.neg(x),), lambda x: (-x,))
BELOW: Final = Callee(
    (COUNT, COUNT, VECTOR),
    lambda b, limit, i, x: (b.compare(i, limit, direction="LT"),),
    lambda limit, i, x: (np.asarray(i < limit),),
)
GROW: Final = Callee(
    (VECTOR, COUNT, VECTOR),
    lambda b, step, i, x: (b.add(i, b.scalar(1, np.dtype(np.int32))), b.add(x, step)),
    lambda step, i, x: (np.asarray(i + 1, np.int32), x + step),
)
UNDER: Final = Callee(
    (COUNT, COUNT),
    lambda b, limit, i: (b.compare(i, limit, direction="LT"),),
    lambda limit, i: (np.asarray(i < limit),),
)
TWICE: Final = Callee((COUNT,), lambda b, i: (b.add(i, i),), lambda i: (np.asarray(i + i, np.int32),))
STEP: Final = Callee(
    (VECTOR, VECTOR, SCALAR),
    lambda b, w, c, x: (
        b.add(b.mul(w, c), b.broadcast_in_dim(x, shape=(4,), dimensions=())),
        b.reduce_sum(c, axes=(0,)),
    ),
    lambda w, c, x: (w * c + x, np.sum(c, dtype=np.float32)),
)


def on_mesh(**attributes: Any) -> Case:
    x, index = array(2, 3, domain="normal"), given(0, dtype=np.int32)
    return case(x, index, axis_name="i", mesh=(1,), axis=0, **attributes)


def scan(length: int, reverse: bool):  # type: ignore[no-untyped-def]
    return case(
        array(4, dtype=np.float32, domain=normal),
        array(4, dtype=np.float32, domain=normal),
        array(length, dtype=np.float32, domain=normal),
        body="step",
        constant_count=1,
        carry_count=1,
        length=(length,),
        reverse=reverse,
        results=(VECTOR, TensorType((length,), np.dtype(np.float32))),
        static_only=STATED,
        functions={"step": STEP},
    )


LOOPS: Final[tuple[Row, ...]] = (
    row(
        "cond",
        *(
            case(
                given(index, dtype=np.int32),
                array(4, dtype=np.float32, domain=normal),
                branches=("double", "square", "negate"),
                results=(VECTOR,),
                static_only=STATED,
                functions={"double": DOUBLE, "square": SQUARE, "negate": NEGATE},
            )
            for index in (-1, 0, 1, 2, 7)
        ),
        tolerance="rounded",
    ),
    row("platform_index", case(platforms="another"), case(platforms="one,another")),
    row("loop_preference", case(label="nothing")),
    row(
        "while",
        *(
            case(
                given(limit, dtype=np.int32),
                array(4, dtype=np.float32, domain=normal),
                given(0, dtype=np.int32),
                array(4, dtype=np.float32, domain=normal),
                condition="below",
                body="grow",
                condition_constants=1,
                body_constants=1,
                saved_states=0,
                static_only=STATED,
                functions={"below": BELOW, "grow": GROW},
            )
            for limit in (0, 5)
        ),
        case(
            given(100, dtype=np.int32),
            given(1, dtype=np.int32),
            condition="under",
            body="twice",
            condition_constants=1,
            body_constants=0,
            saved_states=0,
            static_only=STATED,
            functions={"under": UNDER, "twice": TWICE},
        ),
        tolerance="sum",
    ),
    # length 4: all operands have one type, which IRDL wants of a variadic group
    row("scan", scan(4, False), scan(5, False), scan(5, True), scan(0, False), tolerance="sum"),
    row(
        "axis_sum",
        *(
            case(array(*shape, domain="normal"), given(0, dtype=np.int32), axis_name="i", length=(2,))
            for shape in ((), (3,), (2, 3))
        ),
    ),
    row(
        "axis_gather",
        *(
            case(array(*shape), given(0, dtype=np.int32), axis_name="i", length=(2,))
            for shape in ((), (3,), (2, 3))
        ),
    ),
    # Meshes of one rank, where a collective is the identity; tests/frontend/sharding/ has larger ones.
    row("all_reduce", on_mesh(kind="sum")),
    row("vary", on_mesh()),
    row("unvary", on_mesh()),
    row("all_gather", on_mesh(dim=1, is_invariant=False), on_mesh(dim=0, is_invariant=True)),
    row("reduce_scatter", on_mesh(dim=1)),
    row("all_to_all", on_mesh(split=0, concat=1)),
    row("ppermute", on_mesh(perm=((0, 0),))),
    row("mesh_index", case(axis_name="i", mesh=(1,), axis=0)),
)
