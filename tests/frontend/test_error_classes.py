"""A mistake raises the built-in class that NumPy raises for it, so that `except ValueError` works."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

ARRAYS = (
    np.ones((2, 3), np.float32),  # x
    np.arange(3),  # n
    np.float32(2.0),  # s
    np.array([[True, False, True], [False, False, True]]),  # b
)

Mistake = Callable[..., Any]

# What each does wrong -> the call; `xp` is numpy or adze.numpy.
MISTAKES: dict[str, Mistake] = {
    # Shapes.
    "add shapes": lambda xp, x, n, s, b: x + xp.ones(2, xp.float32),
    "where shapes": lambda xp, x, n, s, b: xp.where(b, x, xp.ones(4)),
    "maximum shapes": lambda xp, x, n, s, b: xp.maximum(x, xp.ones((3, 2))),
    "compare shapes": lambda xp, x, n, s, b: xp.less(x, xp.ones(4)),
    "broadcast_to": lambda xp, x, n, s, b: xp.broadcast_to(x, (2, 4)),
    "broadcast_to fewer axes": lambda xp, x, n, s, b: xp.broadcast_to(x, (3,)),
    "broadcast_arrays": lambda xp, x, n, s, b: xp.broadcast_arrays(x, xp.ones(4)),
    "broadcast_shapes": lambda xp, x, n, s, b: xp.broadcast_shapes((2, 3), (4,)),
    "matmul sizes": lambda xp, x, n, s, b: x @ x,
    "matmul 0-d": lambda xp, x, n, s, b: xp.matmul(x, s),
    "dot sizes": lambda xp, x, n, s, b: xp.dot(x, x),
    "vdot sizes": lambda xp, x, n, s, b: xp.vdot(x, n),
    "inner sizes": lambda xp, x, n, s, b: xp.inner(x, xp.ones(2)),
    "tensordot sizes": lambda xp, x, n, s, b: xp.tensordot(x, x, axes=1),
    "cross sizes": lambda xp, x, n, s, b: xp.cross(xp.ones(4), xp.ones(4)),
    "reshape": lambda xp, x, n, s, b: x.reshape(4),
    "reshape two -1": lambda xp, x, n, s, b: x.reshape(-1, -1),
    "reshape not divisible": lambda xp, x, n, s, b: xp.reshape(x, (4, -1)),
    "reshape float": lambda xp, x, n, s, b: xp.reshape(x, (2.0, 3)),
    "reshape order": lambda xp, x, n, s, b: xp.reshape(x, 6, order="Q"),
    "squeeze": lambda xp, x, n, s, b: x.squeeze(0),
    "concatenate sizes": lambda xp, x, n, s, b: xp.concatenate([x, xp.ones((2, 4))]),
    "concatenate ranks": lambda xp, x, n, s, b: xp.concatenate([x, n]),
    "concatenate nothing": lambda xp, x, n, s, b: xp.concatenate([]),
    "concatenate 0-d": lambda xp, x, n, s, b: xp.concatenate([s, s]),
    "concatenate a number": lambda xp, x, n, s, b: xp.concatenate(3),
    "stack sizes": lambda xp, x, n, s, b: xp.stack([x, n]),
    "stack nothing": lambda xp, x, n, s, b: xp.stack([]),
    "vstack sizes": lambda xp, x, n, s, b: xp.vstack([x, xp.ones(4)]),
    "hstack sizes": lambda xp, x, n, s, b: xp.hstack([x, xp.ones((3, 3))]),
    "split unequal": lambda xp, x, n, s, b: xp.split(x, 2, axis=1),
    "array_split zero": lambda xp, x, n, s, b: xp.array_split(x, 0),
    "hsplit 0-d": lambda xp, x, n, s, b: xp.hsplit(s, 1),
    "zeros negative": lambda xp, x, n, s, b: xp.zeros(-1),
    "zeros float": lambda xp, x, n, s, b: xp.zeros(2.5),
    "full shape": lambda xp, x, n, s, b: xp.full((2,), xp.ones(3)),
    "ragged list": lambda xp, x, n, s, b: xp.asarray([[1.0], [1.0, 2.0]]),
    "tile float": lambda xp, x, n, s, b: xp.tile(x, 1.5),
    "repeat negative": lambda xp, x, n, s, b: xp.repeat(x, -1),
    "repeat counts": lambda xp, x, n, s, b: xp.repeat(x, [1, 2, 3, 4], axis=0),
    "pad negative": lambda xp, x, n, s, b: xp.pad(x, -1),
    "pad widths": lambda xp, x, n, s, b: xp.pad(x, ((1, 1), (1, 1), (1, 1))),
    "pad mode": lambda xp, x, n, s, b: xp.pad(x, 1, mode="nothing"),
    "diag rank": lambda xp, x, n, s, b: xp.diag(xp.ones((2, 2, 2))),
    "diagonal of a vector": lambda xp, x, n, s, b: xp.diagonal(n),
    "diagonal same axes": lambda xp, x, n, s, b: xp.diagonal(x, axis1=0, axis2=0),
    "trace of a vector": lambda xp, x, n, s, b: xp.trace(n),
    "roll lengths": lambda xp, x, n, s, b: xp.roll(x, (1, 2, 3), (0, 1)),
    "choose": lambda xp, x, n, s, b: xp.select([b], [x, x]),
    "searchsorted table": lambda xp, x, n, s, b: xp.searchsorted(x, 1.0),
    "searchsorted side": lambda xp, x, n, s, b: xp.searchsorted(n, 1, side="middle"),
    "interp lengths": lambda xp, x, n, s, b: xp.interp(s, n, xp.ones(2)),
    "convolve rank": lambda xp, x, n, s, b: xp.convolve(x, n),
    "convolve nothing": lambda xp, x, n, s, b: xp.convolve(n, n[:0]),
    "histogram bins": lambda xp, x, n, s, b: xp.histogram(x, bins=0),
    "bincount rank": lambda xp, x, n, s, b: xp.bincount(n.reshape(3, 1)),
    "bincount floats": lambda xp, x, n, s, b: xp.bincount(xp.ones(3)),
    "linspace negative": lambda xp, x, n, s, b: xp.linspace(0, 1, -1),
    "linspace float": lambda xp, x, n, s, b: xp.linspace(0, 1, 2.5),
    "unravel_index": lambda xp, x, n, s, b: xp.unravel_index(x, (2, 3)),
    "percentile range": lambda xp, x, n, s, b: xp.percentile(x, 101),
    "quantile method": lambda xp, x, n, s, b: xp.quantile(x, 0.5, method="nothing"),
    "einsum sizes": lambda xp, x, n, s, b: xp.einsum("ij,jk", x, x),
    "einsum terms": lambda xp, x, n, s, b: xp.einsum("ij,jk", x),
    "einsum ranks": lambda xp, x, n, s, b: xp.einsum("i", x),
    "einsum letters": lambda xp, x, n, s, b: xp.einsum("ij->k", x),
    "meshgrid indexing": lambda xp, x, n, s, b: xp.meshgrid(n, n, indexing="zz"),
    "max of nothing": lambda xp, x, n, s, b: x[:0].max(),
    "min of nothing": lambda xp, x, n, s, b: xp.min(n[:0], axis=0),
    "argmax of nothing": lambda xp, x, n, s, b: xp.argmax(n[:0]),
    "ptp of nothing": lambda xp, x, n, s, b: xp.ptp(n[:0]),
    # Axes.
    "sum axis": lambda xp, x, n, s, b: x.sum(axis=2),
    "sum axis twice": lambda xp, x, n, s, b: xp.sum(x, axis=(0, 0)),
    "sum axis float": lambda xp, x, n, s, b: x.sum(axis=1.0),
    "mean axis": lambda xp, x, n, s, b: xp.mean(x, axis=-3),
    "argmax axis": lambda xp, x, n, s, b: xp.argmax(x, axis=5),
    "expand_dims": lambda xp, x, n, s, b: xp.expand_dims(x, 4),
    "expand_dims twice": lambda xp, x, n, s, b: xp.expand_dims(x, (0, 0)),
    "squeeze axis": lambda xp, x, n, s, b: xp.squeeze(x, axis=2),
    "transpose axes": lambda xp, x, n, s, b: xp.transpose(x, (0, 2)),
    "transpose too few": lambda xp, x, n, s, b: xp.transpose(x, (0,)),
    "transpose twice": lambda xp, x, n, s, b: xp.transpose(x, (0, 0)),
    "swapaxes": lambda xp, x, n, s, b: xp.swapaxes(x, 0, 2),
    "moveaxis": lambda xp, x, n, s, b: xp.moveaxis(x, 0, 2),
    "moveaxis lengths": lambda xp, x, n, s, b: xp.moveaxis(x, (0, 1), 0),
    "flip axis": lambda xp, x, n, s, b: xp.flip(x, axis=2),
    "rot90 of a vector": lambda xp, x, n, s, b: xp.rot90(n),
    "roll axis": lambda xp, x, n, s, b: xp.roll(x, 1, axis=2),
    "sort axis": lambda xp, x, n, s, b: xp.sort(x, axis=2),
    "argsort axis": lambda xp, x, n, s, b: xp.argsort(x, axis=2),
    "cumsum axis": lambda xp, x, n, s, b: xp.cumsum(x, axis=2),
    "concatenate axis": lambda xp, x, n, s, b: xp.concatenate([x, x], axis=2),
    "stack axis": lambda xp, x, n, s, b: xp.stack([x, x], axis=4),
    "split axis": lambda xp, x, n, s, b: xp.array_split(x, 2, axis=2),
    "take axis": lambda xp, x, n, s, b: xp.take(x, n, axis=2),
    "repeat axis": lambda xp, x, n, s, b: xp.repeat(x, 2, axis=2),
    "diff axis": lambda xp, x, n, s, b: xp.diff(x, axis=2),
    "diff order": lambda xp, x, n, s, b: xp.diff(x, n=-1),
    "gradient axis": lambda xp, x, n, s, b: xp.gradient(x, axis=2),
    "tensordot axes": lambda xp, x, n, s, b: xp.tensordot(x, x, axes=((0,), (5,))),
    # Indices.
    "index out of range": lambda xp, x, n, s, b: x[2],
    "negative index out of range": lambda xp, x, n, s, b: x[0, -4],
    "index array out of range": lambda xp, x, n, s, b: x[:0][0],
    "too many indices": lambda xp, x, n, s, b: x[0, 0, 0],
    "two ellipses": lambda xp, x, n, s, b: x[..., ...],
    "float index": lambda xp, x, n, s, b: x[1.0],
    "string index": lambda xp, x, n, s, b: x["a"],
    "float index array": lambda xp, x, n, s, b: n[xp.ones(2)],
    "index arrays' shapes": lambda xp, x, n, s, b: x[np.array([0, 1]), np.array([0, 1, 2])],
    "mask's shape": lambda xp, x, n, s, b: x[np.ones(3, bool)],
    "mask's rank": lambda xp, x, n, s, b: n[np.ones((3, 3), bool)],
    "slice step": lambda xp, x, n, s, b: x[::0],
    "slice bound": lambda xp, x, n, s, b: x["a":],
    "slice float": lambda xp, x, n, s, b: x[1.5:],
    "index of a 0-d array": lambda xp, x, n, s, b: s[0],
    "take out of range": lambda xp, x, n, s, b: xp.take(x, np.array([9])),
    "take floats": lambda xp, x, n, s, b: xp.take(x, x),
    "take of nothing": lambda xp, x, n, s, b: xp.take(n[:0], np.array([0])),
    "take mode": lambda xp, x, n, s, b: xp.take(x, n, mode="nothing"),
    "take_along_axis ranks": lambda xp, x, n, s, b: xp.take_along_axis(x, n, 1),
    "take_along_axis floats": lambda xp, x, n, s, b: xp.take_along_axis(x, x, 1),
    "delete out of range": lambda xp, x, n, s, b: xp.delete(n, 5),
    "insert out of range": lambda xp, x, n, s, b: xp.insert(n, 7, 1),
    # Types.
    "len of a 0-d array": lambda xp, x, n, s, b: len(s),
    "iter of a 0-d array": lambda xp, x, n, s, b: iter(s),
    "list of a 0-d array": lambda xp, x, n, s, b: list(s),
    "reversed of a 0-d array": lambda xp, x, n, s, b: list(reversed(s)),
    "in": lambda xp, x, n, s, b: np.ones(4) in x,
    "hash": lambda xp, x, n, s, b: hash(x),
    "call": lambda xp, x, n, s, b: x(),
    "unknown attribute": lambda xp, x, n, s, b: x.nothing,
    "unknown function": lambda xp, x, n, s, b: xp.nothing(x),
    "add None": lambda xp, x, n, s, b: x + None,
    "add a dict": lambda xp, x, n, s, b: x + {},
    "add a str": lambda xp, x, n, s, b: n + "a",
    "sin of a str": lambda xp, x, n, s, b: xp.sin("a"),
    "sin of None": lambda xp, x, n, s, b: xp.sin(None),
    "sin of nothing": lambda xp, x, n, s, b: xp.sin(),
    "sin of an axis": lambda xp, x, n, s, b: xp.sin(x, axis=0),
    "and of floats": lambda xp, x, n, s, b: x & x,
    "invert floats": lambda xp, x, n, s, b: ~x,
    "shift floats": lambda xp, x, n, s, b: xp.left_shift(x, 1),
    "negative booleans": lambda xp, x, n, s, b: -b,
    "subtract booleans": lambda xp, x, n, s, b: b - b,
    "gcd of floats": lambda xp, x, n, s, b: xp.gcd(x, x),
    "sign of a str": lambda xp, x, n, s, b: xp.sign("a"),
    "floor_divide complex": lambda xp, x, n, s, b: (x + 1j) // 2,
    "remainder complex": lambda xp, x, n, s, b: (x + 1j) % 2,
    "divmod complex": lambda xp, x, n, s, b: divmod(x + 1j, 2),
    "floor complex": lambda xp, x, n, s, b: xp.floor(x + 1j),
    "arctan2 complex": lambda xp, x, n, s, b: xp.arctan2(x + 1j, x),
    "negative power": lambda xp, x, n, s, b: n**-1,
    "unknown dtype": lambda xp, x, n, s, b: x.astype("nothing"),
    "asarray dtype": lambda xp, x, n, s, b: xp.asarray([1], dtype="nothing"),
    "integer out of range": lambda xp, x, n, s, b: xp.asarray([1], dtype=xp.uint8) + 300,
    "negative out of range": lambda xp, x, n, s, b: xp.asarray([1], dtype=xp.uint8) + -1,
    "huge integer": lambda xp, x, n, s, b: xp.asarray([1], dtype=xp.int64) + 2**80,
    "iinfo of floats": lambda xp, x, n, s, b: xp.iinfo(xp.float32),
    "finfo of integers": lambda xp, x, n, s, b: xp.finfo(xp.int32),
    "result_type of nothing": lambda xp, x, n, s, b: xp.result_type(),
    "arange of nothing": lambda xp, x, n, s, b: xp.arange(),
    "arange of a str": lambda xp, x, n, s, b: xp.arange("a"),
    "arange step": lambda xp, x, n, s, b: xp.arange(0, 1, 0),
    "unknown keyword": lambda xp, x, n, s, b: xp.sum(x, nothing=1),
    "where of two": lambda xp, x, n, s, b: xp.where(b, x),
    # Linear algebra and transforms.
    "inv of a rectangle": lambda xp, x, n, s, b: xp.linalg.inv(x),
    "det of a vector": lambda xp, x, n, s, b: xp.linalg.det(n),
    "solve sizes": lambda xp, x, n, s, b: xp.linalg.solve(xp.eye(3), xp.ones(2)),
    "solve a rectangle": lambda xp, x, n, s, b: xp.linalg.solve(x, xp.ones(2)),
    "cholesky of a rectangle": lambda xp, x, n, s, b: xp.linalg.cholesky(x),
    "eigh of a rectangle": lambda xp, x, n, s, b: xp.linalg.eigh(x),
    "eigh triangle": lambda xp, x, n, s, b: xp.linalg.eigh(xp.eye(2), UPLO="Q"),
    "qr of a vector": lambda xp, x, n, s, b: xp.linalg.qr(n),
    "qr mode": lambda xp, x, n, s, b: xp.linalg.qr(x, mode="nothing"),
    "svd of a vector": lambda xp, x, n, s, b: xp.linalg.svd(n),
    "norm order": lambda xp, x, n, s, b: xp.linalg.norm(x, ord="nothing"),
    "matrix_power float": lambda xp, x, n, s, b: xp.linalg.matrix_power(xp.eye(2), 1.5),
    "matrix_power of a rectangle": lambda xp, x, n, s, b: xp.linalg.matrix_power(x, 2),
    "fft norm": lambda xp, x, n, s, b: xp.fft.fft(x, norm="nothing"),
    "fft length": lambda xp, x, n, s, b: xp.fft.fft(x, n=0),
    "fft axis": lambda xp, x, n, s, b: xp.fft.fft(x, axis=3),
    "rfft of complex": lambda xp, x, n, s, b: xp.fft.rfft(x + 1j),
}

# What needs the elements: errors of NumPy for concrete arrays, a TypeError (as JAX's) for traced ones.
OF_ELEMENTS: dict[str, Mistake] = {
    "bool of several": lambda xp, x, n, s, b: bool(x),
    "bool of none": lambda xp, x, n, s, b: bool(n[:0]),
    "if of several": lambda xp, x, n, s, b: 1 if x > 0 else 0,
    "int of several": lambda xp, x, n, s, b: int(x),
    "float of several": lambda xp, x, n, s, b: float(x),
    "complex of several": lambda xp, x, n, s, b: complex(x),
    "index of several": lambda xp, x, n, s, b: operator.index(n),
    "index of a float": lambda xp, x, n, s, b: operator.index(s),
    "range of a float": lambda xp, x, n, s, b: range(s),
    "list index of an array": lambda xp, x, n, s, b: [1, 2][n],
    "float format of several": lambda xp, x, n, s, b: f"{x:.2f}",
    "item of several": lambda xp, x, n, s, b: x.item(),
}


def wrong_by_numpy(mistake: Mistake) -> set[type]:
    """The built-in classes of what NumPy raises."""
    with pytest.raises(Exception) as caught:
        mistake(np, *(np.asarray(a) for a in ARRAYS))
    result = {c for c in type(caught.value).__mro__ if c.__module__ == "builtins"}
    return result - {object, BaseException, Exception, LookupError, ArithmeticError, RuntimeError}


@pytest.mark.parametrize("name", [*MISTAKES, *OF_ELEMENTS])
def test_a_mistake_raises_the_class_that_numpy_raises(name: str) -> None:
    mistake = (MISTAKES | OF_ELEMENTS)[name]
    wanted = wrong_by_numpy(mistake)
    with pytest.raises(tuple(wanted)) as caught:
        mistake(anp, *map(anp.asarray, ARRAYS))
    assert wanted <= set(type(caught.value).__mro__)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_traced_mistake_raises_the_class_that_numpy_raises(name: str) -> None:
    wanted = wrong_by_numpy(MISTAKES[name])
    with pytest.raises(tuple(wanted)) as caught:
        adze.trace(lambda *arrays: MISTAKES[name](anp, *arrays), *ARRAYS)
    assert wanted <= set(type(caught.value).__mro__)


@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_elements_of_a_traced_array_are_a_type_error(name: str) -> None:
    with pytest.raises(TypeError):
        adze.trace(lambda *arrays: OF_ELEMENTS[name](anp, *arrays), *ARRAYS)


# Mistakes that NumPy cannot make -> the built-in class that JAX raises.
OF_TRANSFORMS: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "grad of a vector": (TypeError, lambda: adze.grad(lambda x: x)(ARRAYS[0])),
    "grad of a pair": (TypeError, lambda: adze.grad(lambda x: (x, x))(1.0)),
    "grad of integers": (TypeError, lambda: adze.grad(lambda x: x)(3)),
    "grad without an aux": (TypeError, lambda: adze.grad(lambda x: x, has_aux=True)(1.0)),
    "argnums": (ValueError, lambda: adze.grad(lambda x: x, argnums=2)(1.0)),
    "jvp of no tuples": (TypeError, lambda: adze.jvp(anp.sin, 1.0, 1.0)),
    "jvp with another tree": (TypeError, lambda: adze.jvp(anp.sin, (1.0,), ((1.0, 1.0),))),
    "vjp with another tree": (ValueError, lambda: adze.vjp(anp.sin, 1.0)[1]((1.0, 1.0))),
    "vmap of no function": (TypeError, lambda: adze.vmap(3)),  # type: ignore[arg-type]
    "vmap sizes": (ValueError, lambda: adze.vmap(anp.add)(ARRAYS[0], ARRAYS[1])),
    "vmap in_axes": (TypeError, lambda: adze.vmap(anp.sin, in_axes="a")(ARRAYS[0])),  # type: ignore[arg-type]
    "vmap of rank 0": (ValueError, lambda: adze.vmap(anp.sin)(ARRAYS[2])),
    "unbound axis name": (NameError, lambda: adze.lax.psum(ARRAYS[0], "i")),
    "jit of no function": (TypeError, lambda: adze.jit(3)),  # type: ignore[call-overload]
    "jit of a str": (TypeError, lambda: adze.jit(anp.sin)("a")),
    "jit returns a str": (TypeError, lambda: adze.jit(lambda x: "a")(1.0)),
    "unhashable static": (ValueError, lambda: adze.jit(anp.sum, static_argnums=1)(ARRAYS[0], [0])),
    "scan changes its carry": (
        TypeError,
        lambda: adze.jit(lambda x: adze.scan(lambda c, y: (c.astype("int8"), y), x[0, 0], x))(ARRAYS[0]),
    ),
    "branches differ": (
        TypeError,
        lambda: adze.jit(lambda x: adze.cond(x > 0, lambda v: v, lambda v: (v, v), x))(1.0),
    ),
    "item assignment": (TypeError, lambda: operator.setitem(anp.ones(3), 0, 1.0)),
    "unknown numpy function": (TypeError, lambda: adze.jit(np.real_if_close)(anp.ones(3))),
    "call of a compiled program with another dtype": (
        TypeError,
        lambda: adze.trace(anp.sin, ARRAYS[0]).lower().compile()(ARRAYS[1]),
    ),
    "key": (TypeError, lambda: adze.random.normal(3)),  # type: ignore[arg-type]
    "missing file": (FileNotFoundError, lambda: adze.load("missing.vmfb")),
    "unknown target": (ValueError, lambda: adze.trace(anp.sin, 1.0).lower("tpu")),
}


@pytest.mark.parametrize("name", OF_TRANSFORMS)
def test_a_mistake_with_a_transform_raises_the_class_that_jax_raises(name: str) -> None:
    wanted, mistake = OF_TRANSFORMS[name]
    with pytest.raises(wanted) as caught:
        mistake()
    assert isinstance(caught.value, adze.AdzeError)


# Mistakes of the first table for which JAX raises a TypeError, and NumPy a ValueError.
TYPE_ERRORS_OF_JAX = (
    *("maximum shapes", "matmul sizes", "dot sizes", "vdot sizes", "inner sizes", "tensordot sizes"),
    *("reshape", "reshape two -1", "reshape not divisible", "concatenate sizes", "concatenate ranks"),
    *("vstack sizes", "hstack sizes", "zeros negative", "diagonal same axes", "transpose too few"),
    *("transpose twice", "cholesky of a rectangle", "eigh of a rectangle", "qr of a vector"),
    *("svd of a vector", "matrix_power of a rectangle"),
)


@pytest.mark.parametrize("name", TYPE_ERRORS_OF_JAX)
def test_a_mistake_raises_the_class_that_jax_raises(name: str) -> None:
    with pytest.raises(TypeError):
        MISTAKES[name](anp, *map(anp.asarray, ARRAYS))


def test_missing_rules_raise_the_classes_that_jax_raises() -> None:
    @adze.custom_vjp
    def f(x: Any) -> Any:
        return x

    f.defvjp(lambda x: (x, None), lambda _, c: (anp.clip(c, -1, 1),))
    with pytest.raises(TypeError):
        adze.jvp(f, (1.0,), (1.0,))
    with pytest.raises(ValueError, match="while"):
        adze.grad(lambda x: adze.while_loop(lambda c: c < 9, lambda c: c * 2, x))(1.0)


def test_an_error_survives_pickling_and_copying() -> None:
    with pytest.raises(adze.AdzeError) as caught:
        anp.ones((2, 3)).sum(axis=7)
    for back in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(back) is type(caught.value) and str(back) == str(caught.value)
        assert (back.message, back.where) == (caught.value.message, caught.value.where)
