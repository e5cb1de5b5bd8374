"""`check_jvp` and `check_vjp`: a derivative that is passed as a function, compared with differences.

Input: a function, its derivative, arguments. Output: nothing, or an `AssertionError` that says by how much
they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects.types import COMPLEX, INEXACT
from .. import tree
from ..tracing.interpreter import as_value

Function = Callable[..., Any]


def check_jvp(
    f: Function,
    f_jvp: Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[Any, Any]],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float = 1e-4,
    err_msg: str = "",
) -> None:
    """Compare `f_jvp(args, tangents)` with `f(*args)` and its central difference along drawn tangents.

    Raises `AssertionError` with the difference, after `err_msg`. `eps` is the step of the difference.
    """
    draw = np.random.default_rng(0)
    args = tuple(args)
    tangents = tuple(_drawn(draw, args))
    value, tangent = f_jvp(args, tangents)
    _compare(value, f(*args), atol, rtol, f"{err_msg} value of the jvp")
    _compare(tangent, _difference(f, args, tangents, eps), atol, rtol, f"{err_msg} tangent of the jvp")


def check_vjp(
    f: Function,
    f_vjp: Callable[..., tuple[Any, Callable[[Any], Any]]],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float = 1e-4,
    err_msg: str = "",
) -> None:
    """Compare `value, pullback = f_vjp(*args)` with `f` and, for a drawn cotangent, with its differences.

    Raises `AssertionError` with the difference, after `err_msg`. `eps` is the step of the difference.
    """
    draw = np.random.default_rng(0)
    args = tuple(args)
    value, pullback = f_vjp(*args)
    _compare(value, f(*args), atol, rtol, f"{err_msg} value of the vjp")
    tangents = tuple(_drawn(draw, args))
    pushed = _difference(f, args, tangents, eps)
    cotangent = _drawn(draw, pushed)
    pulled = pullback(cotangent)
    _compare(_dot(tangents, pulled), _dot(pushed, cotangent), atol, rtol, f"{err_msg} cotangent of the vjp")


def _drawn(draw: np.random.Generator, like: Any) -> Any:
    """A tree of the same shapes with normal numbers."""

    def leaf(x: Any) -> Any:
        value = np.asarray(as_value(x))
        noise = draw.normal(size=value.shape)
        if value.dtype in COMPLEX:
            return (noise + 1j * draw.normal(size=value.shape)).astype(value.dtype)
        return np.asarray(noise).astype(value.dtype)

    return tree.map(leaf, like)


def _difference(f: Function, args: tuple[Any, ...], tangents: tuple[Any, ...], eps: float) -> Any:
    def moved(sign: float) -> Any:
        step = tree.map(
            lambda x, t: (np.asarray(as_value(x)) + sign * eps * t).astype(t.dtype), args, tangents
        )
        return f(*step)

    return tree.map(
        lambda high, low: (np.asarray(as_value(high)) - np.asarray(as_value(low))) / (2 * eps),
        moved(1.0),
        moved(-1.0),
    )


def _dot(left: Any, right: Any) -> Any:
    """The real inner product of two trees, without conjugation, as cotangents pair with tangents."""
    pairs = zip(tree.leaves(left), tree.leaves(right), strict=True)
    total = sum(np.sum(np.asarray(as_value(x)) * np.asarray(as_value(y))) for x, y in pairs)
    return np.real(total)


def _compare(have: Any, want: Any, atol: float | None, rtol: float | None, what: str) -> None:
    for left, right in zip(tree.leaves(have), tree.leaves(want), strict=True):
        value, expected = np.asarray(as_value(left)), np.asarray(as_value(right))
        is_wide = value.dtype not in INEXACT or value.dtype.itemsize in (8, 16)
        default = 1e-5 if is_wide else 1e-2
        np.testing.assert_allclose(
            value,
            expected,
            rtol=default if rtol is None else rtol,
            atol=default if atol is None else atol,
            err_msg=what.strip(),
        )
