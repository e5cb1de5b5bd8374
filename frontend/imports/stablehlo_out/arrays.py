"""Shapes, slices, reductions, products, sorting and random bits in StableHLO.

Input: a writer, an application. Output: its results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.ops.random import PARITY, ROUNDS
from ....dialects.types import BOOL, COMPLEX, INT64, UINT32, from_storage
from .rules import Application, Rule
from .writer import Extent, Ref, Writer, integer, ints, rows, tensor


def _iota(w: Writer, app: Application) -> list[Ref]:
    return [w.iota(app.results[0].dtype, app.attributes["shape"], app.attributes["axis"])]


def _broadcast(w: Writer, app: Application) -> list[Ref]:
    return [w.broadcast(app.operands[0], app.attributes["shape"], app.attributes["dimensions"])]


def _reshape(w: Writer, app: Application) -> list[Ref]:
    return [w.reshape(app.operands[0], *app.attributes["shape"])]


def _transpose(w: Writer, app: Application) -> list[Ref]:
    return w.op("transpose", app.operands, app.results, {"permutation": ints(app.attributes["permutation"])})


def _slice(w: Writer, app: Application) -> list[Ref]:
    a = app.attributes
    return [w.slice(app.operands[0], a["start"], a["limit"], a["strides"])]


def _pad(w: Writer, app: Application) -> list[Ref]:
    low, high, interior = (app.attributes[name] for name in ("low", "high", "interior"))
    if not all(isinstance(n, int) for n in (*low, *high)):
        amounts = [w.vector(each) for each in (low, high, interior)]
        return w.op("dynamic_pad", (*app.operands, *amounts), app.results)
    names = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    return w.op("pad", app.operands, app.results, {key: ints(each) for key, each in names.items()})


def _concatenate(w: Writer, app: Application) -> list[Ref]:
    return w.op("concatenate", app.operands, app.results, {"dimension": integer(app.attributes["axis"])})


def _reverse(w: Writer, app: Application) -> list[Ref]:
    return w.op("reverse", app.operands, app.results, {"dimensions": ints(app.attributes["axes"])})


def _starts(w: Writer, starts: Sequence[Ref]) -> list[Ref]:
    """Start indices of one dtype."""
    if len({s.dtype for s in starts}) <= 1:
        return list(starts)
    return [w.convert(s, INT64) for s in starts]


def _signed(w: Writer, indices: Ref) -> Ref:
    """Indices as int64; those that it cannot hold are its greatest number, which is beyond any array."""
    if indices.dtype == np.uint64:
        indices = w.like("minimum", indices, w.filled(np.iinfo(np.int64).max, indices))
    return w.convert(indices, INT64)


def _dynamic_slice(w: Writer, app: Application) -> list[Ref]:
    x, *starts = app.operands
    if not starts:  # MLIR prints such a slice in a form that it does not parse
        return [x]
    sizes = app.attributes["slice_sizes"]
    if all(isinstance(n, int) for n in sizes):
        attributes = {"slice_sizes": ints(sizes)}
        return w.op("dynamic_slice", (x, *_starts(w, starts)), app.results, attributes)
    limits = [w.on_sizes("subtract", n, size) for n, size in zip(w.extents(x), sizes, strict=True)]
    first = [
        w.one("clamp", (w.scalar(0), _signed(w, start), w.scalar(limit)), tensor(INT64))
        for start, limit in zip(starts, limits, strict=True)
    ]
    start, size = w.vector(first), w.vector(sizes)
    strides = w.vector([1] * x.rank)
    return w.op("real_dynamic_slice", (x, start, w.like("add", start, size), strides), app.results)


def _dynamic_update_slice(w: Writer, app: Application) -> list[Ref]:
    x, update, *starts = app.operands
    if not starts:
        return [update]
    return w.op("dynamic_update_slice", (x, update, *_starts(w, starts)), app.results)


def _reduction(op: str) -> Rule:
    def rule(w: Writer, app: Application) -> list[Ref]:
        x, axes = app.operands[0], app.attributes["axes"]
        if not axes:
            return [x]
        return [w.reduce(op, x, _identity_of(op, x.dtype), axes)]

    return rule


def _identity_of(op: str, dtype: np.dtype) -> Any:
    """What leaves the other operand as it is."""
    if op in ("maximum", "minimum"):
        is_least = op == "maximum"
        if dtype == BOOL:
            return not is_least
        if dtype.kind in "iu":
            return np.iinfo(dtype).min if is_least else np.iinfo(dtype).max
        return -np.inf if is_least else np.inf
    if op == "and":
        return True if dtype == BOOL else np.array(-1).astype(dtype)
    return {"add": 0, "multiply": 1, "or": 0}[op]


def _running(op: str) -> Rule:
    def rule(w: Writer, app: Application) -> list[Ref]:
        x, axis = app.operands[0], app.attributes["axis"]
        size = w.size(x, axis)
        if size == 0:
            return [x]
        others = w.on_sizes("subtract", size, 1)
        before = (0, others) if app.attributes["reverse"] else (others, 0)
        window = [size if a == axis else 1 for a in range(x.rank)]
        pads: list[tuple[Extent, Extent]] = [before if a == axis else (0, 0) for a in range(x.rank)]
        start = w.constant(np.asarray(_identity_of(op, x.dtype)).astype(x.dtype))
        if isinstance(size, Ref):
            return [_dynamic_window(w, op, x, start, window, pads)]
        attributes = {"window_dimensions": ints(window), "padding": rows(pads)}  # type: ignore[arg-type]
        return w.op("reduce_window", (x, start), app.results, attributes, [w.combination(op, x.dtype)])

    return rule


def _dynamic_window(
    w: Writer, op: str, x: Ref, start: Ref, window: Sequence[Extent], pads: Sequence[tuple[Extent, Extent]]
) -> Ref:
    """A window of a size that is known at run time: StableHLO has none, JAX's exports have this call."""
    ones = w.vector([1] * x.rank)
    padding = w.reshape(w.vector([n for pair in pads for n in pair]), x.rank, 2)
    return w.op(
        "custom_call",
        (x, start, w.vector(window), ones, ones, ones, padding),
        [x.type],
        {
            "call_target_name": '"stablehlo.dynamic_reduce_window"',
            "called_computations": f"[@{w.combining(op, x.dtype)}]",
        },
    )[0]


def _position(name: str) -> Rule:
    """The pair of extremum and position, as JAX reduces it: the first of equals, NaN before all."""

    def rule(w: Writer, app: Application) -> list[Ref]:
        x, axis = app.operands[0], app.attributes["axis"]
        dtype = app.results[0].dtype
        direction, op = ("GT", "maximum") if name == "max" else ("LT", "minimum")
        counted = w.iota(dtype, w.extents(x), axis)
        starts = [w.constant(np.asarray(_identity_of(op, x.dtype)).astype(x.dtype)), w.constant(0, dtype)]

        def choose(inner: Writer, pair: list[Ref]) -> Sequence[Ref]:
            x0, i0, x1, i1 = pair
            better = inner.compare(direction, x0, x1)
            if x.dtype.kind in "fV":
                better = inner.like("or", better, inner.compare("NE", x0, x0))
            first = inner.like("and", inner.compare("EQ", x0, x1), inner.compare("LT", i0, i1))
            return [inner.select(better, x0, x1), inner.select(inner.like("or", better, first), i0, i1)]

        scalars = [tensor(x.dtype), tensor(dtype)]
        kept = app.results[0].with_dtype(x.dtype)
        region = w.region([*scalars, *scalars], choose)
        results = w.op(
            "reduce", (x, counted, *starts), [kept, app.results[0]], {"dimensions": ints([axis])}, [region]
        )
        return results[1:]

    return rule


def _dot_general(w: Writer, app: Application) -> list[Ref]:
    (left, right), (left_batch, right_batch) = app.attributes["contracting"], app.attributes["batch"]
    fields = {
        "lhs_batching_dimensions": left_batch,
        "rhs_batching_dimensions": right_batch,
        "lhs_contracting_dimensions": left,
        "rhs_contracting_dimensions": right,
    }
    text = f"#stablehlo.dot<{', '.join(f'{k} = {list(v)}' for k, v in fields.items())}>"
    x, y = app.operands
    if x.dtype.kind in "iub":  # products of integers are of the result's dtype
        x, y = w.convert(x, app.results[0].dtype), w.convert(y, app.results[0].dtype)
    return w.op("dot_general", (x, y), app.results, {"dot_dimension_numbers": text})


def _convolution(w: Writer, app: Application) -> list[Ref]:
    a = app.attributes
    layouts = [
        _layout(a[spec], letters)
        for spec, letters in (("lhs_spec", "bf"), ("rhs_spec", "oi"), ("out_spec", "bf"))
    ]
    image, kernel = app.operands
    image, padding = _without_rest(w, image, kernel, a)
    attributes = {
        "window_strides": ints(a["window_strides"]),
        "padding": rows(padding),
        "lhs_dilation": ints(a["lhs_dilation"]),
        "rhs_dilation": ints(a["rhs_dilation"]),
        "dimension_numbers": f"#stablehlo.conv<[{layouts[0]}]x[{layouts[1]}]->[{layouts[2]}]>",
        "feature_group_count": integer(a["feature_group_count"]),
        "batch_group_count": integer(a["batch_group_count"]),
    }
    return w.op("convolution", (image, kernel), app.results, attributes)


def _without_rest(
    w: Writer, image: Ref, kernel: Ref, a: Mapping[str, Any]
) -> tuple[Ref, list[tuple[int, int]]]:
    """An image and its padding without what is behind the last window, which IREE refuses at one position."""
    padding, sizes = list(a["padding"]), list(w.extents(image))
    kept = list(sizes)
    for k, axis in enumerate(a["lhs_spec"][2:]):
        n, taps, (low, high) = sizes[axis], w.extents(kernel)[a["rhs_spec"][2 + k]], padding[k]
        if not isinstance(n, int) or not isinstance(taps, int) or a["lhs_dilation"][k] > 1:
            continue
        free = n + low + high - a["rhs_dilation"][k] * (taps - 1) - 1
        if free > 0 and taps and n:
            rest = free % a["window_strides"][k]
            zeros = min(rest, max(high, 0))
            padding[k] = low, high - zeros
            kept[axis] = max(n - (rest - zeros), 1)
    if kept != sizes:
        image = w.slice(image, [0] * len(kept), kept, [1] * len(kept))
    return image, padding


def _layout(spec: Sequence[int], letters: str) -> str:
    names = [*letters, *(str(i) for i in range(len(spec) - 2))]
    by_axis = dict(zip(spec, names, strict=True))
    return ", ".join(by_axis[axis] for axis in range(len(spec)))


def _gather(w: Writer, app: Application) -> list[Ref]:
    x, indices = app.operands
    a = app.attributes
    fields = {
        "offset_dims": a["offset_dims"],
        "collapsed_slice_dims": a["collapsed_slice_dims"],
        "operand_batching_dims": a["operand_batching_dims"],
        "start_indices_batching_dims": a["start_indices_batching_dims"],
        "start_index_map": a["start_index_map"],
    }
    numbers = ", ".join(f"{k} = {list(v)}" for k, v in fields.items() if v)
    vector = f"index_vector_dim = {indices.rank - 1}"
    text = f"#stablehlo.gather<{', '.join(part for part in (numbers, vector) if part)}>"
    sizes = a["slice_sizes"]
    if all(isinstance(n, int) for n in sizes):
        attributes = {"dimension_numbers": text, "slice_sizes": ints(sizes)}
        result = w.one("gather", (x, indices), app.results[0], attributes)
    else:
        operands = (x, indices, w.vector(sizes))
        result = w.one("dynamic_gather", operands, app.results[0], {"dimension_numbers": text})
    if a["mode"] != "fill" or not a["start_index_map"]:
        return [result]
    limits = [w.on_sizes("subtract", w.size(x, axis), sizes[axis]) for axis in a["start_index_map"]]
    inside = _inside(w, indices, limits)
    batch = [axis for axis in range(result.rank) if axis not in a["offset_dims"]]
    mask = w.broadcast(inside, w.extents(result), batch)
    fill = from_storage(np.asarray(a["fill_value"]), x.dtype)
    return [w.select(mask, result, w.filled(fill, result))]


def _inside(w: Writer, indices: Ref, limits: Sequence[Extent]) -> Ref:
    """For each index vector whether its window lies within the array."""
    wide = _signed(w, indices)
    most = w.broadcast(w.vector(limits), w.extents(indices), [indices.rank - 1])
    fits = w.like("and", w.compare("GE", wide, w.filled(0, wide)), w.compare("LE", wide, most))
    return w.reduce("and", fits, True, [indices.rank - 1])


def _scatter(w: Writer, app: Application) -> list[Ref]:
    x, indices, updates = app.operands
    a = app.attributes
    if a["mode"] == "clip":
        indices = _clipped(w, x, indices, updates, a)
    fields = {
        "update_window_dims": a["update_window_dims"],
        "inserted_window_dims": a["inserted_window_dims"],
        "input_batching_dims": a["operand_batching_dims"],
        "scatter_indices_batching_dims": a["scatter_indices_batching_dims"],
        "scatter_dims_to_operand_dims": a["scatter_dims_to_operand_dims"],
    }
    numbers = ", ".join(f"{k} = {list(v)}" for k, v in fields.items() if v)
    vector = f"index_vector_dim = {indices.rank - 1}"
    text = f"#stablehlo.scatter<{', '.join(part for part in (numbers, vector) if part)}>"
    ops = {"add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}
    scalar = tensor(x.dtype)
    region = (
        w.combination(ops[a["kind"]], x.dtype)
        if a["kind"] != "set"
        else w.region([scalar, scalar], lambda inner, pair: pair[1:])
    )
    attributes = {
        "scatter_dimension_numbers": text,
        "indices_are_sorted": str(bool(a["indices_are_sorted"])).lower(),
        "unique_indices": str(bool(a["unique_indices"])).lower(),
    }
    return w.op("scatter", (x, indices, updates), app.results, attributes, [region])


def _clipped(w: Writer, x: Ref, indices: Ref, updates: Ref, a: Any) -> Ref:
    """The indices moved so that their windows lie within the array."""
    outside = (*a["inserted_window_dims"], *a["operand_batching_dims"])
    kept = [axis for axis in range(x.rank) if axis not in outside]
    sizes = dict(zip(kept, (w.size(updates, d) for d in a["update_window_dims"]), strict=True))
    limits = [
        w.on_sizes("subtract", w.size(x, axis), sizes.get(axis, 1))
        for axis in a["scatter_dims_to_operand_dims"]
    ]
    wide = _signed(w, indices)
    most = w.broadcast(w.vector(limits), w.extents(indices), [indices.rank - 1])
    return w.one("clamp", (w.filled(0, wide), wide, most), wide.type)


def _sort(w: Writer, app: Application) -> list[Ref]:
    keys = app.attributes["num_keys"]
    scalars = [t for x in app.operands for t in (tensor(x.dtype), tensor(x.dtype))]

    def before(inner: Writer, xs: list[Ref]) -> Sequence[Ref]:
        result: Ref | None = None
        for k in reversed(range(keys)):
            for x, y in reversed(list(zip(*(_parts(inner, v) for v in xs[2 * k : 2 * k + 2]), strict=True))):
                less = inner.compare("LT", x, y, total=x.dtype.kind in "fV")
                if result is not None:
                    equal = inner.compare("EQ", x, y, total=x.dtype.kind in "fV")
                    less = inner.like("or", less, inner.like("and", equal, result))
                result = less
        assert result is not None
        return [result]

    attributes = {
        "dimension": integer(app.attributes["axis"]),
        "is_stable": str(bool(app.attributes["is_stable"])).lower(),
    }
    return w.op("sort", app.operands, app.results, attributes, [w.region(scalars, before)])


def _parts(w: Writer, x: Ref) -> list[Ref]:
    """What is compared of a key: of a complex number the real part, then the imaginary one."""
    if x.dtype not in COMPLEX:
        return [_canonical(w, x)]
    part = x.type.with_dtype(np.dtype(np.float32 if x.dtype == np.complex64 else np.float64))
    return [_canonical(w, w.one(name, (x,), part)) for name in ("real", "imag")]


def _canonical(w: Writer, x: Ref) -> Ref:
    """One zero, one NaN: what StableHLO's total order needs to compare as adze does."""
    if x.dtype.kind not in "fV":
        return x
    zero = w.filled(0, x)
    x = w.select(w.compare("NE", x, x), w.filled(np.nan, x), w.select(w.compare("EQ", x, zero), zero, x))
    return x


def _top_k(w: Writer, app: Application) -> list[Ref]:
    return w.op("chlo.top_k", app.operands, app.results, {"k": integer(app.attributes["k"])})


def _random_bits(w: Writer, app: Application) -> list[Ref]:
    """Threefry-2x32 of each key and the position within its part of the result."""
    key, width = app.operands[0], app.attributes["width"]
    shape: tuple[Extent, ...] = app.attributes["shape"]
    batch = shape[: key.rank - 1]
    count: Extent = 1
    for n in shape[key.rank - 1 :]:
        count = w.on_sizes("multiply", count, n)
    flat = (*batch, count)
    if 0 in flat:
        return [w.filled(0, app.results[0], shape)]
    axes = list(range(len(batch)))
    words = []
    for i in range(2):
        part = w.slice(key, [0] * len(batch) + [i], [*batch, i + 1], [1] * key.rank)
        words.append(w.broadcast(w.reshape(part, *batch), flat, axes))
    counter = w.iota(np.uint64, flat, len(batch))
    high = w.convert(w.like("shift_right_logical", counter, w.filled(32, counter)), UINT32)
    x0, x1 = _threefry(w, words, high, w.convert(counter, UINT32))
    if width == 64:
        upper, lower = w.convert(x0, np.uint64), w.convert(x1, np.uint64)
        bits = w.like("or", w.like("shift_left", upper, w.filled(32, upper)), lower)
    else:
        bits = w.convert(w.like("xor", x0, x1), f"uint{width}")
    return [w.reshape(bits, *shape)]


def _threefry_word(w: Writer, app: Application) -> list[Ref]:
    k0, k1, x0, x1 = app.operands
    return [_threefry(w, (k0, k1), x0, x1)[app.attributes["word"]]]


def _threefry(w: Writer, key: Sequence[Ref], x0: Ref, x1: Ref) -> tuple[Ref, Ref]:
    last = w.like("xor", w.like("xor", *key), w.filled(PARITY, key[0]))
    keys = [*key, last]
    x0, x1 = w.like("add", x0, keys[0]), w.like("add", x1, keys[1])
    for group in range(5):
        for distance in ROUNDS[group % 2]:
            x0 = w.like("add", x0, x1)
            left = w.like("shift_left", x1, w.filled(distance, x1))
            right = w.like("shift_right_logical", x1, w.filled(32 - distance, x1))
            x1 = w.like("xor", w.like("or", left, right), x0)
        x0 = w.like("add", x0, keys[(group + 1) % 3])
        x1 = w.like("add", w.like("add", x1, keys[(group + 2) % 3]), w.filled(group + 1, x1))
    return x0, x1


RULES: Final[dict[str, Rule]] = {
    "argmax": _position("max"),
    "argmin": _position("min"),
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "conv_general": _convolution,
    "cummax": _running("maximum"),
    "cummin": _running("minimum"),
    "cumprod": _running("multiply"),
    "cumsum": _running("add"),
    "dot_general": _dot_general,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "iota": _iota,
    "pad": _pad,
    "random_bits": _random_bits,
    "reduce_and": _reduction("and"),
    "reduce_max": _reduction("maximum"),
    "reduce_min": _reduction("minimum"),
    "reduce_or": _reduction("or"),
    "reduce_prod": _reduction("multiply"),
    "reduce_sum": _reduction("add"),
    "reshape": _reshape,
    "reverse": _reverse,
    "scatter": _scatter,
    "slice": _slice,
    "sort": _sort,
    "threefry": _threefry_word,
    "top_k": _top_k,
    "transpose": _transpose,
}
