"""Scatter: writes into an array at many positions, where what is written meets what is there.

`set` and `add` are linear in the array and the updates together, `mul` in each alone. The derivatives hold
for indices that coincide: of updates that overwrite each other only the last has an effect, factors that are
zero leave the product of the others, extrema that tie share equally.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...errors import MissingRuleError
from ...factors import Factors
from ...op import Linear, Op, Operand, Record, boolean, choice, ints, require, require_same_dtype, stated
from ...protocols import Batched, Builder, Cotangents, Shape, Size, Tangent, Tangents, Value, Values
from ...types import ANY, COMPLEX, INT32, INT64, INTEGERS, NUMBERS, TensorType, same_dimension, storage
from ..elementwise.family import is_constant, repeated
from .windows import WindowMap, check_batching, fits, scatter_window, window_axes


class Updates(Record):
    """The attributes of `scatter`."""

    kind: str = stated(choice("set", "add", "mul", "min", "max", doc="how an update meets what is there"))
    update_window_dims: tuple[int, ...] = stated(ints("the axes of the updates along which windows extend"))
    inserted_window_dims: tuple[int, ...] = stated(
        ints("the axes of x, of window size 1, that the updates lack")
    )
    scatter_dims_to_operand_dims: tuple[int, ...] = stated(
        ints("the axis of x that each entry of an index vector counts along")
    )
    operand_batching_dims: tuple[int, ...] = stated(
        ints("axes of x that run together with an axis of the indices")
    )
    scatter_indices_batching_dims: tuple[int, ...] = stated(
        ints("the axes of the indices that they run with")
    )
    mode: str = stated(
        choice("drop", "clip", "promise_in_bounds", doc="what becomes of windows that leave x")
    )
    unique_indices: bool = stated(boolean("a promise that no element is written twice"))
    indices_are_sorted: bool = stated(boolean("a promise that the index vectors ascend"))

    def map(self, x_rank: int, indices_rank: int) -> WindowMap:
        """The window map that the attributes state."""
        return WindowMap(
            x_rank,
            indices_rank,
            self.update_window_dims,
            self.inserted_window_dims,
            self.scatter_dims_to_operand_dims,
            self.operand_batching_dims,
            self.scatter_indices_batching_dims,
        )

    def apply(self, b: Builder, kind: str, x: Value, indices: Value, updates: Value) -> Value:
        """The scatter of another `kind` that is like this one."""
        return b.scatter(x, indices, updates, **self.replaced(kind=kind).keywords)


class Scatter(Op, adds=("functions",)):
    """``y = x``, then ``y[indices[batch] + offset] = f(y[...], updates[batch, offset])`` for each update.

    The dimension numbers are those of `jax.lax.scatter`, `kind` is f. Updates are applied in row-major
    order, so that duplicate indices have one defined result: for `set` the last one wins. A window that
    leaves `x` is dropped as a whole (`drop`) or moved inside (`clip`, `promise_in_bounds`).
    An empty `x` stays as it is. The hints
    `unique_indices` and `indices_are_sorted` allow a faster form and never change a true promise's result.
    """

    name = "scatter"
    operands = (Operand("x", ANY), Operand("indices", INTEGERS), Operand("updates", ANY))
    record = Updates
    functions: ClassVar[dict[str, Any]] = {
        "add": np.add,
        "mul": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
    }

    @staticmethod
    def infer(x: TensorType, indices: TensorType, updates: TensorType, *, attributes: Updates) -> TensorType:
        kind = attributes.kind
        allowed = {"set": ANY, "add": NUMBERS, "mul": NUMBERS}.get(kind, ANY - COMPLEX)
        dtype = require_same_dtype("scatter", x, updates)
        require(dtype in allowed, f"scatter: kind '{kind}' is not defined for {x}")
        numbers = attributes.map(x.rank, indices.rank)
        numbers.check("scatter", indices.shape[-1] if indices.rank else None)
        require(
            updates.rank == numbers.result_rank,
            f"scatter: updates {updates} must have rank {numbers.result_rank}: the indices' axes but the "
            "last, and the window axes",
        )
        window = scatter_window(numbers, updates.shape)
        for axis, (n, size) in enumerate(zip(window, x.shape, strict=True)):
            inside = fits(n, size, axis in numbers.hidden)
            require(inside, f"scatter: the updates {updates} have a window that does not fit into {x}")
        expected = numbers.result_shape(indices.shape, window)
        require(
            all(map(same_dimension, expected, updates.shape)),
            f"scatter: indices {indices} ask for updates of shape {expected}, got {updates}",
        )
        check_batching("scatter", numbers, x, indices)
        return x

    @staticmethod
    def factors(x: TensorType, indices: TensorType, updates: TensorType, *, attributes: Updates) -> Factors:
        """Along axes of `x` of which windows have everything, and axes that run together. Where the order of
        updates does not matter, ranks that have some of them combine their results."""
        numbers = attributes.map(x.rank, indices.rank)
        factors = Factors()
        (before, vectors), window = window_axes(factors, numbers, x, indices, updates)
        together = {vectors[axis] for axis in numbers.indices_batching}
        batch = [each for each in vectors[:-1] if each not in together]
        if attributes.kind in ("add", "min", "max") and x.dtype in NUMBERS:
            factors.combining = {"add": "sum"}.get(attributes.kind, attributes.kind)
            factors.counts_once = 0 if attributes.kind == "add" else None
            factors.reduced.update(factor for each in batch for factor in each)
        else:
            for axes in (vectors, window):
                for axis, each in enumerate(axes):
                    if each in batch:
                        axes[axis] = (factors.undivided(factors.sizes[each[0]]),)
        factors.operands = [before, vectors, window]
        after = [
            (factors.undivided(n),) if each[0] in factors.whole else each
            for each, n in zip(before, x.static_shape, strict=True)
        ]
        factors.results = [after]
        return factors

    @staticmethod
    def evaluate(
        x: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, attributes: Updates
    ) -> np.ndarray:
        result = x.copy()
        if updates.size == 0 or x.size == 0:
            return result
        numbers = attributes.map(x.ndim, indices.ndim)
        window = scatter_window(numbers, updates.shape)
        arrays, inside = numbers.positions(x.shape, indices, window, clip=attributes.mode != "drop")
        inside = np.broadcast_to(inside, updates.shape).ravel()
        flat = np.zeros(updates.shape, np.int64)
        for array, n in zip(arrays, x.shape, strict=True):
            flat = flat * n + array
        where, values = flat.ravel()[inside], updates.ravel()[inside]
        target = result.reshape(-1)
        if attributes.kind == "set":
            target[where] = values
        else:
            with np.errstate(all="ignore"):
                Scatter.functions[attributes.kind].at(target, where, values)
        return target.reshape(x.shape)

    @staticmethod
    def simplify(
        b: Builder, x: Value, indices: Value, updates: Value, *, attributes: Updates
    ) -> Value | None:
        """A single update for each element of a batch, into zeros, is chosen by its position: that fuses."""
        if attributes.kind not in ("set", "add") or not is_constant(b, x, x, 0):
            return None
        return _chosen(b, x, indices, updates, attributes)

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        result: Value,
        *,
        attributes: Updates,
    ) -> Tangents:
        (x, indices, updates), (dx, _, du) = primals, tangents
        match attributes.kind:
            case "add":
                return dx if du is None else attributes.apply(b, "add", _or_zeros(b, dx, x), indices, du)
            case "set":
                du = _or_zeros(b, du, updates)
                return attributes.apply(b, "set", _or_zeros(b, dx, x), indices, du)
            case "mul":
                moved = b.zeros_like(x) if dx is None else attributes.apply(b, "mul", dx, indices, updates)
                if du is None:
                    return moved
                factor = _read(b, x, indices, updates, attributes)
                if not attributes.unique_indices:
                    factor = b.mul(factor, _product_of_others(b, x, indices, updates, attributes))
                return attributes.apply(b, "add", moved, indices, b.mul(du, factor))
        return _extremum_tangent(b, primals, tangents, result, attributes)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Updates) -> Cotangents:
        x, indices, updates = operands
        kind = attributes.kind
        if kind in ("set", "add"):
            return _linear_transpose(b, cotangent, operands, attributes)
        if kind == "mul" and not isinstance(updates, Linear):
            return [attributes.apply(b, "mul", cotangent, indices, updates), None, None]
        if kind == "mul" and not isinstance(x, Linear) and attributes.unique_indices:
            return [None, None, _read(b, b.mul(cotangent, x), indices, updates, attributes)]
        raise MissingRuleError(f"'scatter' cannot be transposed: kind '{kind}' is not linear in its operands")

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        attributes: Updates,
    ) -> Batched:
        """Windows through the whole batch where the indices are shared; else each into its own element."""
        x, indices, updates = operands
        x = x if batched[0] else repeated(b, x, size)
        updates = updates if batched[2] else repeated(b, updates, size)
        own = attributes.map(b.tensor_type(x).rank - 1, b.tensor_type(indices).rank - batched[1])
        result = b.scatter(
            x,
            indices,
            updates,
            kind=attributes.kind,
            **own.batched(x=True, indices=batched[1]).of_scatter,
            mode=attributes.mode,
            unique_indices=attributes.unique_indices,
            indices_are_sorted=attributes.indices_are_sorted and not batched[1],
        )
        return [result], [True]


def _chosen(b: Builder, zeros: Value, indices: Value, updates: Value, attributes: Updates) -> Value | None:
    """The updates where the position along the one indexed axis is theirs, else zero; None for other maps."""
    kind, index_kind, shape = b.tensor_type(zeros), b.tensor_type(indices), b.tensor_type(updates).shape
    numbers = attributes.map(kind.rank, index_kind.rank)
    if len(numbers.start_index_map) != 1 or numbers.start_index_map != numbers.collapsed:
        return None
    (axis,) = numbers.collapsed
    size = kind.static_shape[axis]
    whole = all(
        isinstance(shape[k], int) and shape[k] == kind.shape[a]
        for k, a in zip(numbers.offset_dims, numbers.window_axes, strict=True)
    )
    alone = [k for k in range(index_kind.rank - 1) if k not in numbers.indices_batching]
    if not whole or size is None or size >= 2**31 - 1 or any(index_kind.shape[k] != 1 for k in alone):
        return None
    # where each axis of the indices and of the updates lies in the operand, without the axes of size 1
    of_batch = dict(zip(numbers.indices_batching, numbers.operand_batching, strict=True))
    of_update = {numbers.batch_axes[k]: a for k, a in of_batch.items()}
    of_update |= dict(zip(numbers.offset_dims, numbers.window_axes, strict=True))
    everywhere = b.sizes(zeros)
    position = _position_in(b, indices, size, attributes.mode)
    position = _placed(b, position, of_batch, everywhere)
    here = b.compare(b.iota(shape=everywhere, axis=axis, dtype=INT32), position, direction="EQ")
    return b.select(here, _placed(b, updates, of_update, everywhere), zeros)


def _position_in(b: Builder, indices: Value, size: int, mode: str) -> Value:
    """Indices as i32: clamped into ``0 .. size - 1``, or where they are dropped to some position outside."""
    wide = b.convert(indices, dtype=INT32) if b.tensor_type(indices).dtype.itemsize < 4 else indices
    first, last = (-1, size) if mode == "drop" else (0, size - 1)
    if b.tensor_type(wide).dtype.kind == "i":
        wide = b.max(wide, b.full_like(wide, first))
    return b.convert(b.min(wide, b.full_like(wide, last)), dtype=INT32)


def _placed(b: Builder, value: Value, places: dict[int, int], shape: Shape) -> Value:
    """`value` over `shape`: its axis k along axis places[k]; its other axes have size 1."""
    axes = sorted(places)
    sizes = b.sizes(value)
    value = b.reshape(value, shape=tuple(sizes[k] for k in axes))
    return b.broadcast_in_dim(value, shape=shape, dimensions=tuple(places[k] for k in axes))


def _or_zeros(b: Builder, tangent: Tangent, primal: Value) -> Value:
    return b.zeros_like(primal) if tangent is None else tangent


def _read(b: Builder, x: Value, indices: Value, updates: Value, attributes: Updates) -> Value:
    """What `x` holds where each update goes; 0 for updates that are dropped."""
    kind = b.tensor_type(x)
    numbers = attributes.map(kind.rank, b.tensor_type(indices).rank)
    shape = updates.sizes if isinstance(updates, Linear) else b.sizes(updates)
    if 0 in kind.shape:
        return b.full(0, shape, kind.dtype)
    return b.gather(
        x,
        indices,
        **numbers.of_gather,
        slice_sizes=scatter_window(numbers, shape),
        mode="fill" if attributes.mode == "drop" else attributes.mode,
        fill_value=storage(np.zeros((), kind.dtype)),
    )


def _linear_transpose(b: Builder, cotangent: Value, operands: Values, attributes: Updates) -> list[Tangent]:
    """An update gets what lies where it went, an operand everything that was not overwritten."""
    x, indices, updates = operands
    shape = updates.sizes if isinstance(updates, Linear) else b.sizes(updates)
    cotangents: list[Tangent] = [None, None, None]
    if isinstance(updates, Linear):
        reached = _read(b, cotangent, indices, updates, attributes)
        are_unique = attributes.unique_indices or _is_single(b, x, indices, attributes)
        if attributes.kind == "set" and not are_unique:
            sizes = x.sizes if isinstance(x, Linear) else b.sizes(x)
            lasting = _lasting(b, sizes, indices, shape, attributes)
            reached = b.select(lasting, reached, b.zeros_like(reached))
        cotangents[2] = reached
    # Emitted last: behind the last use of the cotangent, loops update it in place.
    if isinstance(x, Linear):
        cotangents[0] = cotangent
        if attributes.kind == "set":
            cotangents[0] = attributes.apply(b, "set", cotangent, indices, b.full(0, shape, x.dtype))
    return cotangents


def _is_single(b: Builder, x: Value, indices: Value, attributes: Updates) -> bool:
    """Whether there is one window, or one of each element of a batch: none overwrites another."""
    kind = b.tensor_type(indices)
    rank = x.rank if isinstance(x, Linear) else b.tensor_type(x).rank
    numbers = attributes.map(rank, kind.rank)
    alone = (k for k in range(kind.rank - 1) if k not in numbers.indices_batching)
    return all(kind.shape[k] == 1 for k in alone)


def _lasting(b: Builder, sizes: Shape, indices: Value, shape: Shape, attributes: Updates) -> Value:
    """Which elements of updates of this shape are not overwritten by later ones: each leaves its number."""
    count: Size = 1
    for n in shape:
        count = b.size_product(count, n)
    # 0 stands for the elements that are dropped
    dtype = INT32 if isinstance(count, int) and count < 2**31 - 1 else INT64
    numbers = b.add(b.iota(shape=(count,), axis=0, dtype=dtype), b.full(1, (count,), dtype))
    numbers = b.reshape(numbers, shape=tuple(shape))
    left = attributes.apply(b, "set", b.full(0, tuple(sizes), dtype), indices, numbers)
    return b.compare(_read(b, left, indices, numbers, attributes), numbers, direction="EQ")


def _product_of_others(b: Builder, x: Value, indices: Value, updates: Value, attributes: Updates) -> Value:
    """For each update the product of the others at its element, in terms whose own derivative is right.

    The updates that are not zero are multiplied, and this one divided out; those that are zero are counted,
    and summed to keep their derivative: with one other zero the product is 0 times it, with more it is 0. So
    derivatives of the first two orders are exact, those of higher orders where fewer than three updates of an
    element are zero.
    """

    def all_others(start: Value, mine: Value, kind: str) -> Value:
        whole = attributes.apply(b, kind, start, indices, mine)
        return b.sub(_read(b, whole, indices, mine, attributes), mine)

    is_zero = b.compare(updates, b.zeros_like(updates), direction="EQ")
    factors = b.select(is_zero, b.full_like(updates, 1), updates)
    product = attributes.apply(b, "mul", b.full_like(x, 1), indices, factors)
    product = b.div(_read(b, product, indices, factors, attributes), factors)
    zeros = all_others(b.zeros_like(x), b.select(is_zero, updates, b.zeros_like(updates)), "add")
    count = all_others(b.full(0, b.sizes(x), INT32), b.convert(is_zero, dtype=INT32), "add")
    is_one = b.compare(count, b.full_like(count, 1), direction="EQ")
    is_none = b.compare(count, b.zeros_like(count), direction="EQ")
    return b.select(is_none, product, b.select(is_one, b.mul(product, zeros), b.zeros_like(updates)))


def _extremum_tangent(
    b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value, attributes: Updates
) -> Value:
    """The mean of the tangents of those that are the extremum, of `x` and of updates alike."""
    x, indices, updates = primals
    dx, _, du = tangents
    stays = b.compare(x, result, direction="EQ")
    wins = b.compare(updates, _read(b, result, indices, updates, attributes), direction="EQ")
    total = b.zeros_like(x) if dx is None else b.select(stays, dx, b.zeros_like(dx))
    if du is not None:
        won = b.select(wins, du, b.zeros_like(du))
        total = attributes.apply(b, "add", total, indices, won)
    count = b.convert(stays, dtype=INT32)
    count = attributes.apply(b, "add", count, indices, b.convert(wins, dtype=INT32))
    return b.div(total, b.convert(count, dtype=b.tensor_type(x).dtype))
