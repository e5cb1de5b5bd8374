"""Rows of the ops by which a program directs its own differentiation; see `tests/op_cases.py`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from adze.dialects.ops.custom_rules.batching import ONE_BY_ONE, register
from adze.dialects.types import SIZE, TensorType

from .cases import Callee, Row, array, case, elementwise, given, row
from .domains import normal

VECTOR: Final = TensorType((4,), np.dtype(np.float32))
SQUARE: Final = Callee((VECTOR,), lambda b, x: (b.mul(x, x),), lambda x: (x * x,))
RULE: Final = Callee(
    (VECTOR, VECTOR), lambda b, x, dx: (b.mul(x, x), b.mul(dx, x)), lambda x, dx: (x * x, dx * x)
)
FORWARD: Final = Callee((VECTOR,), lambda b, x: (b.mul(x, x), x), lambda x: (x * x, x))
PRODUCT: Final = Callee((VECTOR, VECTOR), lambda b, x, y: (b.mul(x, y),), lambda x, y: (x * y,))
STATED: Final = "the callee states its types"
TIMES: Final = Callee((VECTOR, VECTOR), lambda b, w, x: (b.mul(w, x),), lambda w, x: (w * x,))
TIMES_TWICE_BACK: Final = Callee(  # two steps of x = w * x
    (TensorType((), np.dtype(np.int32)), VECTOR, VECTOR, VECTOR),
    lambda b, n, w, x, c: (b.mul(b.mul(b.add(w, w), x), c), b.mul(b.mul(w, w), c)),
    lambda n, w, x, c: ((w + w) * x * c, w * w * c),
)


def squares(engine: Any, types: Any, batched: Any) -> Any:
    """The batching rule of `square`: one product."""
    size = engine.size
    given = [t.with_shape((size, *t.shape)) if has else t for t, has in zip(types, batched, strict=True)]
    lead = [SIZE] * (size is None)
    return engine.function("squares", [*lead, *given], lambda b, xs: [b.mul(xs[-1], xs[-1])]), tuple(batched)


DERIVATIVES: Final[tuple[Row, ...]] = (
    row("stop_gradient", *elementwise("special")),
    row("checkpoint_name", *elementwise("special", label="activations")),
    row(
        "sharding_constraint",
        case(array(2, 60), mesh=(2, 2), axis_names="x,y", spec='[{"x"}, {?}]'),
        case(array(0, 3), mesh=(2, 2), axis_names="x,y", spec="[{}, {?}]"),
        case(array(), mesh=(2,), axis_names="x", spec="[]"),
    ),
    row("optimization_barrier", *elementwise("special"), case(array(3), array(2, 2))),
    row(
        "checkpoint_call",
        case(
            array(4, dtype=np.float32, domain=normal),
            callee="square",
            policy="nothing",
            labels="",
            results=(VECTOR,),
            static_only=STATED,
            functions={"square": SQUARE},
        ),
        tolerance="rounded",
    ),
    row(
        "custom_jvp_call",
        case(
            array(4, dtype=np.float32, domain=normal),
            callee="square",
            rule="rule",
            closed_over=0,
            results=(VECTOR,),
            static_only=STATED,
            functions={"square": SQUARE, "rule": RULE},
        ),
        tolerance="rounded",
    ),
    row(
        "custom_vjp_call",
        case(
            array(4, dtype=np.float32, domain=normal),
            callee="square",
            fwd="forward",
            bwd="product",
            closed_over=0,
            results=(VECTOR,),
            static_only=STATED,
            functions={"square": SQUARE, "forward": FORWARD, "product": PRODUCT},
        ),
        tolerance="rounded",
    ),
    row(
        "custom_vjp_linear",
        case(
            array(4, dtype=np.float32, domain=normal),
            array(4, dtype=np.float32, domain=normal),
            callee="product",
            bwd="product",
            residual_count=1,
            shape_operand_count=0,
            results=(VECTOR,),
            static_only=STATED,
            functions={"product": PRODUCT},
        ),
        tolerance="rounded",
    ),
    row(
        "while_pullback",
        case(
            given(2, dtype=np.int32),
            array(4, dtype=np.float32, domain=normal),
            array(4, dtype=np.float32, domain=normal),
            array(4, dtype=np.float32, domain=normal),
            callee="back",
            body="times",
            body_constants=1,
            state_count=1,
            saved_states=2,
            active=(0, 1),
            results=(VECTOR, VECTOR),
            static_only=STATED,
            functions={"times": TIMES, "back": TIMES_TWICE_BACK},
        ),
        tolerance="rounded",
    ),
    row(
        "custom_batch_call",
        case(
            array(4, dtype=np.float32, domain=normal),
            callee="square",
            rule=register("square", squares),
            derivation=(),
            results=(VECTOR,),
            static_only=STATED,
            functions={"square": SQUARE},
        ),
        case(
            array(4, dtype=np.float32, domain=normal),
            callee="square",
            rule=ONE_BY_ONE,
            derivation=(),
            results=(VECTOR,),
            static_only=STATED,
            functions={"square": SQUARE},
        ),
        tolerance="rounded",
    ),
    row(
        "routine",
        case(
            array(4, dtype=np.float32, domain=normal),
            callee="square",
            kernel="none",
            results=(VECTOR,),
            static_only=STATED,
            functions={"square": SQUARE},
        ),
        tolerance="rounded",
    ),
    row(
        "linear_routine",
        case(
            array(4, dtype=np.float32, domain=normal),
            array(4, dtype=np.float32, domain=normal),
            callee="product",
            kernel="none",
            transposed="product",
            transposed_kernel="none",
            results=(VECTOR,),
            static_only=STATED,
            functions={"product": PRODUCT},
        ),
        tolerance="rounded",
    ),
)
