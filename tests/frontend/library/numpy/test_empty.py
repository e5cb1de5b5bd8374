"""Empty arrays: what NumPy returns for them, outside a trace, compiled, differentiated and batched."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.errors import IndexBoundsError
from adze.runtime.errors import CallError

from ....selection import part
from .running import assert_same, flat

E = np.zeros(0, np.float32)
ROWS = np.zeros((0, 3), np.float32)
COLUMNS = np.zeros((3, 0), np.float32)
NOTHING = np.zeros((0, 0), np.float32)
NO_MATRICES = np.zeros((0, 3, 3), np.float32)
OF_NOTHING = np.zeros((2, 0, 0), np.float32)
X = np.arange(6, dtype=np.float32).reshape(2, 3)
NO_INDICES = np.zeros(0, np.int64)
NO_INDICES_2 = np.zeros((2, 0), np.int64)
MASK = np.zeros(0, bool)


INDEXING: dict[str, Any] = {
    "array": (lambda xp, x, i: x[i], E, NO_INDICES),
    "array of rows": (lambda xp, x, i: x[i], X, NO_INDICES),
    "array of two axes": (lambda xp, x, i: x[i], E, NO_INDICES_2),
    "array along axis 1": (lambda xp, x, i: x[:, i], COLUMNS, NO_INDICES),
    "two arrays": (lambda xp, x, i: x[i, i], ROWS, NO_INDICES),
    "list": (lambda xp, x: x[[]], E),
    "mask": (lambda xp, x: x[MASK], E),
    "mask of rows": (lambda xp, x: x[MASK], ROWS),
    "False": (lambda xp, x: x[False], X),
    "slice": (lambda xp, x: x[1:1], X),
    "reversed": (lambda xp, x: x[::-1], E),
    "take": (lambda xp, x, i: xp.take(x, i), E, NO_INDICES),
    "take along axis 1": (lambda xp, x, i: xp.take(x, i, axis=1), COLUMNS, NO_INDICES),
    "take, clipped": (lambda xp, x, i: xp.take(x, i, mode="clip"), E, NO_INDICES),
    "take, wrapped": (lambda xp, x, i: xp.take(x, i, mode="wrap"), E, NO_INDICES),
    "take_along_axis": (lambda xp, x, i: xp.take_along_axis(x, i, 0), E, NO_INDICES),
    "take_along_axis 1": (
        lambda xp, x, i: xp.take_along_axis(x, i, 1),
        np.zeros((2, 0), np.float32),
        NO_INDICES_2,
    ),
    "take_along_axis of elements": (lambda xp, x, i: xp.take_along_axis(x, i, 1), X, NO_INDICES_2),
    "repeat": (lambda xp, x: xp.repeat(x, 2), E),
    "repeat by counts": (lambda xp, x: xp.repeat(x, np.zeros(0, int)), E),
    "repeat no times": (lambda xp, x: xp.repeat(x, [0, 0], axis=0), X),
    "compress": (lambda xp, x: xp.compress(MASK, x), E),
    "compress all away": (lambda xp, x: xp.compress([False, False], x, axis=0), X),
    "choose": (lambda xp, x, i: xp.choose(i, [x, x]), E, NO_INDICES),
    "delete nothing": (lambda xp, x: xp.delete(x, []), E),
    "insert": (lambda xp, x: xp.insert(x, 0, 5.0), E),
    "roll": (lambda xp, x: xp.roll(x, 1), E),
    "quantile": (lambda xp, x: xp.quantile(x, 0.5, axis=1), ROWS),
}

WHOLE: dict[str, Any] = {
    "sum": (lambda xp, x: (xp.sum(x), xp.sum(x, axis=0), xp.sum(x, axis=1)), ROWS),
    "prod": (lambda xp, x: xp.prod(x, axis=0), ROWS),
    "mean": (lambda xp, x: (xp.mean(x), xp.mean(x, axis=0), xp.mean(x, axis=1)), ROWS),
    "var, std, median": (lambda xp, x: (xp.var(x), xp.std(x, axis=0), xp.median(x)), ROWS),
    "nansum, nanmean": (lambda xp, x: (xp.nansum(x), xp.nanmean(x), xp.nanvar(x)), E),
    "max": (lambda xp, x: (xp.max(x, axis=1), xp.argmax(x, axis=1), xp.ptp(x, axis=1)), ROWS),
    "min, initial": (lambda xp, x: xp.min(x, initial=3.0), E),
    "all, any": (lambda xp, x: (xp.all(x), xp.any(x, axis=0)), ROWS),
    "sort": (lambda xp, x: (xp.sort(x, axis=0), xp.argsort(x, axis=1)), ROWS),
    "lexsort": (lambda xp, x: xp.lexsort((x, x)), E),
    "searchsorted": (lambda xp, x, v: (xp.searchsorted(x, v), xp.searchsorted(v, x)), E, X[0]),
    "digitize": (lambda xp, x, v: xp.digitize(x, v), E, X[0]),
    "cumsum": (lambda xp, x: (xp.cumsum(x), xp.cumsum(x, axis=1), xp.cumprod(x, axis=0)), ROWS),
    "diff": (lambda xp, x: (xp.diff(x), xp.diff(x, axis=0)), ROWS),
    "concatenate": (lambda xp, x, y: (xp.concatenate([x, y]), xp.stack([x, x]), xp.vstack([x, y])), ROWS, X),
    "split": (lambda xp, x: (xp.split(x, 3, axis=1), xp.array_split(x, 2)), ROWS),
    "einsum": (lambda xp, x: (xp.einsum("ij,ik->jk", x, x), xp.einsum("ij,ij->", x, x)), ROWS),
    "matmul": (lambda xp, x, y: (x @ y, y @ x, xp.tensordot(x, y, axes=1)), COLUMNS, ROWS),
    "dot": (lambda xp, x: (xp.dot(x, x), xp.vdot(x, x), xp.inner(x, x), xp.outer(x, x)), E),
    "histogram": (lambda xp, x: xp.histogram(x, bins=3, range=(0.0, 1.0))[0], E),
    "interp": (lambda xp, x: xp.interp(x, X[0], X[0]), np.zeros(0)),
    "trace": (lambda xp, x: (xp.trace(x), xp.diagonal(x), xp.tril(x)), ROWS),
    "pad": (lambda xp, x: (xp.pad(x, ((0, 0), (1, 1))), xp.tile(x, (2, 1)), xp.rot90(x)), ROWS),
    "reshape": (lambda xp, x: (xp.reshape(x, (3, 0)), xp.reshape(x, (-1, 3)), x.T), ROWS),
    "where": (lambda xp, x: (xp.where(x > 0, x, x), xp.isin(x, X), xp.sin(x) + 1), ROWS),
    "fft": (lambda xp, x: (xp.fft.fft(x + 0j), xp.fft.fftshift(x)), ROWS.astype(np.float64)),
    "fft, lengthened": (lambda xp, x: xp.fft.fft(x, n=4), np.zeros(0, np.complex128)),
}

ALGEBRA: dict[str, Any] = {
    **{
        f"{name} of {kind}": (call, x)
        for kind, x in (("0x0", NOTHING), ("none", NO_MATRICES), ("several 0x0", OF_NOTHING))
        for name, call in (
            ("inv", lambda xp, x: xp.linalg.inv(x)),
            ("det", lambda xp, x: (xp.linalg.det(x), *xp.linalg.slogdet(x))),
            ("cholesky", lambda xp, x: xp.linalg.cholesky(x)),
            ("qr", lambda xp, x: tuple(xp.linalg.qr(x))),
            ("eigh", lambda xp, x: tuple(xp.linalg.eigh(x))),
            ("svd", lambda xp, x: tuple(xp.linalg.svd(x, full_matrices=False))),
            ("matrix_power", lambda xp, x: (xp.linalg.matrix_power(x, 3), xp.linalg.matrix_power(x, 0))),
            ("solve", lambda xp, x: xp.linalg.solve(x, x)),
        )
    },
    "qr": (lambda xp, x: (*xp.linalg.qr(x), *xp.linalg.qr(x.T)), ROWS),
    "svd, full": (lambda xp, x: tuple(xp.linalg.svd(x)), ROWS),
    "solve without right sides": (lambda xp, x: xp.linalg.solve(np.eye(3, dtype=np.float32), x), COLUMNS),
    "pinv": (lambda xp, x: (xp.linalg.pinv(x), xp.linalg.pinv(x.T)), ROWS),
    "matrix_rank": (lambda xp, x: xp.linalg.matrix_rank(x), NO_MATRICES),
    "norm": (lambda xp, x: (xp.linalg.norm(x), xp.linalg.norm(x, axis=0), xp.linalg.norm(x, axis=1)), ROWS),
    "norms of vectors": (lambda xp, x: (xp.linalg.norm(x, 1), xp.linalg.norm(x, 3)), E),
    "lstsq": (lambda xp, x, y: xp.linalg.lstsq(x, y, rcond=None)[0], ROWS, E),
    "multi_dot": (lambda xp, x, y: xp.linalg.multi_dot([x, y, x]), COLUMNS, ROWS),
}

CASES = INDEXING | WHOLE | ALGEBRA


def by_numpy(name: str) -> list[np.ndarray]:
    call, *arrays = CASES[name]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of nothing
        return [np.asarray(r) for r in flat(call(np, *arrays))]


def results(name: str, *arrays: Any) -> tuple[Any, ...]:
    return tuple(flat(CASES[name][0](anp, *arrays)))


@pytest.mark.parametrize("name", CASES)
def test_eager_call_gives_what_numpy_gives(name: str) -> None:
    assert_same(results(name, *map(anp.asarray, CASES[name][1:])), by_numpy(name))


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(INDEXING, id="indexing"),
        *(pytest.param(group, id="whole") for group in part([WHOLE], [dict(list(WHOLE.items())[::2])])),
        pytest.param(ALGEBRA, id="algebra", marks=pytest.mark.thorough),
    ],
)
def test_compiled_call_gives_what_numpy_gives(group: dict[str, Any]) -> None:
    given = {name: group[name][1:] for name in group}
    result = adze.jit(lambda given: {name: results(name, *given[name]) for name in given})(given)
    for name in group:
        assert_same(result[name], by_numpy(name))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [n for n in CASES if n != "svd, full"])
def test_gradients_have_the_shape_of_the_array(name: str) -> None:
    x, *others = CASES[name][1:]

    def loss(x: Any) -> Any:
        floats = [r for r in results(name, x, *others) if r.dtype.kind in "fc"]
        return sum((anp.sum(anp.abs(r)).astype(x.dtype) for r in floats), anp.sum(x))

    gradient = adze.grad(loss)(x) if x.dtype.kind == "f" else x
    assert gradient.shape == x.shape


@pytest.mark.each_value
@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("name", INDEXING)
def test_a_batch_gives_what_each_gives(name: str, count: int) -> None:
    expected = [np.broadcast_to(r, (count, *r.shape)) for r in by_numpy(name)]
    batches = [np.broadcast_to(a, (count, *a.shape)) for a in CASES[name][1:]]
    assert_same(adze.vmap(lambda *arrays: results(name, *arrays))(*batches), expected)


@pytest.mark.parametrize("transform", [lambda f: f, adze.jit], ids=["eager", "compiled"])
def test_an_empty_axis_has_no_element_to_take(transform: Any) -> None:
    one = np.array([0])
    for read in (
        lambda x, i: x[i],
        lambda x, i: anp.take(x, i, mode="clip"),
        lambda x, i: anp.take_along_axis(x, i, 0),
        lambda x, i: x.at[i].get(),
    ):
        with pytest.raises(IndexBoundsError) as raised:
            transform(read)(anp.asarray(E), one)
        assert isinstance(raised.value, IndexError)
    with pytest.raises(IndexError, match=r"take elements of f32\[0\], whose axis 0 has none"):
        transform(lambda x, i: x[i])(anp.asarray(E), one)


def test_fill_and_drop_are_defined_for_an_empty_axis() -> None:
    def both(x: Any, i: Any) -> Any:
        filled = x.at[i].get(mode="fill", fill_value=7.0)
        return filled, x.at[i].set(1.0), x.at[i].add(1.0), x.at[i].mul(2.0), x.at[i].max(1.0)

    expected = [np.full(2, 7.0, np.float32), E, E, E, E]
    i = np.array([0, 1])
    assert_same(both(anp.asarray(E), i), expected)
    assert_same(adze.jit(both)(E, i), expected)
    slope = adze.grad(lambda v: anp.sum(anp.asarray(E).at[i].mul(v)) + anp.sum(v))
    assert np.array_equal(slope(np.ones(2, np.float32)), [1.0, 1.0])


def test_sizes_that_are_zero_when_the_program_runs() -> None:
    specs = adze.ShapeDtype(("n",), np.float32), adze.ShapeDtype(("m",), np.int64)
    program = adze.trace(lambda x, i: (x[i], x.at[i].add(1.0)), *specs).lower().compile()
    x = np.float32([3, 4])
    assert_same(program(E, NO_INDICES), [E, E])
    assert_same(program(x, NO_INDICES), [E, x])
    assert_same(program(x, np.array([1])), [x[1:], np.float32([3, 5])])
    with pytest.raises(CallError, match="the window exceeds axis 0 of the array"):
        program(E, np.array([0]))


def test_random_functions_of_shape_zero() -> None:
    key = adze.random.key(0)
    assert adze.random.normal(key, (0, 3)).shape == (0, 3)
    assert adze.random.randint(key, (0,), 0, 5).shape == (0,)
    assert adze.random.permutation(key, anp.asarray(E)).shape == (0,)
    assert adze.random.choice(key, 3, (0,)).shape == (0,)
    assert adze.random.gamma(key, 1.5, (2, 0)).shape == (2, 0)
    assert adze.random.categorical(key, X, shape=(0, 2)).shape == (0, 2)


@pytest.mark.parametrize("shapes", [((0, 2, 5), (3, 2, 2)), ((2, 0, 5), (3, 0, 2)), ((2, 2, 1), (3, 2, 2))])
def test_convolutions_of_nothing(shapes: Any) -> None:
    x, w = (np.ones(s, np.float32) for s in shapes)
    result = adze.lax.conv_general_dilated(x, w, (1,), "VALID")
    assert result.shape == (x.shape[0], 3, x.shape[2] - 1) and not np.any(result)
    slopes = adze.grad(lambda x, w: adze.lax.conv_general_dilated(x, w, (1,), "VALID").sum(), (0, 1))(x, w)
    assert [s.shape for s in slopes] == [x.shape, w.shape] and not any(map(np.any, slopes))
