"""Sizes as expressions: their normal form, what is known of them, and their text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adze.dialects.symbolic_sizes import NamedSize, Size, least, maximum, minimum, parse_size, quotient

N, M = NamedSize("n"), NamedSize("m")

TEXTS: dict[str, Size] = {
    "2*n": N + N,
    "n + 3": 1 + N + 2,
    "n*n": N * N,
    "m*n + 2*n": N * (M + 2),
    "n//2": quotient(N, 2),
    "(n + 1)//2": quotient(N + 1, 2),
    "max(n - 1, 0)": N - minimum(1, N),
    "max(n, 3)": maximum(3, N),
    "min(m, n)": minimum(N, M),
    "2*(n//2)": quotient(N, 2) * 2,
    "n//m": quotient(N, M),
    "n - m": N - M,
    "-(n//2)": -quotient(N, 2),
    "m - n//2": M - quotient(N, 2),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_back(text: str) -> None:
    assert str(TEXTS[text]) == text and parse_size(text) == TEXTS[text]


def test_equal_sizes_are_equal() -> None:
    assert (N + M) * 2 == N * 2 + M + M and N - N == 0 and quotient(N * 6 + 4, 2) == N * 3 + 2
    assert quotient(N * 4 + 6, 4) == N + 1 + 0 and quotient(N * 2 + 1, 2) == N
    assert minimum(quotient(N, 2), N) == quotient(N, 2) and maximum(N, N + 1) == N + 1
    assert minimum(N, M) + maximum(N, M) == N + M and maximum(N, 0) == N and minimum(N, -1) == -1
    assert quotient(quotient(N, 2) * 2, 2) == quotient(N, 2) and N != M and N != "n"


def test_names_of_all_kinds() -> None:
    here = NamedSize((0, 1))
    assert (here + 1 - here, here.name, (here + 1).name if isinstance(here + 1, NamedSize) else 0) == (
        1,
        (0, 1),
        None,
    )
    assert parse_size("lambda + 1") == NamedSize("lambda + 1") and str(parse_size("?1*2")) == "2*?1"


Pair = tuple[Size, Callable[[int, int], int]]


def _leaf() -> st.SearchStrategy[Pair]:
    constants = st.integers(-3, 4).map(lambda k: (k, lambda n, m: k))
    names = st.sampled_from([(N, lambda n, m: n), (M, lambda n, m: m)])
    return st.one_of(constants, names)  # type: ignore[arg-type]


def _node(children: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def sized(kind: str, left: Pair, right: Pair, k: int) -> Pair:
        (x, f), (y, g) = left, right
        if kind == "+":
            return x + y, lambda n, m: f(n, m) + g(n, m)
        if kind == "-":
            return x - y, lambda n, m: f(n, m) - g(n, m)
        if kind == "*":
            return x * y, lambda n, m: f(n, m) * g(n, m)
        if kind == "//":
            return quotient(x, k), lambda n, m: f(n, m) // k
        if kind == "max":
            return maximum(x, y), lambda n, m: max(f(n, m), g(n, m))
        return minimum(x, y), lambda n, m: min(f(n, m), g(n, m))

    kinds = st.sampled_from(["+", "-", "*", "//", "max", "min"])
    return st.builds(sized, kinds, children, children, st.integers(1, 4))


def value(size: Size, n: int, m: int) -> int:
    """The size at values of its names."""
    names = {"n": n, "m": m, "max": max, "min": min}
    return int(eval(str(size), names))  # the text is Python


@settings(max_examples=1000)
@given(st.recursive(_leaf(), _node, max_leaves=6), st.integers(0, 7), st.integers(0, 7))
def test_a_size_keeps_its_value(pair: Pair, n: int, m: int) -> None:
    size, expected = pair
    assert value(size, n, m) == expected(n, m)
    assert least(size) <= expected(n, m)
    again = parse_size(str(size)) if isinstance(size, NamedSize) else size
    assert again == size
