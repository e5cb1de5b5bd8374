"""Scatter: writes into an array at many positions, where what is written meets what is there.

`set` and `add` are linear in the array and the updates together, `mul` in each alone. The derivatives hold
for indices that coincide: of updates that overwrite each other only the last has an effect, factors that are
zero leave the product of the others, extrema that tie share equally.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...errors import MissingRuleError
from ...op import Linear, Op, Operand, boolean, choice, ints, require, require_same_dtype
from ...types import ANY, COMPLEX, INT32, INT64, INTEGERS, NUMBERS, TensorType, same_dimension, storage
from ..elementwise.family import is_constant, repeated
from .windows import WindowMap, check_batching, fits, scatter_window


class Scatter(Op):
    """``y = x``, then ``y[indices[batch] + offset] = f(y[...], updates[batch, offset])`` for each update.

    The dimension numbers are those of `jax.lax.scatter`, `kind` is f. Updates are applied in row-major
    order, so that duplicate indices have one defined result: for `set` the last one wins. A window that
    leaves `x` is dropped as a whole (`drop`) or moved inside (`clip`, `promise_in_bounds`).
    An empty `x` stays as it is. The hints
    `unique_indices` and `indices_are_sorted` allow a faster form and never change a true promise's result.
    """

    name = "scatter"
    operands = (Operand("x", ANY), Operand("indices", INTEGERS), Operand("updates", ANY))
    attributes = {
        "kind": choice("set", "add", "mul", "min", "max", doc="how an update meets what is there"),
        "update_window_dims": ints("the axes of the updates along which windows extend"),
        "inserted_window_dims": ints("the axes of x, of window size 1, that the updates lack"),
        "scatter_dims_to_operand_dims": ints("the axis of x that each entry of an index vector counts along"),
        "operand_batching_dims": ints("axes of x that run together with an axis of the indices"),
        "scatter_indices_batching_dims": ints("the axes of the indices that they run with"),
        "mode": choice("drop", "clip", "promise_in_bounds", doc="what becomes of windows that leave x"),
        "unique_indices": boolean("a promise that no element is written twice"),
        "indices_are_sorted": boolean("a promise that the index vectors ascend"),
    }
    functions: ClassVar[dict[str, Any]] = {
        "add": np.add,
        "mul": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
    }

    @staticmethod
    def map(x_rank: int, indices_rank: int, attributes: dict[str, Any]) -> WindowMap:
        """The window map that the attributes state."""
        return WindowMap(
            x_rank,
            indices_rank,
            tuple(attributes["update_window_dims"]),
            tuple(attributes["inserted_window_dims"]),
            tuple(attributes["scatter_dims_to_operand_dims"]),
            tuple(attributes["operand_batching_dims"]),
            tuple(attributes["scatter_indices_batching_dims"]),
        )

    @staticmethod
    def infer(x: TensorType, indices: TensorType, updates: TensorType, **attributes: Any) -> TensorType:
        kind = attributes["kind"]
        allowed = {"set": ANY, "add": NUMBERS, "mul": NUMBERS}.get(kind, ANY - COMPLEX)
        dtype = require_same_dtype("scatter", x, updates)
        require(dtype in allowed, f"scatter: kind '{kind}' is not defined for {x}")
        numbers = Scatter.map(x.rank, indices.rank, attributes)
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
    def evaluate(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, **attributes: Any) -> np.ndarray:
        result = x.copy()
        if updates.size == 0 or x.size == 0:
            return result
        numbers = Scatter.map(x.ndim, indices.ndim, attributes)
        window = scatter_window(numbers, updates.shape)
        arrays, inside = numbers.positions(x.shape, indices, window, clip=attributes["mode"] != "drop")
        inside = np.broadcast_to(inside, updates.shape).ravel()
        flat = np.zeros(updates.shape, np.int64)
        for array, n in zip(arrays, x.shape, strict=True):
            flat = flat * n + array
        where, values = flat.ravel()[inside], updates.ravel()[inside]
        target = result.reshape(-1)
        if attributes["kind"] == "set":
            target[where] = values
        else:
            with np.errstate(all="ignore"):
                Scatter.functions[attributes["kind"]].at(target, where, values)
        return target.reshape(x.shape)

    @staticmethod
    def lower(l: Any, x: Any, indices: Any, updates: Any, **attributes: Any) -> Any:
        numbers = Scatter.map(len(l.shape(x)), len(l.shape(indices)), attributes)
        return l.scatter(
            x,
            indices,
            updates,
            numbers,
            kind=attributes["kind"],
            drop=attributes["mode"] == "drop",
            unique=attributes["unique_indices"],
        )

    @staticmethod
    def simplify(b: Any, x: Any, indices: Any, updates: Any, **attributes: Any) -> Any:
        """A single update for each element of a batch, into zeros, is chosen by its position: that fuses."""
        if attributes["kind"] not in ("set", "add") or not is_constant(b, x, x, 0):
            return None
        return _chosen(b, x, indices, updates, attributes)

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, result: Any, *, kind: str, **config: Any) -> Any:
        x, indices, updates = primals
        dx, _, du = tangents
        if kind == "add":
            if du is None:
                return dx
            return b.scatter(_or_zeros(b, dx, x), indices, du, kind="add", **config)
        if kind == "set":
            return b.scatter(_or_zeros(b, dx, x), indices, _or_zeros(b, du, updates), kind="set", **config)
        if kind == "mul":
            moved = b.zeros_like(x) if dx is None else b.scatter(dx, indices, updates, kind="mul", **config)
            if du is None:
                return moved
            factor = _read(b, x, indices, updates, config)
            if not config["unique_indices"]:
                factor = b.mul(factor, _product_of_others(b, x, indices, updates, config))
            return b.scatter(moved, indices, b.mul(du, factor), kind="add", **config)
        return _extremum_tangent(b, primals, tangents, result, config)

    @staticmethod
    def transpose(b: Any, cotangent: Any, operands: Any, *, kind: str, **config: Any) -> Any:
        x, indices, updates = operands
        if kind in ("set", "add"):
            return _linear_transpose(b, cotangent, operands, kind, config)
        if kind == "mul" and not isinstance(updates, Linear):
            return [b.scatter(cotangent, indices, updates, kind="mul", **config), None, None]
        if kind == "mul" and not isinstance(x, Linear) and config["unique_indices"]:
            return [None, None, _read(b, b.mul(cotangent, x), indices, updates, config)]
        raise MissingRuleError(f"'scatter' cannot be transposed: kind '{kind}' is not linear in its operands")

    @staticmethod
    def batch(
        b: Any, size: Any, operands: Any, batched: Any, *, indices_are_sorted: bool, **attributes: Any
    ) -> Any:
        """Windows through the whole batch where the indices are shared; else each into its own element."""
        x, indices, updates = operands
        x = x if batched[0] else repeated(b, x, size)
        updates = updates if batched[2] else repeated(b, updates, size)
        own = Scatter.map(b.tensor_type(x).rank - 1, b.tensor_type(indices).rank - batched[1], attributes)
        attributes.update(own.batched(x=True, indices=batched[1]).of_scatter)
        found = b.scatter(
            x, indices, updates, indices_are_sorted=indices_are_sorted and not batched[1], **attributes
        )
        return [found], [True]


def _chosen(b: Any, zeros: Any, indices: Any, updates: Any, attributes: dict[str, Any]) -> Any:
    """The updates where the position along the one indexed axis is theirs, else zero; None for other maps."""
    kind, index_kind, shape = b.tensor_type(zeros), b.tensor_type(indices), b.tensor_type(updates).shape
    numbers = Scatter.map(kind.rank, index_kind.rank, attributes)
    if len(numbers.start_index_map) != 1 or numbers.start_index_map != numbers.collapsed:
        return None
    (axis,) = numbers.collapsed
    size = kind.shape[axis]
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
    position = _position_in(b, indices, size, attributes["mode"])
    position = _placed(b, position, of_batch, everywhere)
    here = b.compare(b.iota(shape=everywhere, axis=axis, dtype=INT32), position, direction="EQ")
    return b.select(here, _placed(b, updates, of_update, everywhere), zeros)


def _position_in(b: Any, indices: Any, size: int, mode: str) -> Any:
    """Indices as i32: clamped into ``0 .. size - 1``, or where they are dropped to some position outside."""
    wide = b.convert(indices, dtype=INT32) if b.tensor_type(indices).dtype.itemsize < 4 else indices
    first, last = (-1, size) if mode == "drop" else (0, size - 1)
    if b.tensor_type(wide).dtype.kind == "i":
        wide = b.max(wide, b.full_like(wide, first))
    return b.convert(b.min(wide, b.full_like(wide, last)), dtype=INT32)


def _placed(b: Any, value: Any, places: dict[int, int], shape: Any) -> Any:
    """`value` over `shape`: its axis k along axis places[k]; its other axes have size 1."""
    axes = sorted(places)
    sizes = b.sizes(value)
    value = b.reshape(value, shape=tuple(sizes[k] for k in axes))
    return b.broadcast_in_dim(value, shape=shape, dimensions=tuple(places[k] for k in axes))


def _or_zeros(b: Any, tangent: Any, primal: Any) -> Any:
    return b.zeros_like(primal) if tangent is None else tangent


def _read(b: Any, x: Any, indices: Any, updates: Any, config: dict[str, Any]) -> Any:
    """What `x` holds where each update goes; 0 for updates that are dropped."""
    kind = b.tensor_type(x)
    numbers = Scatter.map(kind.rank, b.tensor_type(indices).rank, config)
    shape = updates.sizes if isinstance(updates, Linear) else b.sizes(updates)
    if 0 in kind.shape:
        return b.full(0, shape, kind.dtype)
    return b.gather(
        x,
        indices,
        **numbers.of_gather,
        slice_sizes=scatter_window(numbers, shape),
        mode="fill" if config["mode"] == "drop" else config["mode"],
        fill_value=storage(np.zeros((), kind.dtype)),
    )


def _linear_transpose(b: Any, cotangent: Any, operands: Any, kind: str, config: dict[str, Any]) -> list[Any]:
    """An update gets what lies where it went, an operand everything that was not overwritten."""
    x, indices, updates = operands
    shape = updates.sizes if isinstance(updates, Linear) else b.sizes(updates)
    found: list[Any] = [None, None, None]
    if isinstance(x, Linear):
        found[0] = cotangent
        if kind == "set":
            found[0] = b.scatter(cotangent, indices, b.full(0, shape, x.dtype), kind="set", **config)
    if isinstance(updates, Linear):
        found[2] = _read(b, cotangent, indices, updates, config)
        if kind == "set" and not config["unique_indices"]:
            sizes = x.sizes if isinstance(x, Linear) else b.sizes(x)
            lasting = _lasting(b, sizes, indices, shape, config)
            found[2] = b.select(lasting, found[2], b.zeros_like(found[2]))
    return found


def _lasting(b: Any, sizes: Any, indices: Any, shape: Any, config: dict[str, Any]) -> Any:
    """Which elements of updates of this shape are not overwritten by later ones: each leaves its number."""
    count: Any = 1
    for n in shape:
        count = b.size_product(count, n)
    # 0 stands for the elements that are dropped
    dtype = INT32 if isinstance(count, int) and count < 2**31 - 1 else INT64
    numbers = b.add(b.iota(shape=(count,), axis=0, dtype=dtype), b.full(1, (count,), dtype))
    numbers = b.reshape(numbers, shape=tuple(shape))
    left = b.scatter(b.full(0, tuple(sizes), dtype), indices, numbers, kind="set", **config)
    return b.compare(_read(b, left, indices, numbers, config), numbers, direction="EQ")


def _product_of_others(b: Any, x: Any, indices: Any, updates: Any, config: dict[str, Any]) -> Any:
    """For each update the product of the others at its element, in terms whose own derivative is right.

    The updates that are not zero are multiplied, and this one divided out; those that are zero are counted,
    and summed to keep their derivative: with one other zero the product is 0 times it, with more it is 0. So
    derivatives of the first two orders are exact, those of higher orders where fewer than three updates of an
    element are zero.
    """

    def all_others(start: Any, mine: Any, kind: str) -> Any:
        whole = b.scatter(start, indices, mine, kind=kind, **config)
        return b.sub(_read(b, whole, indices, mine, config), mine)

    is_zero = b.compare(updates, b.zeros_like(updates), direction="EQ")
    factors = b.select(is_zero, b.full_like(updates, 1), updates)
    product = b.scatter(b.full_like(x, 1), indices, factors, kind="mul", **config)
    product = b.div(_read(b, product, indices, factors, config), factors)
    zeros = all_others(b.zeros_like(x), b.select(is_zero, updates, b.zeros_like(updates)), "add")
    count = all_others(b.full(0, b.sizes(x), INT32), b.convert(is_zero, dtype=INT32), "add")
    is_one = b.compare(count, b.full_like(count, 1), direction="EQ")
    is_none = b.compare(count, b.zeros_like(count), direction="EQ")
    return b.select(is_none, product, b.select(is_one, b.mul(product, zeros), b.zeros_like(updates)))


def _extremum_tangent(b: Any, primals: Any, tangents: Any, result: Any, config: dict[str, Any]) -> Any:
    """The mean of the tangents of those that are the extremum, of `x` and of updates alike."""
    x, indices, updates = primals
    dx, _, du = tangents
    stays = b.compare(x, result, direction="EQ")
    wins = b.compare(updates, _read(b, result, indices, updates, config), direction="EQ")
    total = b.zeros_like(x) if dx is None else b.select(stays, dx, b.zeros_like(dx))
    if du is not None:
        won = b.select(wins, du, b.zeros_like(du))
        total = b.scatter(total, indices, won, kind="add", **config)
    count = b.convert(stays, dtype=INT32)
    count = b.scatter(count, indices, b.convert(wins, dtype=INT32), kind="add", **config)
    return b.div(total, b.convert(count, dtype=b.tensor_type(x).dtype))
