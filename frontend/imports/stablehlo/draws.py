"""`rng` and `rng_bit_generator`: random numbers by adze's Threefry.

Input: an application. Output: its results. The specification leaves the numbers to the implementation.

Idea: `rng` has no state. The caller states a key, and each op of a call draws with a key of its own.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.types import COMPLEX
from ...library.random.inverse_transforms import normal
from ...library.random.keys import fold_in
from ...library.random.uniform import randint, uniform
from ...tracing.interpreter import ops
from .application import Application, Rule
from .program import static_shape


def _rng(app: Application) -> Any:
    draws, dtype, (a, b) = app.draws, app.dtype, app.arrays[:2]
    if draws.repeated:
        raise app.error(
            "in a loop it would draw the same numbers in each iteration",
            "use rng_bit_generator, or jax.random",
        )
    if draws.key is None:
        raise app.error("it draws numbers without a state", "call the function with key=adze.random.key(0)")
    key = fold_in(draws.key, draws.count)
    draws.count += 1
    shape, kind = app.sizes(2), app.attribute("rng_distribution")
    if dtype in COMPLEX or dtype == np.bool_ or (kind == "NORMAL" and dtype.kind in "iu"):
        raise app.error(f"{kind} numbers of type {dtype} are not supported")
    if kind == "NORMAL":
        return normal(key, shape, dtype) * b + a
    if dtype.kind in "iu":
        return randint(key, shape, a, b, dtype)
    return uniform(key, shape, dtype, a, b)


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


RULES: Final[dict[str, Rule]] = {"stablehlo.rng": _rng, "stablehlo.rng_bit_generator": _rng_bit_generator}
