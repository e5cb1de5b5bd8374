"""The transform of one signal by products of small matrices, whose other axis is the lanes of vectors.

Input: the real and the imaginary part, of a length that `has_lanes`. Output: those of the spectrum.
Idea: a signal is a matrix whose columns are transformed, multiplied by roots and transposed; its columns are
transformed again (Bailey 1990). A column's length is a product of two radices. Its parts lie above each
other, so that a step is one real product ``matrix @ columns``, of as many multiplications as the radices add
up to: each part of 1,024 points takes 48, where two dense transforms of 32 points take 128. The roots
between the steps of a column are factors of the second step's matrices.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from .. import numpy as xp
from .angles import angles

Radices: TypeAlias = tuple[int, int]

LENGTHS: Final[dict[int, tuple[Radices, Radices]]] = {
    512: ((8, 4), (4, 4)),
    1024: ((8, 4), (4, 8)),
}
"""The radices of the columns before and behind the transposition. Shorter signals gain less than it takes to
compile more ops."""


def has_lanes(n: int) -> bool:
    """Whether a length is divided into columns of enough lanes."""
    return n in LENGTHS


def transform_by_lanes(re: Any, im: Any) -> tuple[Any, Any]:
    """The parts of the transform of one signal."""
    n, dtype = re.shape[0], re.dtype
    first, second = LENGTHS[n]
    rows, columns = first[0] * first[1], second[0] * second[1]
    re, im = _columns(re, im, first, columns)
    numerators = np.outer(np.arange(rows, dtype=np.int64), np.arange(columns, dtype=np.int64))
    by_digits = [part.reshape(*first[::-1], columns).swapaxes(0, 1) for part in angles(numerators, n)]
    c, s = (xp.asarray(part.astype(dtype)) for part in by_digits)
    re, im = re * c - im * s, re * s + im * c
    re, im = _columns(xp.transpose(re, (2, 1, 0)), xp.transpose(im, (2, 1, 0)), second, rows)
    return tuple(xp.reshape(xp.transpose(part, (1, 0, 2)), (n,)) for part in (re, im))


def _columns(re: Any, im: Any, radices: Radices, lanes: int) -> tuple[Any, Any]:
    """The transforms of columns of ``a b`` elements: parts ``[a, b, lanes]``, of which element ``[i, j]`` is
    number ``i + a j`` of the spectrum."""
    (a, b), dtype = radices, re.dtype
    parts = xp.concatenate([xp.reshape(part, (a, b * lanes)) for part in (re, im)])
    order = [np.arange(radix, dtype=np.int64) for radix in radices]
    matrix = _real(*angles(np.outer(order[0], order[0]), a)).reshape(2 * a, 2 * a)
    between = xp.matmul(xp.asarray(matrix.astype(dtype)), parts)
    # The second step at i: from j to k by exp(-2 pi i (j k / b + i j / a b)).
    numerators = order[1][:, None] * order[1] * a + order[0][:, None, None] * order[1]
    matrices = _real(*angles(numerators, a * b)).swapaxes(1, 2).reshape(a, 2 * b, 2 * b)
    result = xp.matmul(xp.asarray(matrices.astype(dtype)), xp.reshape(between, (a, 2 * b, lanes)))
    result = xp.reshape(result, (a, 2, b, lanes))
    return result[:, 0], result[:, 1]


def _real(cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Complex matrices ``[..., j, k]`` as real ones ``[..., j, 2, 2, k]`` of the parts."""
    rows = [np.stack(row, -2) for row in ((cos, -sin), (sin, cos))]
    return np.stack(rows, -3)
