"""Irregular access: sorting, selection, searches, sums by segment, gathers, scatters, Fourier transforms."""

from typing import Any

import numpy as np
from _case import Case, Draw
from _peers import Peer

SEGMENTS = 1000
BINS = 100


def sort(peer: Peer, x: Any) -> Any:
    return peer.xp.sort(x, axis=-1)


def argsort(peer: Peer, x: Any) -> Any:
    return peer.xp.argsort(x)


def sort_by_key(peer: Peer, keys: Any, values: Any) -> Any:
    return peer.lax.sort_key_val(keys, values)


def top_10(peer: Peer, x: Any) -> Any:
    return peer.lax.top_k(x, min(10, x.shape[-1]))


def median(peer: Peer, x: Any) -> Any:
    return peer.xp.median(x)


def median_filter(peer: Peer, x: Any) -> Any:
    """The median of the 3 x 3 pixels around each."""
    rows, columns = x.shape[0] - 2, x.shape[1] - 2
    around = [x[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return peer.xp.median(peer.xp.stack(around), axis=0)


def argsort_rows(peer: Peer, x: Any) -> Any:
    return peer.xp.argsort(x, axis=-1)


def searchsorted(peer: Peer, edges: Any, x: Any) -> Any:
    return peer.xp.searchsorted(edges, x)


def interp(peer: Peer, x: Any, knots: Any, values: Any) -> Any:
    return peer.xp.interp(x, knots, values)


def segment_sum(peer: Peer, data: Any, segments: Any) -> Any:
    return peer.xp.zeros((SEGMENTS, data.shape[1]), data.dtype).at[segments].add(data)


def numpy_segment_sum(data: Any, segments: Any) -> Any:
    sums = np.zeros((SEGMENTS, data.shape[1]), data.dtype)
    np.add.at(sums, segments, data)
    return sums


def embedding_gradient(peer: Peer, table: Any, rows: Any, weights: Any) -> Any:
    return peer.library.grad(lambda t: peer.xp.sum(t[rows] * weights))(table)


def gather(peer: Peer, table: Any, rows: Any) -> Any:
    return table[rows]


def gather_elements(peer: Peer, x: Any, order: Any) -> Any:
    return x[order]


def gather_crossed(peer: Peer, x: Any, rows: Any, columns: Any) -> Any:
    return x[rows[:, None], columns]


def gather_columns(peer: Peer, x: Any, columns: Any) -> Any:
    return x[:, columns]


def along_axis(peer: Peer, x: Any, order: Any) -> Any:
    return peer.xp.take_along_axis(x, order, axis=1)


def reversed_columns(peer: Peer, x: Any) -> Any:
    return x[:, ::-1]


def reversed_rows(peer: Peer, x: Any) -> Any:
    return x[::-1]


def folded(peer: Peer, x: Any) -> Any:
    return (x + x[:, ::-1]) * 0.5


def product_of_columns(peer: Peer, x: Any) -> Any:
    return x[..., 0] * x[..., 1] + 1


def sum_of_column(peer: Peer, x: Any) -> Any:
    return x[..., 1].sum(-1)


def reversed_and_added(peer: Peer, x: Any) -> Any:
    return x[::-1] + x


def every_third(peer: Peer, x: Any) -> Any:
    return x[:, ::3]


def rolled(peer: Peer, x: Any) -> Any:
    return peer.xp.roll(x, 7, axis=1)


def histogram(peer: Peer, x: Any) -> Any:
    return peer.xp.histogram(x, bins=BINS, range=(-4.0, 4.0))[0]


def bincount(peer: Peer, x: Any) -> Any:
    return peer.xp.bincount(x, length=SEGMENTS)


def fft(peer: Peer, x: Any) -> Any:
    return peer.xp.fft.fft(x)


def rfft(peer: Peer, x: Any) -> Any:
    return peer.xp.fft.rfft(x)


def fft2(peer: Peer, x: Any) -> Any:
    return peer.xp.fft.fft2(x)


def signal(*sizes: int) -> Any:
    return lambda draw: ((draw.normal(*sizes) + 1j * draw.normal(*sizes)).astype(np.complex64),)


def numbers(*sizes: int, dtype: Any = np.float32) -> Any:
    return lambda draw: (draw.normal(*sizes, dtype=dtype),)


def knots(draw: Draw) -> tuple[Any, ...]:
    return draw.normal(100_000), np.sort(draw.normal(1000)), draw.normal(1000)


def edges(draw: Draw) -> tuple[Any, ...]:
    return np.sort(draw.normal(1000)), draw.normal(100_000)


def permuted(draw: Draw) -> tuple[Any, ...]:
    return draw.normal(1_000_000), draw.integers(1_000_000, 1_000_000)


def numpy_top_10(x: Any) -> Any:
    order = np.argsort(-x, axis=-1, kind="stable")[..., :10]
    return np.take_along_axis(x, order, -1), order


CASES = (
    Case("sort 100,000", sort, numbers(100_000), quick=True),
    Case("sort 1000 x 100", sort, numbers(1000, 100)),
    Case("sort 5000 x 9", sort, numbers(5000, 9)),
    Case(
        "argsort 1000 x 64",
        argsort_rows,
        numbers(1000, 64),
        numpy=lambda x: np.argsort(x, axis=-1, kind="stable"),
    ),
    Case("sort 100,000 f64", sort, numbers(100_000, dtype=np.float64)),
    Case("sort 100,000 integers", sort, lambda draw: (draw.integers(1_000_000, 100_000),)),
    Case("argsort 100,000", argsort, numbers(100_000), numpy=lambda x: np.argsort(x, kind="stable")),
    Case(
        "sort with values 100,000",
        sort_by_key,
        lambda draw: (draw.normal(100_000), draw.normal(100_000)),
        numpy=None,
    ),
    Case("top 10 of 100,000", top_10, numbers(100_000), numpy=numpy_top_10, quick=True),
    Case("top 10 of 1000 x 100", top_10, numbers(1000, 100), numpy=numpy_top_10),
    Case("median 100,000", median, numbers(100_000)),
    Case("median filter 256 x 256", median_filter, numbers(256, 256)),
    Case("searchsorted 1000 x 100,000", searchsorted, edges),
    Case("interp 1000 x 100,000", interp, knots, tolerance=10.0),
    Case(
        "segment sum 100,000 x 8",
        segment_sum,
        lambda draw: (draw.normal(100_000, 8), draw.integers(SEGMENTS, 100_000)),
        numpy=numpy_segment_sum,
        quick=True,
    ),
    Case(
        "embedding gradient 10,000 x 64",
        embedding_gradient,
        lambda draw: (draw.normal(10_000, 64), draw.integers(10_000, 4096), draw.normal(4096, 64)),
        numpy=None,
    ),
    Case(
        "gather 4096 rows of 128",
        gather,
        lambda draw: (draw.normal(10_000, 128), draw.integers(10_000, 4096)),
    ),
    Case("gather 1,000,000 elements", gather_elements, permuted),
    Case(
        "gather rows and columns 1000 x 1000",
        gather_crossed,
        lambda draw: (draw.normal(1000, 1000), draw.integers(1000, 1000), draw.integers(1000, 1000)),
        quick=True,
    ),
    Case(
        "gather columns 1000 x 1000",
        gather_columns,
        lambda draw: (draw.normal(1000, 1000), draw.integers(1000, 1000)),
    ),
    Case(
        "take along axis 1, 1000 x 1000",
        along_axis,
        lambda draw: (draw.normal(1000, 1000), draw.integers(1000, 1000, 1000)),
    ),
    Case("reversed columns 1000 x 1000", reversed_columns, numbers(1000, 1000)),
    Case("reversed columns 777 x 1001 f64", reversed_columns, numbers(777, 1001, dtype=np.float64)),
    Case("reversed rows 1000 x 1000", reversed_rows, numbers(1000, 1000)),
    Case("mean with reversed columns 1000 x 1000", folded, numbers(1000, 1000)),
    Case("every third column 1000 x 1000", every_third, numbers(1000, 1000)),
    Case("columns rolled 1000 x 1000", rolled, numbers(1000, 1000)),
    Case("product of columns 50,000 x 5", product_of_columns, numbers(50_000, 5)),
    Case("product of columns 200 x 250 x 2", product_of_columns, numbers(200, 250, 2)),
    Case("sum of a column 200 x 250 x 2", sum_of_column, numbers(200, 250, 2)),
    Case("sum of a column 20,000 x 100", sum_of_column, numbers(20_000, 100)),
    Case("reversed and added 1,000,003", reversed_and_added, numbers(1_000_003)),
    Case("histogram 1,000,000", histogram, numbers(1_000_000)),
    Case(
        "bincount 1,000,000",
        bincount,
        lambda draw: (draw.integers(SEGMENTS, 1_000_000),),
        numpy=lambda x: np.bincount(x, minlength=SEGMENTS),
    ),
    Case("fft 65,536", fft, signal(65_536), tolerance=10.0),
    Case("fft 256 x 1024", fft, signal(256, 1024), tolerance=10.0),
    Case("fft prime 10,007", fft, signal(10_007), tolerance=10.0),
    Case("fft 64 x prime 251", fft, signal(64, 251), tolerance=10.0),
    Case("fft 64 x 502", fft, signal(64, 502), tolerance=10.0),
    Case("fft 1000 x 16", fft, signal(1000, 16), tolerance=10.0),
    Case("rfft 1000 x 100", rfft, numbers(1000, 100), tolerance=10.0),
    Case("rfft 100,000", rfft, numbers(100_000), tolerance=10.0),
    Case("fft2 256 x 256", fft2, signal(256, 256), tolerance=10.0),
)
