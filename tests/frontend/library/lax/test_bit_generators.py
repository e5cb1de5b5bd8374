"""`lax.rng_bit_generator`: XLA's bits on a CPU, and the state behind them, as in JAX 0.10; `rng_uniform`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import lax
from adze.frontend.errors import ArgumentError, DtypeError
from adze.lax import RandomAlgorithm

STATE = np.array([1, 2, 3, 4], np.uint32)
PHILOX = [512747620, 1298009047, 1267190206, 761827841, 1383286907]
THREEFRY = [1576285164, 2249660814, 740599976, 2425682526, 2436392515]


@pytest.mark.parametrize("stage", [lambda f: f, adze.jit])
def test_bits_and_states_are_those_of_xla(stage: Any) -> None:
    for algorithm, wanted, counter in (
        (RandomAlgorithm.RNG_DEFAULT, PHILOX, 5),
        (RandomAlgorithm.RNG_PHILOX, PHILOX, 5),
        (RandomAlgorithm.RNG_THREE_FRY, THREEFRY, 6),
    ):
        draw = stage(lambda state, a=algorithm: lax.rng_bit_generator(state, (5,), algorithm=a))
        state, bits = draw(STATE)
        assert state.tolist() == [1, 2, counter, 4] and bits.tolist() == wanted


def test_dtypes_take_low_bits_and_words_in_order() -> None:
    narrow = lax.rng_bit_generator(STATE, (5,), dtype="uint16")[1]
    assert narrow.dtype == np.uint16 and narrow.tolist() == [n & 0xFFFF for n in PHILOX]
    wide = lax.rng_bit_generator(STATE, (2,), dtype=np.uint64)[1]
    assert wide.tolist() == [PHILOX[0] | PHILOX[1] << 32, PHILOX[2] | PHILOX[3] << 32]
    state, bits = lax.rng_bit_generator(np.array([1, 2], np.uint64), (3,))
    assert state.tolist() == [1, 3] and bits.tolist() == [2100602697, 2847456232, 2074354647]


def test_threefry_pairs_neighbours_along_the_first_even_axis() -> None:
    def draw(*shape: int) -> Any:
        return lax.rng_bit_generator(STATE, shape, algorithm=RandomAlgorithm.RNG_THREE_FRY)[1]

    assert draw(2, 2).tolist() == [[THREEFRY[0], THREEFRY[2]], [THREEFRY[1], THREEFRY[3]]]
    assert draw(1, 3).tolist() == [THREEFRY[:3]] and draw().item() == THREEFRY[0]
    assert draw(0, 3).shape == (0, 3) and lax.rng_bit_generator(STATE, (0,))[0].tolist() == STATE.tolist()


def test_the_counter_carries_into_its_high_word() -> None:
    full = np.array([1, 2, 0xFFFFFFFF, 4], np.uint32)
    state, bits = lax.rng_bit_generator(full, (8,))
    assert state.tolist() == [1, 2, 1, 5]
    assert bits[4:].tolist() == lax.rng_bit_generator(np.uint32([1, 2, 0, 5]), (4,))[1].tolist()


def test_states_and_dtypes_that_are_none() -> None:
    with pytest.raises(ArgumentError, match=r"key is ui32\[2\], expected uint32\[4\] or uint64\[2\]"):
        lax.rng_bit_generator(STATE[:2], (3,))
    with pytest.raises(DtypeError, match="the dtype is int32, expected an unsigned one"):
        lax.rng_bit_generator(STATE, (3,), dtype="int32")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint32"])
def test_numbers_of_no_state_lie_in_their_range(dtype: str) -> None:
    low, high = anp.asarray(2, dtype=dtype), anp.asarray(5, dtype=dtype)
    drawn = lax.rng_uniform(low, high, (40, 50))
    values = np.asarray(drawn.astype("float64"))
    assert (drawn.shape, drawn.dtype) == ((40, 50), low.dtype)
    assert values.min() >= 2
    assert values.max() < 5
    assert len(np.unique(values)) >= 3


def test_numbers_of_no_state_are_others_in_each_run() -> None:
    draw = adze.jit(lambda: lax.rng_uniform(0.0, 1.0, (8,)))
    first, second = np.asarray(draw()), np.asarray(draw())
    assert not np.array_equal(first, second)
    assert np.asarray(lax.rng_uniform(0.0, 1.0, (0, 3))).shape == (0, 3)
    with pytest.raises(ArgumentError, match="rng_uniform: expected numbers"):
        lax.rng_uniform(np.zeros(2), np.ones(2), (2,))
    with pytest.raises(DtypeError, match="rng_uniform draws floats and integers"):
        lax.rng_uniform(1j, 2j, (2,))
