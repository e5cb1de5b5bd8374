"""`custom_call` by its target.

Input: an application. Output: its results; a target that adze has nothing for is an error that says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from ...library import numpy as xp
from ...tracing.interpreter import ops
from .application import Application, Rule, known_array
from .general_matrices import CALLS as GENERAL_CALLS
from .linear_algebra import CALLS
from .ordering import sorted_by
from .program import static_shape
from .shardy import manual_computation
from .windows import dynamic_reduce_window

_IDENTITIES: Final = ("Sharding", "annotate_device_placement", "SPMDFullToShardShape", "SPMDShardToFullShape")
_CALLBACKS: Final = "callback"


def _identity(app: Application) -> Any:
    if app.op.operand_types != app.op.result_types:
        raise app.error(
            "a program that is divided among devices is not supported", "export one device's program"
        )
    return list(app.inputs)


def _shape_assertion(app: Application) -> Any:
    holds = known_array(app.inputs[0])
    if holds is not None and bool(holds):
        return []
    message = str(app.attribute("error_message", "the shapes of the arguments are not those of the program"))
    ops.check(app.array(), message=message)
    return []


def _top_k(app: Application) -> Any:
    details = app.attribute("mhlo.attributes")
    if isinstance(details, dict) and not details.get("largest", True):
        raise app.error("the smallest elements are not supported", "negate the operand, and the values")
    values, positions = ops.top_k(app.array(), k=static_shape(app.result_types[0])[-1])
    return [values, positions]


def _approximate_top_k(app: Application) -> Any:
    """The first elements of the sorted arrays, exactly: the operands are arrays and their initial values."""
    comparators, config = app.attribute("called_computations"), app.record("mhlo.backend_config")
    xs = app.arrays[: len(app.inputs) // 2]
    axis = config.get("reduction_dim")
    if not isinstance(comparators, tuple) or len(comparators) != 1 or not isinstance(axis, int):
        raise app.error("expected one comparator and a dimension")
    if not xs or not 0 <= axis < xs[0].ndim or len(xs) != len(app.op.results):
        raise app.error(f"there is no dimension {axis} of {len(xs)} arrays")
    ordered = sorted_by(app, app.functions[comparators[0]].body, xs, axis)
    count = static_shape(app.result_types[0])[axis]
    return [xp.take(x, np.arange(count), axis=axis) for x in ordered]


_UNARY_OF_MHLO: Final = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh", "tan")
_TARGETS: Final[dict[str, Rule]] = {
    **CALLS,
    **GENERAL_CALLS,
    "ApproxTopK": _approximate_top_k,
    **dict.fromkeys(_IDENTITIES, _identity),
    **{f"mhlo.{name}": lambda app, name=name: getattr(ops, name)(app.array()) for name in _UNARY_OF_MHLO},  # type: ignore[misc]
    "mhlo.topk": _top_k,
    "sdy_manual_computation": manual_computation,
    "shape_assertion": _shape_assertion,
    "stablehlo.dynamic_reduce_window": dynamic_reduce_window,
}


def _custom_call(app: Application) -> Any:
    target = app.attribute("call_target_name")
    rule = _TARGETS.get(str(target))
    if rule is not None:
        shapes = set(
            np.asarray(app.attribute("indices_of_shape_operands", ()), np.int64).reshape(-1).tolist()
        )
        return rule(replace(app, inputs=tuple(x for i, x in enumerate(app.inputs) if i not in shapes)))
    if _CALLBACKS in str(target):
        raise app.error(
            f"@{target} calls back into the Python of the process that exported the program",
            "export it without io_callback, pure_callback, jax.debug.print",
        )
    raise app.error(
        f"nothing is known of @{target}",
        f"known are {', '.join(sorted(t for t in _TARGETS if not t.startswith('lapack_')))} and LAPACK's "
        "gees, geev, gehrd, geqp3, geqrf, gesdd, gesvd, getrf, gtsv, heevd, hetrd, orgqr, potrf, syevd, "
        "sytrd, trsm, ungqr",
    )


RULES: Final[dict[str, Rule]] = {
    "stablehlo.custom_call": _custom_call,
}
