"""`lax.rng_bit_generator`: XLA's bits on a CPU, as JAX 0.10 has them, and the state behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
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
