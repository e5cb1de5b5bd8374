"""`vmap` over an axis of size 0 returns results of size 0 in the shape and dtype that one slice has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.lax as lax
import adze.nn as nn
import adze.numpy as anp


def none(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """A batch of no arrays of `shape`."""
    return np.zeros((0, *shape), dtype)


def one(*shape: int) -> np.ndarray:
    """An array that all slices share."""
    return np.ones(shape, np.float32)


def convolved(**keywords: Any) -> Callable[[Any, Any], Any]:
    return lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", **keywords)


def positive(a: Any) -> Any:
    return a @ a.T + anp.eye(3)


def kernel_gradient(x: Any, k: Any) -> Any:
    return adze.grad(lambda k: anp.sin(convolved()(x, k)).sum())(k)


IMAGE, KERNEL = (4, 4, 6, 6), (8, 4, 3, 3)
HALVES, PAIRS = {"feature_group_count": 2}, {"batch_group_count": 2}

ROWS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "convolution of images": (convolved(), [none(*IMAGE), one(*KERNEL)]),
    "convolution by kernels": (convolved(), [one(*IMAGE), none(*KERNEL)]),
    "convolution of both": (convolved(), [none(*IMAGE), none(*KERNEL)]),
    "feature groups, images": (convolved(**HALVES), [none(*IMAGE), one(8, 2, 3, 3)]),
    "feature groups, kernels": (convolved(**HALVES), [one(*IMAGE), none(8, 2, 3, 3)]),
    "feature groups, both": (convolved(**HALVES), [none(*IMAGE), none(8, 2, 3, 3)]),
    "batch groups, images": (convolved(**PAIRS), [none(*IMAGE), one(*KERNEL)]),
    "batch groups, kernels": (convolved(**PAIRS), [one(*IMAGE), none(*KERNEL)]),
    "batch groups, both": (convolved(**PAIRS), [none(*IMAGE), none(*KERNEL)]),
    "gradient of a convolution": (kernel_gradient, [none(*IMAGE), one(*KERNEL)]),
    "gradient by kernels": (kernel_gradient, [none(*IMAGE), none(*KERNEL)]),
    "matmul of both": (anp.matmul, [none(2, 3), none(3, 4)]),
    "matmul of the left": (anp.matmul, [none(2, 3), one(3, 4)]),
    "matmul of the right": (anp.matmul, [one(2, 3), none(3, 4)]),
    "einsum": (lambda a, b: anp.einsum("ij,jk->ki", a, b), [none(2, 3), none(3, 4)]),
    "dynamic_slice": (lambda a, i: lax.dynamic_slice(a, (i,), (2,)), [one(4), none(dtype=np.int32)]),
    "sort": (anp.sort, [none(4)]),
    "argsort": (anp.argsort, [none(4)]),
    "top_k": (lambda a: lax.top_k(a, 2)[1], [none(4)]),
    "median": (anp.median, [none(4)]),
    "cumsum": (anp.cumsum, [none(4)]),
    "cummax": (lax.cummax, [none(4)]),
    "associative_scan": (lambda a: lax.associative_scan(lambda x, y: x * y, a), [none(4)]),
    "sum": (anp.sum, [none(4, 2)]),
    "max": (lambda a: anp.max(a, axis=1), [none(4, 2)]),
    "argmax": (lambda a: anp.argmax(a, axis=1), [none(4, 2)]),
    "all": (anp.all, [none(4)]),
    "var": (anp.var, [none(4)]),
    "fft": (anp.fft.fft, [none(8)]),
    "fft of a prime": (anp.fft.fft, [none(7)]),
    "rfft": (anp.fft.rfft, [none(8)]),
    "irfft": (anp.fft.irfft, [none(5, dtype=np.complex64)]),
    "cholesky": (lambda a: anp.linalg.cholesky(positive(a)), [none(3, 3)]),
    "qr": (lambda a: anp.linalg.qr(a)[0], [none(3, 3)]),
    "svd": (lambda a: anp.linalg.svd(a, full_matrices=False)[1], [none(3, 4)]),
    "eigh": (lambda a: anp.linalg.eigh(positive(a))[1], [none(3, 3)]),
    "solve_triangular": (adze.scipy.linalg.solve_triangular, [none(3, 3), none(3)]),
    "pad": (lambda a: anp.pad(a, 1), [none(2, 3)]),
    "concatenate": (lambda a, b: anp.concatenate([a, b]), [none(2), one(3)]),
    "where": (anp.where, [none(3, dtype=bool), none(3), one(3)]),
    "reshape": (lambda a: a.reshape(3, 2), [none(2, 3)]),
    "roll": (lambda a: anp.roll(a, 1), [none(3)]),
    "reduce_window": (lambda a: lax.reduce_window(a, 0.0, lax.add, (2,), (1,), "VALID"), [none(4)]),
    "max_pool": (lambda a: nn.max_pool(a, 2), [none(1, 4, 4, 2)]),
    "scan": (lambda a: lax.scan(lambda c, x: (c + x, c), 0.0 * a[0], a)[1], [none(5)]),
    "while of one length": (lambda a: adze.fori_loop(0, 3, lambda i, c: c * 2, a), [none(2)]),
    "while": (lambda a: lax.while_loop(lambda c: c.sum() < 3, lambda c: c + 1, a), [none(2)]),
    "cond": (
        lambda p, a: lax.cond(p, lambda x: x + 1, lambda x: x, a),
        [none(dtype=bool), none(2)],
    ),
    "gradient": (lambda a: adze.grad(lambda v: anp.sin(v).sum())(a), [none(3)]),
    "random": (lambda k: adze.random.normal(k, (3,)), [none(2, dtype=np.uint32)]),
    "softmax": (nn.softmax, [none(4)]),
    "interp": (lambda a: anp.interp(a, np.arange(3.0), np.arange(3.0)), [none(3)]),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ROWS)
def test_an_empty_batch_has_the_shape_of_its_slices(name: str) -> None:
    function, arguments = ROWS[name]
    is_mapped = [a.shape[:1] == (0,) for a in arguments]
    slices = [np.ones(a.shape[1:], a.dtype) if m else a for a, m in zip(arguments, is_mapped, strict=True)]
    expected = adze.eval_shape(function, *slices)
    result = adze.vmap(function, in_axes=tuple(0 if m else None for m in is_mapped))(*arguments)
    assert (result.shape, result.dtype) == ((0, *expected.shape), expected.dtype)


def test_an_empty_batch_of_dynamic_size_has_the_shape_of_its_slices() -> None:
    batched = adze.vmap(convolved(), in_axes=(0, None))
    spec = adze.ShapeDtype(("n", *IMAGE))
    program = adze.trace(batched, spec, one(*KERNEL)).lower().compile()
    for n in (0, 2):
        assert program(np.ones((n, *IMAGE), np.float32), one(*KERNEL)).shape == (n, 4, 8, 6, 6)
