"""The table of calls on whole arrays: reductions, shapes, joining, searching, products, statistics, sets.

`STATIC` calls have arguments that must be known while tracing beside those that are traced: NumPy arrays
are traced, lists and numbers are not.
"""

from typing import Any

import numpy as np

from .running import Call

RNG = np.random.default_rng(7)
F32 = RNG.normal(size=(3, 4)).astype(np.float32)
F64 = RNG.normal(size=(2, 3, 4))
I32 = RNG.integers(-9, 9, (3, 4), dtype=np.int32)
I8 = RNG.integers(-100, 100, (4, 5), dtype=np.int8)
U8 = RNG.integers(0, 250, 6, dtype=np.uint8)
BOOL = RNG.integers(0, 2, (3, 4)).astype(bool)
F16 = (RNG.normal(size=(3, 40)) * 300).astype(np.float16)
C64 = (RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))).astype(np.complex64)
NAN = np.where(RNG.random((4, 5)) < 0.3, np.nan, RNG.normal(size=(4, 5)))
V = RNG.normal(size=7)
W = RNG.normal(size=5)
EMPTY = np.zeros((0, 3), np.float32)
SQUARE = RNG.normal(size=(4, 4))
ASCENDING = np.array([-1.0, 0.0, 0.0, 0.5, 2.0])
ZERO_D = np.float64(2.5) * np.ones(())


def call(name: str, *args: Any, tolerance: float | None = None, **kwargs: Any) -> Call:
    return Call(name, args, kwargs, tolerance=tolerance)


REDUCTIONS = [
    *(
        call(n, x)
        for n in ("sum", "prod", "mean", "var", "std", "all", "any")
        for x in (F32, F64, I8, U8, BOOL, ZERO_D)
    ),
    *(call(n, C64, axis=0) for n in ("sum", "prod", "mean", "var", "std", "all", "any")),
    *(
        call(n, F64, axis=a, keepdims=k)
        for n in ("sum", "mean", "max", "std")
        for a in (0, -1, (0, 2))
        for k in (0, 1)
    ),
    *(call(n, x) for n in ("max", "min", "argmax", "argmin", "ptp") for x in (F32, I8, U8, F64, ZERO_D)),
    *(call(n, x, axis=0) for n in ("max", "min", "argmax") for x in (BOOL, F32, I32)),
    call("argmax", F64, axis=1, keepdims=True),
    call("argmin", F64, keepdims=True),
    *(call(n, EMPTY, axis=0) for n in ("sum", "prod", "all", "any")),
    call("sum", I8, dtype=np.int16),
    call("sum", F32, initial=3.0),
    call("sum", F32, where=F32 > 0),
    call("sum", F16, axis=1),
    call("mean", F16),
    call("mean", F32, axis=1, where=F32 > 0),
    call("max", F32, axis=0, initial=0.5),
    call("min", F32, initial=0.0, where=F32 > 0),
    call("max", EMPTY, axis=0, initial=-1.0),
    call("var", F64, axis=1, ddof=1),
    call("std", F32, axis=0, correction=1),
    call("mean", I32, dtype=np.float32),
    call("amax", F32, axis=1),
    call("average", F64),
    call("average", F64, axis=1, weights=F64[0, :, 0]),
    call("average", F32, weights=np.abs(F32)),
    call("average", I32, axis=0, weights=np.array([1, 2, 3]), returned=True),
    *(call("count_nonzero", x) for x in (F32, BOOL, I32)),
    call("count_nonzero", I32, axis=1, keepdims=True),
    *(
        call(n, NAN, axis=a)
        for n in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd")
        for a in (None, 0)
    ),
    call("nanvar", NAN, axis=1, ddof=1),
    call("nanargmax", NAN),
    call("nanargmin", NAN, axis=1),
    call("nancumsum", NAN, axis=0),
    call("nancumprod", NAN),
]

RUNNING = [
    *(call(n, x, axis=0) for n in ("cumsum", "cumprod") for x in (F32, I8, BOOL, C64)),
    call("cumsum", F64),
    call("cumsum", U8, dtype=np.int32),
    call("cumulative_sum", V),
    call("cumulative_sum", F32, axis=1, include_initial=True),
    call("cumulative_prod", I32, axis=0, include_initial=True),
    *(call("diff", F64, n=n, axis=a) for n in (0, 1, 2) for a in (0, -1)),
    call("diff", BOOL),
    call("diff", V, prepend=0.0, append=np.ones(2)),
    call("ediff1d", F32, to_end=[1.0, 2.0], to_begin=0.0),
    call("trapezoid", F64, axis=1),
    call("trapezoid", V, np.sort(V * 3)),
    call("trapezoid", F32, dx=0.5),
    call("gradient", V),
    call("gradient", F64, axis=1, edge_order=2),
    call("gradient", F32, 2.0),
    call("gradient", SQUARE, np.array([0.0, 1.0, 1.5, 3.0]), 0.5),
    call("gradient", V, np.array([0.0, 1.0, 1.5, 3.0, 4.0, 6.0, 6.5]), edge_order=2),
    call("unwrap", np.cumsum(np.abs(V) * 4) % 6.0),
]

SHAPES = [
    *(
        call("reshape", x, s)
        for x, s in ((F32, (4, 3)), (F64, (-1,)), (F64, (2, -1, 2)), (EMPTY, (3, 0)), (ZERO_D, (1, 1)))
    ),
    call("reshape", F64, (4, 6), order="F"),
    call("ravel", F32),
    call("ravel", F32, order="F"),
    call("transpose", F64),
    call("transpose", F64, (1, 0, 2)),
    call("permute_dims", F64, (2, 0, 1)),
    call("matrix_transpose", F64),
    call("swapaxes", F64, 0, -1),
    call("moveaxis", F64, 0, -1),
    call("moveaxis", F64, (0, 1), (-1, 0)),
    call("rollaxis", F64, 2, 1),
    *(call("expand_dims", F32, axis=a) for a in (0, 1, -1, (0, -1))),
    call("squeeze", F32[:, None, :1]),
    call("squeeze", F32[None, :, None], axis=(0, 2)),
    *(call(n, x) for n in ("atleast_1d", "atleast_2d", "atleast_3d") for x in (ZERO_D, V, F32, F64)),
    call("atleast_2d", V, ZERO_D),
    call("broadcast_to", V, (2, 3, 7)),
    call("broadcast_arrays", V[:, None], W),
    *(call("flip", F64, axis=a) for a in (None, 0, (1, -1))),
    call("fliplr", F32),
    call("flipud", F32),
    *(call("rot90", F64, k) for k in range(-1, 5)),
    call("rot90", F64, 1, (1, 2)),
    *(
        call("roll", F64, s, axis=a)
        for s, a in ((2, None), (1, 0), (-5, 1), ((1, 2), (0, 1)), (3, (0, 2)), (0, 1))
    ),
    *(call("repeat", F32, n, axis=a) for n in (2, 0) for a in (None, 0, 1)),
    call("repeat", F32, [1, 0, 2], axis=0),
    *(call("tile", F32, n) for n in (2, (2, 1), (2, 1, 3), 0)),
    call("resize", F32, (5, 4)),
    call("resize", F32, (2, 2)),
]

JOINING = [
    call("concat", [F32, F32 + 1]),
    call("concatenate", [F32, I32], axis=1),
    call("concatenate", (F32, F64[0]), axis=None),
    call("concatenate", [F32, F32], dtype=np.float64),
    call("stack", [V, V + 1]),
    call("stack", [F32, F32, F32], axis=-1),
    call("unstack", F64, axis=1),
    *(call(n, [x, x]) for n in ("hstack", "vstack", "dstack", "column_stack") for x in (V, F32)),
    call("block", [[F32, F32], [F32, F32]]),
    call("block", [V, W]),
    call("append", F32, W),
    call("append", F32, F32, axis=0),
    call("split", F64, 2),
    call("split", F64, [1, 3], axis=2),
    call("array_split", V, 3),
    call("array_split", V, [2, 1, 9]),
    call("hsplit", F32, 2),
    call("vsplit", F64, 2),
    call("dsplit", F64, 4),
    call("delete", V, 2),
    call("delete", F32, [0, 2], axis=0),
    call("delete", F32, slice(0, 4, 2), axis=1),
    call("insert", V, 2, 9.0),
    call("insert", F32, 1, 5.0, axis=1),
    call("insert", F32, 1, W[:4], axis=0),
    call("insert", V, [1, 3], W[:2]),
    *(
        call("pad", F32, w, mode=m)
        for m in ("constant", "edge", "reflect", "symmetric", "wrap")
        for w in (1, ((2, 0), (1, 3)))
    ),
    call("pad", V, 9, mode="reflect"),
    call("pad", V, (8, 15), mode="wrap"),
    call("pad", V, (1, 2), constant_values=(5.0, 7.0)),
    call("pad", F32, ((1, 0), (0, 1)), constant_values=2.5),
]

CREATION = [
    call("eye", 3, dtype=np.float64),
    call("eye", 3, 4, k=1, dtype=np.int32),
    call("identity", 2, dtype=np.float64),
    call("tri", 3, 4, k=-1, dtype=np.float64),
    *(call(n, x, k=k) for n in ("tril", "triu") for x in (F32, F64, V) for k in (-1, 0, 2)),
    *(call("diag", x, k=k) for x in (V, F32, SQUARE) for k in (-1, 0, 2)),
    call("diagflat", F32[:2], 1),
    *(call("diagonal", F64, o, a, b) for o, a, b in ((0, 0, 1), (1, 1, 2), (-1, -2, -1), (2, 0, 2))),
    call("trace", F64),
    call("trace", I8, 1),
    call("linalg.diagonal", F64),
    call("linalg.trace", F64, offset=1),
    call("vander", V),
    call("vander", V, 3, increasing=True),
    call("meshgrid", V, W),
    call("meshgrid", V, W, indexing="ij"),
    call("meshgrid", V, W, sparse=True),
    call("indices", (2, 3)),
    call("arange", 3),
    call("arange", 1, 10, 3),
    call("arange", 5, 0, -2),
    call("arange", 0, 1, 0.25, dtype=np.float64),
    call("linspace", 0, 1, 7, dtype=np.float64),
    call("linspace", ZERO_D, V, 4),
    call("linspace", V, 3.0, 4, axis=1, endpoint=False),
    call("linspace", 1, 10, 4, dtype=np.int64),
    call("geomspace", 1, 1000, 4, dtype=np.float64),
    call("zeros_like", F32),
    call("ones_like", I8),
    call("full_like", F64, 2),
    call("full", (2, 3), np.float64(2.5) * np.ones(3)),
    call("zeros", (2, 0), dtype=np.int8),
    call("asarray", [[1, 2], [3, 4]]),
    call("tril_indices", 3),
    call("triu_indices", 3, 1),
]

SEARCHING = [
    call("where", BOOL, F32, 0),
    call("where", F32 > 0, 1, F64[0]),
    call("where", BOOL, I32, F32),
    call("select", [F32 > 1, F32 > 0], [F32, F32 * 2], 7.0),
    call("piecewise", V, [V < 0, V > 1], [-1.0, 1.0, 0.0]),
    *(
        call("searchsorted", ASCENDING, x, side=s)
        for x in (V, np.array([np.nan, 0.0, -5.0, 9.0]), ZERO_D)
        for s in ("left", "right")
    ),
    call("searchsorted", np.array([1, 3, 5]), I32),
    call("searchsorted", np.zeros(0), V),
    call("digitize", V, ASCENDING),
    call("digitize", V, ASCENDING, right=True),
    *(call(n, x, axis=a) for n in ("sort", "argsort") for x in (F32, I8, BOOL, NAN) for a in (-1, 0)),
    call("sort", F64, axis=None),
    call("lexsort", (np.array([1, 0, 1, 0]), np.array([2, 2, 1, 1]))),
    call("take", F32, [2, 0, 0], axis=1),
    call("take", F32, np.array([[1, 2], [0, -1]]), axis=0),
    call("take", F32, 5),
    call("take", F64, 1, axis=2),
    call("take", V, np.array([1, 9, -9]), mode="wrap"),
    call("take", V, np.array([1, 9, -9]), mode="clip"),
    call("take_along_axis", F32, np.argsort(F32, axis=1), axis=1),
    call("take_along_axis", F32, np.array([[0, 2, 1, 1]]), axis=0),
    call("choose", np.array([0, 2, 1, 1]), (W[:4], W[1:], 7.0)),
    call("choose", np.array([0, 4, -1, 1]), (W[:4], W[1:], V[:4]), mode="wrap"),
    call("tril_indices_from", SQUARE),
    call("triu_indices_from", SQUARE, k=1),
    call("unravel_index", np.array([0, 5, 11]), (3, 4)),
    call("ravel_multi_index", (np.array([0, 2]), np.array([1, 3])), (3, 4)),
    *(call(n, np.array([1, 1, 2, 5]), x) for n in ("isin",) for x in (np.array([5, 1]), [3])),
]

PRODUCTS = [
    call("matmul", F32, F32.T),
    call("matmul", F64, F64[0].T),
    call("matmul", F64[0], np.ones((5, 4, 2))),
    call("matmul", np.ones((5, 1, 2, 3)), F64),
    call("matmul", V, np.ones((7, 2))),
    call("matmul", F64, W[:4]),
    call("matmul", V, V),
    call("matmul", W[:3], F64),
    call("matmul", I8, I8.T),
    call("matmul", BOOL, BOOL.T),
    call("matmul", I32, F32.T),
    call("matmul", C64, C64.T),
    call("matmul", F16, F16.T, tolerance=4e-3),
    call("matmul", np.ones((2, 0)), np.ones((0, 3))),
    call("dot", F64, F64[0].T),
    call("dot", F64, np.ones((5, 4, 2))),
    call("dot", V, 2.0),
    call("vdot", C64, C64),
    call("inner", F64, F32),
    call("outer", V, W),
    call("vecdot", C64, C64),
    call("vecdot", F64, F64[0]),
    call("tensordot", F64, F64, axes=((0, 2), (0, 2))),
    call("tensordot", F64, F64[0].T, axes=1),
    call("tensordot", V, W, axes=0),
    call("matvec", F64, W[:4]),
    call("vecmat", C64[0, :3], C64),
    call("kron", F32, SQUARE[:2]),
    call("kron", V, F32),
    *(call("cross", F64[0, :, :3], F64[0, 0, :n]) for n in (3,)),
    call("cross", F64, F64 + 1, axis=1),
    *(
        call("einsum", s, *a)
        for s, a in (
            ("ij,kj->ik", (F32, F32)),
            ("ij,jk,kl", (F32, F32.T, F32)),
            ("ii", (SQUARE,)),
            ("ii->i", (SQUARE,)),
            ("ij->ji", (F32,)),
            ("ij->", (F32,)),
            ("...j,j->...", (F64, W[:4])),
            ("bij,bjk->bik", (F64, np.swapaxes(F64, 1, 2))),
            ("i,j->ij", (V, W)),
            ("i,i", (V, V)),
            ("ijk,jl,kl->il", (F64, np.ones((3, 5)), np.ones((4, 5)))),
            ("ij,ij->ij", (F32, F32)),
            ("ij,kj", (I32, I32)),
            ("iij->j", (np.ones((3, 3, 2)),)),
            ("i...->...", (F64,)),
            ("ij,jk->ki", (F64[:, :1, 0], F64[0])),
        )
    ),
    call("linalg.norm", F64),
    call("linalg.norm", F32, axis=1),
    *(call("linalg.norm", F32, o) for o in (1, np.inf, -1, "fro")),
    *(call("linalg.vector_norm", V, ord=o) for o in (0, 1, 2, 3, np.inf, -np.inf)),
    call("linalg.matrix_norm", F64, keepdims=True),
    *(call("linalg.matrix_power", SQUARE, n) for n in (0, 1, 5)),
    call("linalg.multi_dot", [F32, F32.T, F32]),
]

STATISTICS = [
    *(call("median", x, axis=a) for x in (F32, F64, I8, NAN) for a in (None, 0, -1)),
    call("median", F64, axis=(0, 1), keepdims=True),
    *(
        call("quantile", F64, 0.3, axis=1, method=m)
        for m in ("linear", "lower", "higher", "midpoint", "nearest")
    ),
    call("quantile", F32, [0.1, 0.5, 1.0], axis=0),
    call("quantile", F32, 0.25, keepdims=True),
    call("percentile", V, [25, 75]),
    call("nanmedian", NAN, axis=1),
    call("nanquantile", NAN, 0.4, axis=0),
    *(call("histogram", V, b, range=r) for b, r in ((5, None), (4, (-1.0, 1.0)), ([-1.0, 0.0, 2.0], None))),
    call("histogram", V, 4, range=(-1, 1), density=True),
    call("histogram", V, 3, weights=np.abs(V)),
    call("histogram2d", V, V[::-1], 3),
    call("histogram2d", V, V * 2, [2, 3], range=[[-1, 1], [-2, 2]]),
    call("histogramdd", F64[0], 2),
    call("cov", F32),
    call("cov", F64[0], rowvar=False, bias=True),
    call("cov", V, V * 2 + W[0]),
    call("cov", F64[0], aweights=np.array([1.0, 2.0, 3.0, 4.0])),
    call("cov", F64[0], fweights=np.array([1, 2, 3, 4])),
    call("corrcoef", F64[0]),
    call("corrcoef", V, np.abs(V)),
    *(call(n, V, W, m) for n in ("convolve", "correlate") for m in ("full", "same", "valid")),
    *(call(n, W, V, m) for n in ("convolve", "correlate") for m in ("full", "same", "valid")),
    call("convolve", U8, U8[:2]),
    call("interp", V, np.sort(W), V[:5]),
    call("interp", V, np.sort(W), V[:5], left=-9.0, right=9.0),
    call("interp", V * 9, np.sort(W), V[:5], period=2.0),
    call("polyval", W, V),
    call("polyval", [1, 0, 2], I32),
    call("allclose", F32, F32 + 1e-7),
    call("array_equal", F32, F32),
    call("array_equiv", V, V[None]),
]

ALL_CALLS = [
    *(REDUCTIONS + RUNNING + SHAPES + JOINING),
    *(CREATION + SEARCHING + PRODUCTS + STATISTICS),
]
