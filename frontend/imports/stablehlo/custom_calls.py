"""`custom_call` by its target, and random bits.

Input: an application. Output: its results; a target that adze has nothing for is an error that says so.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...tracing.interpreter import ops
from .application import Application, Rule, known_array
from .linear_algebra import CALLS
from .program import static_shape

_IDENTITIES: Final = ("Sharding", "annotate_device_placement", "SPMDFullToShardShape", "SPMDShardToFullShape")
_CALLBACKS: Final = "callback"


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


_UNARY_OF_MHLO: Final = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh", "tan")
_TARGETS: Final[dict[str, Rule]] = {
    **CALLS,
    **{name: lambda app: list(app.inputs) for name in _IDENTITIES},
    **{f"mhlo.{name}": lambda app, name=name: getattr(ops, name)(app.array()) for name in _UNARY_OF_MHLO},  # type: ignore[misc]
    "mhlo.topk": _top_k,
    "shape_assertion": _shape_assertion,
}


def _custom_call(app: Application) -> Any:
    target = app.attribute("call_target_name")
    rule = _TARGETS.get(str(target))
    if rule is not None:
        return rule(app)
    if _CALLBACKS in str(target):
        raise app.error(
            f"@{target} calls back into the Python of the process that exported the program",
            "export it without io_callback, pure_callback, jax.debug.print",
        )
    raise app.error(
        f"nothing is known of @{target}",
        f"known are {', '.join(sorted(t for t in _TARGETS if not t.startswith('lapack_')))} and LAPACK's "
        "gesdd, geqrf, getrf, gtsv, heevd, orgqr, potrf, syevd, trsm, ungqr",
    )


def _rng_bit_generator(app: Application) -> Any:
    """Bits by Threefry; the specification leaves the bits of all algorithms to the implementation."""
    state = app.array()
    type_ = app.result_types[1]
    if type_.dtype.kind not in "iu":
        raise app.error(f"bits of type {type_.dtype} are not supported", "take integers")
    if state.dtype != np.uint64 or not 2 <= int(state.shape[0]) <= 3:
        raise app.error(f"the state {ops.type_of(state)}, expected 2 or 3 numbers of ui64")
    words = [state[0], state[1]]
    mixed = ops.xor(words[0], ops.mul(words[1], ops.full_like(words[1], 0x9E3779B97F4A7C15)))
    low = ops.convert(mixed, dtype=np.dtype(np.uint32))
    high = ops.convert(ops.shift_right_logical(mixed, ops.full_like(mixed, 32)), dtype=np.dtype(np.uint32))
    key = ops.concatenate(*(ops.reshape(v, shape=(1,)) for v in (low, high)), axis=0)
    bits = ops.random_bits(key, shape=type_.static_shape, width=8 * type_.dtype.itemsize)
    counted = ops.add(words[1], ops.full_like(words[1], max(1, int(np.prod(static_shape(type_))))))
    after = [words[0], counted, *(state[i] for i in range(2, int(state.shape[0])))]
    new = ops.concatenate(*(ops.reshape(v, shape=(1,)) for v in after), axis=0)
    return [new, bits if bits.dtype == type_.dtype else ops.bitcast_convert(bits, dtype=type_.dtype)]


RULES: Final[dict[str, Rule]] = {
    "stablehlo.custom_call": _custom_call,
    "stablehlo.rng_bit_generator": _rng_bit_generator,
}
