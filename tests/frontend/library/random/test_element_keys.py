"""Keys as two arrays of words: new keys and numbers are those of each key alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import random
from adze.frontend.library.random.element_keys import normal_of_words, uniform_of_words, word_parts, words_of


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)
def test_each_element_draws_what_its_key_draws(dtype: Any) -> None:
    keys = random.split(random.key(7), (2, 3))

    def drawn(keys: Any) -> Any:
        words = words_of(keys)
        numbers = uniform_of_words(words, np.dtype(dtype)), normal_of_words(words, np.dtype(dtype))
        return *numbers, *(word for part in word_parts(words, 3) for word in part)

    uniform, normal, *words = map(np.asarray, adze.jit(drawn)(keys))
    for at in np.ndindex(2, 3):
        key = keys[at]
        np.testing.assert_array_equal(uniform[at], random.uniform(key, (), dtype))
        np.testing.assert_allclose(normal[at], random.normal(key, (), dtype), rtol=4 * np.finfo(dtype).eps)
        np.testing.assert_array_equal([word[at] for word in words], np.ravel(random.split(key, 3)))


def test_the_loop_of_gamma_samples_is_elementwise() -> None:
    traced = adze.trace(
        lambda seed: random.gamma(random.key(seed), 2.5, (50,)), adze.ShapeDtype((), np.int32)
    )
    assert str(traced).count("random_bits") == 1, "only the keys of the samples are split by an op"
