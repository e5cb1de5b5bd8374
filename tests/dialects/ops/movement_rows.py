"""Rows of the table of op cases: shape, indexing, random bits, calls' neighbours and effects.

A section of `tests/op_cases.py`, which explains the format. Index operands point out of range on either
side now and then, since that is where the ops are particular.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from adze.dialects.ops.host_calls import register
from adze.dialects.types import ANY, COMPLEX, NUMBERS, TensorType, storage

from .cases import Array, Case, array, case, elementwise, given, row

FEW: Final = frozenset(map(np.dtype, (np.bool_, np.float32, np.float64, np.complex128)))
"""Dtypes for cases beyond an op's first: what moves elements depends on their width only."""

SHAPE: Final = (
    row(
        "reshape",
        case(array(4, 6), shape=(2, 12)),
        case(array(4, 6), shape=(4, 3, 2), fixed_sizes={"shape": (1, 2)}, only=FEW),
        case(array(2, 3, 4), shape=(2, 12), only=FEW),
        case(array(2, 3, 4), shape=(24,), only=FEW),
        case(array(6), shape=(1, 6, 1), fixed_sizes={"shape": (0, 2)}, only=FEW),
        case(array(), shape=(1, 1), fixed_sizes={"shape": (0, 1)}, only=FEW),
        case(array(1, 1), shape=(), only=FEW),
        case(array(0, 3), shape=(3, 0, 2), only=FEW),
        case(array(4, 4), shape=(4, 4), only=FEW),
    ),
    row(
        "transpose",
        case(array(2, 3), permutation=(1, 0)),
        case(array(2, 3, 4), permutation=(2, 0, 1), only=FEW),
        case(array(1, 3, 4), permutation=(1, 0, 2), only=FEW),
        case(array(), permutation=(), only=FEW),
        case(array(0, 3), permutation=(1, 0), only=FEW),
    ),
    row(
        "slice",
        case(array(5, 7), start=(1, 0), limit=(4, 7), strides=(1, 2)),
        case(array(5, 7), start=(0, 2), limit=(5, 6), strides=(3, 3), fixed_sizes={"start": (0,)}, only=FEW),
        case(array(5), start=(5,), limit=(5,), strides=(1,), only=FEW),
        case(array(0, 3), start=(0, 1), limit=(0, 3), strides=(1, 1), only=FEW),
        case(array(), start=(), limit=(), strides=(), only=FEW),
    ),
    row(
        "pad",
        case(array(2, 3), array(), low=(1, 0), high=(2, 1), interior=(0, 0)),
        case(array(3, 4), array(), low=(1, 0), high=(0, 2), interior=(1, 2), only=FEW),
        case(array(4), array(), low=(-1,), high=(3,), interior=(2,), fixed_sizes={"low": (0,)}, only=FEW),
        case(array(4), array(), low=(6,), high=(-7,), interior=(0,), fixed_sizes={"high": (0,)}, only=FEW),
        case(array(2), array(), low=(-5,), high=(6,), interior=(0,), fixed_sizes={"low": (0,)}, only=FEW),
        case(array(0, 2), array(), low=(1, 0), high=(1, 0), interior=(2, 0), only=FEW),
        case(array(0), array(), low=(0,), high=(0,), interior=(0,), only=FEW),
        case(array(), array(), low=(), high=(), interior=(), only=FEW),
    ),
    row(
        "concatenate",
        case(array(2, 3), array(4, 3), axis=0),
        case(array(2, 3), array(2, 1), array(2, 0), array(2, 2), axis=1, only=FEW),
        case(array(3), axis=0, only=FEW),
        case(array(0, 2), array(0, 3), axis=1, only=FEW),
        case(array(0), array(0), axis=0, only=FEW),
    ),
    row(
        "reverse",
        case(array(5), axes=(0,)),
        case(array(3, 4, 1), axes=(0, 1, 2), only=FEW),
        case(array(3, 4), axes=(0,), only=FEW),
        case(array(0, 4), axes=(0,), only=FEW),
        case(array(2), axes=(), only=FEW),
        case(array(), axes=(), only=FEW),
    ),
)


def around(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Integers around [0, 6): indices of which some are out of range on either side."""
    return rng.integers(0 if dtype.kind == "u" else -2, 8, shape).astype(dtype)


def _starts(*values: int, dtype: Any = np.int32) -> tuple[Array, ...]:
    """0-d start indices."""
    return tuple(given(v, dtype) for v in values)


def _indices(*shape: int, dtype: Any = np.int32) -> Array:
    """Index vectors, some of which point outside; their length stays static."""
    return array(*shape, dtype=dtype, domain=around, fixed=(len(shape) - 1,))


Axes = tuple[int, ...]
NONE: Final[tuple[Axes, Axes]] = ((), ())
FLOAT: Final = frozenset({np.dtype(np.float32)})
INTEGER: Final = frozenset({np.dtype(np.int32)})


def _gather(
    x: Array,
    indices: Array,
    numbers: tuple[Axes, Axes, Axes],
    slice_sizes: Axes,
    batching: tuple[Axes, Axes] = NONE,
    whole: bool = False,
    filled: Iterable[np.dtype] = FLOAT,
) -> tuple[Case, ...]:
    """A gather that clips, in f32, and one that fills for each of the dtypes `filled`.

    `whole`: the window's sizes stay static in the dynamic variant, too.
    """
    hidden = {*numbers[1], *batching[0]}
    attributes = {
        "offset_dims": numbers[0],
        "collapsed_slice_dims": numbers[1],
        "start_index_map": numbers[2],
        "operand_batching_dims": batching[0],
        "start_indices_batching_dims": batching[1],
        "slice_sizes": slice_sizes,
        "fixed_sizes": {"slice_sizes": tuple(range(len(slice_sizes))) if whole else tuple(hidden)},
    }

    def of(mode: str, dtype: np.dtype) -> Case:
        fill = storage(np.asarray(7).astype(dtype))
        return case(x, indices, mode=mode, fill_value=fill, only={dtype}, **attributes)

    return (*(of("clip", d) for d in FLOAT), *(of("fill", d) for d in sorted(filled, key=str)))


def _scatter(
    x: Array,
    indices: Array,
    updates: Array,
    numbers: tuple[Axes, Axes, Axes],
    batching: tuple[Axes, Axes] = NONE,
    modes: Sequence[str] = ("drop",),
    **kinds: frozenset[np.dtype],
) -> tuple[Case, ...]:
    """A scatter of each of `kinds`, for its dtypes, in each of `modes`."""
    attributes = {
        "update_window_dims": numbers[0],
        "inserted_window_dims": numbers[1],
        "scatter_dims_to_operand_dims": numbers[2],
        "operand_batching_dims": batching[0],
        "scatter_indices_batching_dims": batching[1],
        "unique_indices": False,
        "indices_are_sorted": False,
    }
    return tuple(
        case(x, indices, updates, kind=kind, mode=mode, only=dtypes, **attributes)
        for kind, dtypes in kinds.items()
        for mode in modes
    )


COMBINED: Final = frozenset(
    map(np.dtype, (np.bool_, np.int8, np.uint32, np.float16, np.float32, np.complex64))
)
INDEXING: Final = (
    row(
        "dynamic_slice",
        case(array(5, 7), *_starts(2, 3), slice_sizes=(2, 3)),
        case(array(5, 7), *_starts(-9, 100), slice_sizes=(2, 3), only=FLOAT),
        case(array(5, 7), *_starts(4, 1, dtype=np.uint8), slice_sizes=(5, 1), only=FLOAT),
        case(array(5), *_starts(2**63, dtype=np.uint64), slice_sizes=(2,), only=FLOAT),
        case(array(5), *_starts(-(2**63), dtype=np.int64), slice_sizes=(2,), only=FLOAT),
        case(array(3), *_starts(1), slice_sizes=(0,), only=FEW),
        case(array(), slice_sizes=(), only=FEW),
    ),
    row(
        "dynamic_update_slice",
        case(array(5, 7), array(2, 3), *_starts(2, 3)),
        case(array(5, 7), array(2, 3), *_starts(-9, 100, dtype=np.int8), only=FLOAT),
        case(array(5), array(5), *_starts(3), only=FLOAT),
        case(array(3), array(0), *_starts(1), only=FEW),
        case(array(), array(), only=FEW),
    ),
    row(
        "gather",
        # rows, by one and by two components; single elements; one window; along axes that run together
        *_gather(array(5, 6), _indices(4, 1), ((1,), (0,), (0,)), (1, 6), whole=True, filled=ANY),
        *_gather(array(5, 6, 2), _indices(3, 2, 2), ((2,), (0, 1), (1, 0)), (1, 1, 2)),
        *_gather(array(5), _indices(4, 1, dtype=np.uint8), ((), (0,), (0,)), (1,), filled=ANY),
        *_gather(array(5, 6), _indices(2), ((0, 1), (), (1, 0)), (3, 2)),
        *_gather(array(3, 6), _indices(3, 4, 1), ((), (1,), (1,)), (1, 1), batching=((0,), (0,))),
        *_gather(array(3, 6), _indices(4, 1, dtype=np.int64), ((0,), (1,), (1,)), (3, 1)),
        *_gather(array(3, 2), _indices(0, 1), ((1,), (0,), (0,)), (1, 2), filled=FEW),
        *_gather(array(), _indices(2, 0), ((), (), ()), (), filled=FEW),
    ),
    row(
        "scatter",
        *_scatter(
            array(5, 6), _indices(4, 1), array(4, 6), ((1,), (0,), (0,)), set=ANY, add=COMBINED & NUMBERS
        ),
        *_scatter(
            array(5),
            _indices(9, 1, dtype=np.uint8),
            array(9),
            ((), (0,), (0,)),
            set=ANY,
            add=NUMBERS,
            mul=COMBINED & NUMBERS,
            min=COMBINED - COMPLEX,
            max=COMBINED - COMPLEX,
        ),
        *_scatter(
            array(5, 6),
            _indices(3, 2),
            array(3, 2, 3),
            ((1, 2), (), (1, 0)),
            modes=("drop", "clip"),
            set=INTEGER,
            add=INTEGER,
        ),
        *_scatter(
            array(3, 6),
            _indices(3, 4, 1),
            array(3, 4),
            ((), (1,), (1,)),
            batching=((0,), (0,)),
            modes=("drop", "clip"),
            set=INTEGER,
            max=FLOAT,
        ),
        *_scatter(array(3, 2), _indices(0, 1), array(0, 2), ((1,), (0,), (0,)), set=FEW),
        *_scatter(array(), _indices(2, 0), array(2), ((), (), ()), set=FEW),
        tolerance="rounded",
    ),
)

RANDOMNESS: Final = (
    row(
        "random_bits",
        *(
            case(given([1, 4000000000], dtype=np.uint32), shape=shape, width=width)
            for width in (8, 16, 32, 64)
            for shape in ((3, 5), (), (0, 2), (129,))
        ),
        case(given([[1, 4000000000], [7, 9], [5, 5]], dtype=np.uint32), shape=(3, 2, 5), width=32),
    ),
    *(
        row("threefry", *elementwise("special", "special", "special", "special", word=word))
        for word in (0, 1)
    ),
)


def doubled(types: Sequence[TensorType], *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """What the rows of host calls call: twice the last operand."""
    return (arrays[-1] * np.int32(2),)


def nothing(types: Sequence[TensorType], *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """A call that only has an effect."""
    return ()


_TWICE: Final[dict[str, Any]] = {
    "callback": register(doubled),
    "mapping": "sequential",
    "static_only": "the types of the results are stated",
}


def _three(*batch: int) -> tuple[TensorType, ...]:
    return (TensorType((*batch, 3), np.dtype(np.int32)),)


HOST_CALLS: Final = (
    row(
        "host_call",
        case(array(3, dtype=np.int32), result_types=_three(), batches=(), **_TWICE),
        case(
            array(3, dtype=np.int32),
            array(2, 3, dtype=np.int32),
            result_types=_three(2),
            batches=((1, 0, 1),),
            **_TWICE,
        ),
    ),
    row(
        "host_effect",
        case(
            given(True, dtype=np.bool_),
            array(3, dtype=np.int32),
            result_types=_three(),
            batches=(),
            ignores_tangents=True,
            **_TWICE,
        ),
        case(
            given(True, dtype=np.bool_),
            result_types=(),
            batches=(),
            ignores_tangents=False,
            **{**_TWICE, "callback": register(nothing)},
        ),
    ),
)

EFFECTS: Final = (
    row("print", case(array(2), format="x = {}"), case(format="here")),
    row("check", case(given(True, dtype=np.bool_), message="a check that holds")),
    *HOST_CALLS,
)
