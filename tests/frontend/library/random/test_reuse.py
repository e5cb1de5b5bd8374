"""The debug mode finds keys that are used twice, whether they have values yet or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import random


def line_of(function: Callable[..., Any], offset: int) -> str:
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


def draw_twice(key: Any) -> Any:
    first = random.normal(key, (3,))
    return first + random.uniform(key, (3,))


def split_and_draw(key: Any) -> Any:
    keys = random.split(key)
    return random.normal(keys[0]) + random.normal(key)


def index_twice(key: Any) -> Any:
    keys = random.split(key, 3)
    return random.normal(keys[1]) + random.normal(keys[1])


def fold_twice(key: Any) -> Any:
    first = random.normal(random.fold_in(key, 4))
    return first + random.normal(random.fold_in(key, 4))


def fold_after_use(key: Any) -> Any:
    first = random.normal(key)
    return first + random.normal(random.fold_in(key, 4))


def in_a_nested_function(key: Any) -> Any:
    first = random.normal(key, (3,))
    return adze.vmap(lambda x: x + random.normal(key))(first)


MISUSES = {
    draw_twice: ("normal", 1, "uniform", 2),
    split_and_draw: ("split", 1, "normal", 2),
    index_twice: ("normal", 2, "normal", 2),
    fold_twice: ("normal", 1, "normal", 2),
    fold_after_use: ("normal", 1, "fold_in", 2),
    in_a_nested_function: ("normal", 1, "normal", 2),
}


def proper_use(key: Any) -> Any:
    key, first, second = random.split(key, 3)
    total = random.normal(first) + random.gamma(second, 2.0)
    for i in range(3):
        total = total + random.normal(random.fold_in(key, i))
    chain, *rest = random.split(random.fold_in(key, 100), 4)
    for part in rest:
        total = total + random.poisson(part, 3.0)
    ones = np.ones(2, np.float32)
    return adze.vmap(lambda k, x: x + random.normal(k))(random.split(chain, 2), ones) + total


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("traced", [False, True])
def test_both_lines_are_named(misuse: Callable[..., Any], traced: bool) -> None:
    key = random.key(3)
    first, first_line, second, second_line = MISUSES[misuse]
    with random.debug_key_reuse(), pytest.raises(random.KeyReuseError) as caught:
        if traced:
            adze.trace(misuse, key)
        else:
            misuse(key)
    assert caught.value.message == (
        f"{second} was given a key that {first} had already used at {line_of(misuse, first_line)}"
    )
    assert caught.value.where == line_of(misuse, second_line)
    assert caught.value.hint == (
        "split the key and use each part once: first, second = adze.random.split(key)"
    )


@pytest.mark.parametrize("traced", [False, True])
def test_proper_use_passes(traced: bool) -> None:
    with random.debug_key_reuse():
        if traced:
            adze.trace(proper_use, random.key(3))
        else:
            proper_use(random.key(3))


def test_equal_keys_made_twice_are_one_key() -> None:
    with random.debug_key_reuse(), pytest.raises(random.KeyReuseError):
        random.normal(random.key(3))
        random.normal(random.key(3))


def test_nothing_is_checked_outside_the_block() -> None:
    key = random.key(3)
    draw_twice(key)
    with random.debug_key_reuse():
        random.normal(key)
    with random.debug_key_reuse():  # each block starts anew
        random.normal(key)
    draw_twice(key)


def test_a_function_may_be_traced_twice() -> None:
    with random.debug_key_reuse():
        adze.trace(lambda key: random.normal(key, (2,)), random.key(3))
        adze.trace(lambda key: random.normal(key, (2,)), random.key(3))
