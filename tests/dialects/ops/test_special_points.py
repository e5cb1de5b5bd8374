"""First and second derivatives of every public function of floats, where compositions lose them.

A `select` whose branch forgets one of its arguments has the right value and the wrong derivative, and
nothing tells. So every function of one or two floats has a row in `special_points.py`, with ties, zeros of
either sign, branch points and saturation among its points; each is differentiated in every order of modes.
"""

from __future__ import annotations

import inspect
import warnings
import zlib
from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax, nn
from adze import numpy as xp
from adze.dialects.types import BFLOAT16
from adze.scipy import special

from .special_points import COMPOSED, IN_THE_SECOND, NO_FUNCTIONS_OF_VALUES, NO_ROWS, ROWS, Row

MODULES = {"numpy": xp, "nn": nn, "special": special, "lax": lax}
FLOAT_RESULT = {"frexp": 0, "modf": 0, "divmod": 1}
NOT_STATED = 1.2345e-67
"""Stands for None in arrays of expected derivatives, since NaN is an expected value too."""


def public(name: str) -> Callable[..., Any]:
    module, attribute = name.split(".")
    result: Callable[..., Any] = getattr(MODULES[module], attribute)
    return result


def function_of(name: str) -> Callable[..., Any]:
    """The public function, or that one of its results that the row is about."""
    position = FLOAT_RESULT.get(name.split(".")[1])
    return public(name) if position is None else lambda *x: public(name)(*x)[position]


def arrays(row: Row, dtype: Any = np.float64) -> list[Any]:
    with np.errstate(over="ignore"):
        return [np.array(c, np.float64).astype(dtype) for c in zip(*row.all_points(), strict=True)]


def slopes(function: Callable[..., Any], xs: list[Any]) -> tuple[Any, ...]:
    """The partial derivatives of an elementwise function by reverse mode."""
    value, pullback = adze.vjp(function, *xs)
    return tuple(pullback(xp.ones_like(value)))


def forward(function: Callable[..., Any], xs: list[Any], k: int) -> Any:
    """The derivative in argument `k` by forward mode; the others have no tangent, zero or other."""
    alone = lambda x: function(*xs[:k], x, *xs[k + 1 :])  # noqa: E731
    return adze.jvp(alone, (xs[k],), (xp.ones_like(xs[k]),))[1]


def two_orders(function: Callable[..., Any], xs: list[Any]) -> dict[str, list[Any]]:
    """Derivatives by reverse mode, and by forward mode over it."""
    places = range(len(xs))
    reverse = [lambda *x, k=k: slopes(function, list(x))[k] for k in places]
    second = [forward(reverse[i], xs, j) for i in places for j in places if i <= j]
    return {"reverse": list(slopes(function, xs)), "forward over reverse": second}


def all_orders(function: Callable[..., Any], xs: list[Any]) -> dict[str, list[Any]]:
    """Derivatives of first and second order in every order of modes, and of each element by `vmap`."""
    places = range(len(xs))
    pairs = [(i, j) for i in places for j in places if i <= j]
    reverse = [lambda *x, k=k: slopes(function, list(x))[k] for k in places]
    ahead = [lambda *x, k=k: forward(function, list(x), k) for k in places]
    return two_orders(function, xs) | {
        "forward": [f(*xs) for f in ahead],
        "vmap of reverse": list(adze.vmap(adze.grad(function, tuple(places)))(*xs)),
        "forward over forward": [forward(ahead[i], xs, j) for i, j in pairs],
        "reverse over reverse": [slopes(reverse[i], xs)[j] for i, j in pairs],
        "reverse over forward": [slopes(ahead[i], xs)[j] for i, j in pairs],
    }


def assert_derivatives(actual: dict[str, list[Any]], row: Row, name: str, tolerance: float) -> None:
    expected, points = row.expected(), row.all_points()
    for order, columns in actual.items():
        first = len(points[0]) if "over" in order else 0
        for k, column in enumerate(columns, first):
            wanted = np.array([NOT_STATED if e[k] is None else e[k] for e in expected], np.float64)
            is_stated = wanted != NOT_STATED
            np.testing.assert_allclose(
                np.asarray(column, np.float64)[is_stated],
                wanted[is_stated],
                rtol=tolerance,
                atol=tolerance * 1e-3,
                err_msg=f"{name}: {order}, derivative {k} at {np.array(points)[is_stated].tolist()}",
            )


def one_order(function: Callable[..., Any], xs: list[Any]) -> dict[str, list[Any]]:
    """Derivatives by reverse mode."""
    return {"reverse": list(slopes(function, xs))}


@pytest.mark.parametrize("row", ROWS, ids=[f"{r.names[0]}-{r.arity}" for r in ROWS])
def test_derivatives_at_special_points(row: Row, thorough: bool) -> None:
    """`make test` takes second derivatives of what treats these points, and of a part of the others."""
    xs = arrays(row)
    is_chosen = row in COMPOSED or zlib.crc32(row.names[0].encode()) % 3 == 0
    orders = two_orders if thorough or (is_chosen and not row.is_slow) else one_order
    of_the_first = all_orders if thorough and not row.is_slow else orders
    assert_derivatives(of_the_first(function_of(row.names[0]), xs), row, row.names[0], row.tolerance)
    others = {public(name): name for name in row.names if public(name) is not public(row.names[0])}
    for name in others.values():
        assert_derivatives(orders(function_of(name), xs), row, name, row.tolerance)


@pytest.mark.parametrize(("name", "exact", "points"), IN_THE_SECOND, ids=[c[0] for c in IN_THE_SECOND])
def test_derivatives_in_the_second_argument(name: str, exact: Any, points: Any) -> None:
    for first, second in points:
        row = Row((name,), lambda x, n=first: exact(n, x), (second,))
        function = lambda x, n=first: public(name)(np.float64(n), x)  # noqa: E731
        assert_derivatives(two_orders(function, arrays(row)), row, name, 1e-9)


HALVES = ((np.float16, 4e-3), (BFLOAT16, 2e-2))


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(np.float32, 1e-5), *(pytest.param(*row, marks=pytest.mark.thorough) for row in HALVES)],
)
def test_derivatives_at_special_points_in_narrow_floats(dtype: Any, tolerance: float) -> None:
    """Of the functions whose rules treat these points, where no number leaves the range of the dtype."""
    for row in COMPOSED:
        near = [p for p in row.all_points() if all(v == 0 or 1e-2 < abs(v) < 10 for v in p)]
        kept = [i for i, p in enumerate(row.all_points()) if p in near and exactly(p, dtype)]
        xs = [x[kept] for x in arrays(row, dtype)]
        everywhere = row.expected()
        expected = [everywhere[i] for i in kept]
        for k, column in enumerate(slopes(function_of(row.names[0]), xs)):
            wanted = np.array([NOT_STATED if e[k] is None else e[k] for e in expected], np.float64)
            given = np.asarray(column).astype(np.float64)
            is_stated = wanted != NOT_STATED
            np.testing.assert_allclose(
                given[is_stated], wanted[is_stated], rtol=tolerance, atol=tolerance, err_msg=row.names[0]
            )


def exactly(point: tuple[float, ...], dtype: Any) -> bool:
    with np.errstate(over="ignore"):
        return all(float(np.float64(v).astype(dtype)) == v for v in point)


@pytest.mark.thorough
def test_compiled_derivatives_at_special_points() -> None:
    """One program for several rules that treat these points: the same numbers as eagerly."""
    names = {"numpy.asin", "numpy.sinc", "numpy.frexp", "numpy.hypot", "numpy.logaddexp", "special.xlogy"}
    rows = [r for r in COMPOSED if names & {*r.names}]
    points = [arrays(row) for row in rows]

    def derivatives(points: Any) -> Any:
        return [two_orders(function_of(r.names[0]), xs) for r, xs in zip(rows, points, strict=True)]

    for row, result in zip(rows, adze.jit(derivatives)(points), strict=True):
        assert_derivatives(result, row, f"compiled {row.names[0]}", 1e-8)


# -- no function is forgotten --------------------------------------------------------------------


def elementwise_of_floats(known: Container[tuple[str, int]] = ()) -> Iterator[tuple[str, int]]:
    """The public functions that map one or two floats to a float, elementwise, and of how many.

    Those that are `known` are not called.
    """
    xs = np.array([0.625, 0.25]), np.array([0.5, 0.75])
    for module, namespace in MODULES.items():
        for name in namespace.__all__:
            function = getattr(namespace, name)
            if not callable(function) or inspect.isclass(function):
                continue
            for count in (1, 2):
                if (f"{module}.{name}", count) not in known and is_elementwise(function, xs[:count]):
                    yield f"{module}.{name}", count


def is_elementwise(function: Callable[..., Any], xs: tuple[Any, ...]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = function(*xs)
            parts = [function(*(x[i] for x in xs)) for i in range(2)]
    except Exception:  # what it takes is something else
        return False
    listed = [[np.asarray(r) for r in (v if isinstance(v, tuple) else (v,))] for v in (whole, *parts)]
    return any(
        w.shape == (2,)
        and w.dtype.kind in "fc"
        and a.shape == b.shape == ()
        and np.array_equal(w, [a, b], equal_nan=True)
        for w, a, b in zip(*listed, strict=False)
    )


def test_every_function_of_floats_has_a_row(thorough: bool) -> None:
    """In `make test` the rows that there are show themselves that they are of so many floats."""
    rows = {(name, r.arity) for r in ROWS for name in r.names} | {(c[0], 2) for c in IN_THE_SECOND}
    known = set() if thorough else rows | NO_ROWS.keys()
    results = set(elementwise_of_floats(known))
    missing = {f for f in results - rows if f[0] not in NO_FUNCTIONS_OF_VALUES and f not in NO_ROWS}
    assert not missing, f"give these rows in special_points.py: {sorted(missing)}"
    assert not thorough or rows <= results, f"no functions of that many floats: {sorted(rows - results)}"
