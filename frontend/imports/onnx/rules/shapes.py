"""Shapes: reshape, transpose, slice, pad, split, concatenate, tile, and arrays made of shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....library import numpy as xp
from ....tracing.sizes import Dim, product
from ...errors import ModelError
from ..calls import Call, axes_of, axis_of, constant, elements, known, known_int, possible
from ..sizes import Sizes, sizes


def shape(call: Call, x: Any) -> Any:
    return sizes(x.shape[slice(call.integer("start", 0), call.get("end"))])


def size(call: Call, x: Any) -> Any:
    return sizes([product(x.shape)], is_scalar=True)


def reshape(call: Call, x: Any, target: Any = None) -> Any:
    wanted = list(call.ints("shape")) if target is None else known(target, "shape")
    keeps_zero = call.flag("allowzero")
    new: list[Any] = []
    for i, n in enumerate(wanted):
        is_same = isinstance(n, int) and n == 0 and not keeps_zero
        if is_same and i >= x.ndim:
            raise ModelError(f"the shape {wanted} keeps axis {i}, which {_type(x)} has not")
        new.append(x.shape[i] if is_same else n)
    if any(isinstance(n, Dim) for n in (*new, *x.shape)):
        new = _without_unknown(x, new)
    return xp.reshape(x, tuple(new))


def _without_unknown(x: Any, new: list[Any]) -> list[Any]:
    """The shape with its one -1 written out where both sides share their dynamic dimensions."""
    if not any(isinstance(n, int) and n == -1 for n in new):
        return new
    source, rest = list(x.shape), [n for n in new if isinstance(n, Dim)]
    for n in rest:
        same = next((m for m in source if isinstance(m, Dim) and m.text == n.text), None)
        if same is None:
            return new
        source.remove(same)
    known_sizes = math.prod(n for n in new if isinstance(n, int) and n != -1)
    static = math.prod(n for n in source if isinstance(n, int))
    if known_sizes == 0 or static % known_sizes:
        return new
    inferred = product([static // known_sizes, *(n for n in source if isinstance(n, Dim))])
    return [inferred if isinstance(n, int) and n == -1 else n for n in new]


def flatten(call: Call, x: Any) -> Any:
    axis = call.integer("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return xp.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))


def transpose(call: Call, x: Any) -> Any:
    return xp.transpose(x, call.ints("perm", tuple(reversed(range(x.ndim)))))


def squeeze(call: Call, x: Any, axes: Any = None) -> Any:
    chosen = call.get("axes") if axes is None else known(axes, "axes")
    if chosen is None:
        chosen = [i for i, n in enumerate(x.shape) if isinstance(n, int) and n == 1]
    return xp.squeeze(x, axis=axes_of(chosen, x.ndim))


def unsqueeze(call: Call, x: Any, axes: Any = None) -> Any:
    chosen = call.ints("axes") if axes is None else known(axes, "axes")
    return xp.expand_dims(x, axis=axes_of(chosen, x.ndim + len(chosen)))


def concat(call: Call, *values: Any) -> Any:
    return xp.concat(values, axis=axis_of(call.integer("axis", 1), values[0].ndim))


def expand(call: Call, x: Any, target: Any) -> Any:
    wanted = known(target, "shape")
    rank = max(x.ndim, len(wanted))
    left, right = [1] * (rank - x.ndim) + list(x.shape), [1] * (rank - len(wanted)) + wanted
    result = [m if isinstance(n, int) and n == 1 else n for m, n in zip(left, right, strict=True)]
    return xp.broadcast_to(x, possible(result))


def tile(call: Call, x: Any, repeats: Any) -> Any:
    counts = known(repeats, "repeats")
    possible([n * c for n, c in zip(x.shape, counts, strict=True)])
    return xp.tile(x, tuple(counts))


def slice_(
    call: Call, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None
) -> Any:
    if starts is None:
        begins, stops = list(call.ints("starts")), list(call.ints("ends"))
        chosen = list(call.ints("axes", tuple(range(len(begins)))))
    else:
        begins, stops = known(starts, "starts"), known(ends, "ends")
        chosen = list(range(len(begins))) if axes is None else known(axes, "axes")
    strides = [1] * len(begins) if steps is None else known(steps, "steps")
    index: list[Any] = [slice(None)] * x.ndim
    for begin, stop, axis, step in zip(begins, stops, axes_of(chosen, x.ndim), strides, strict=True):
        if step == 0:
            raise ModelError("a step is 0")
        index[axis] = _slice(begin, stop, step, x.shape[axis])
    return x[tuple(index)]


def _slice(begin: Any, stop: Any, step: int, n: Any) -> slice:
    if isinstance(n, Dim) or isinstance(begin, Dim) or isinstance(stop, Dim):
        is_whole = isinstance(stop, int) and stop >= 2**31 - 1
        return slice(begin, None if is_whole else stop, step)
    if step < 0:
        return slice(
            min(begin, n - 1) if begin >= 0 else max(begin, -n - 1), None if stop < -n else stop, step
        )
    return slice(begin, stop, step)


def pad(call: Call, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    amounts = list(call.ints("pads", call.get("paddings"))) if pads is None else known(pads, "pads")
    chosen = tuple(range(x.ndim)) if axes is None else axes_of(known(axes, "axes"), x.ndim)
    half = len(amounts) // 2
    if half != len(chosen):
        raise ModelError(f"there are {len(amounts)} pads for {len(chosen)} axes, expected two an axis")
    widths: list[tuple[int, int]] = [(0, 0)] * x.ndim
    for i, axis in enumerate(chosen):
        widths[axis] = (amounts[i], amounts[half + i])
    possible(
        [
            low + high + (n if isinstance(n, int) else 0)
            for (low, high), n in zip(widths, x.shape, strict=True)
        ]
    )
    if any(low < 0 or high < 0 for low, high in widths):
        cut = [slice(max(-low, 0), n - max(-high, 0)) for (low, high), n in zip(widths, x.shape, strict=True)]
        x, widths = x[tuple(cut)], [(max(low, 0), max(high, 0)) for low, high in widths]
    mode = call.choice("mode", "constant", ("constant", "reflect", "edge", "wrap"))
    if mode != "constant":
        return xp.pad(x, widths, mode=mode)
    if value is None:
        value = call.real("value", 0.0)
    return xp.pad(x, widths, constant_values=xp.reshape(xp.asarray(value, dtype=x.dtype), ()))


def split(call: Call, x: Any, lengths: Any = None) -> Any:
    axis = axis_of(call.integer("axis", 0), x.ndim)
    n = x.shape[axis]
    parts = call.get("split") if lengths is None else known(lengths, "split")
    if not parts:
        count = call.integer("num_outputs", len(call.node.outputs))
        if count != len(call.node.outputs):
            raise ModelError(f"num_outputs is {count}, and the node has {len(call.node.outputs)} outputs")
        each = -(-n // count)
        parts = [max(min(each, n - i * each), 0) for i in range(count)]
    if isinstance(n, int) and sum(parts) != n:
        raise ModelError(f"the parts {list(parts)} of axis {axis} do not add up to {n}")
    return xp.split(x, [int(at) for at in np.cumsum(parts)[:-1]], axis=axis)


def constant_node(call: Call) -> Any:
    """The one attribute that a Constant has."""
    values = {k: v for k, v in call.attributes.items() if k.startswith(("value", "sparse_value"))}
    if len(values) != 1:
        raise ModelError(f"a Constant has one value, and this one has {sorted(values) or 'none'}")
    ((name, value),) = values.items()
    if name.startswith("value_string"):
        raise ModelError("its value is text, which adze has not")
    dtype = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    return constant(np.asarray(value, dtype.get(name)))


def constant_of_shape(call: Call, target: Any) -> Any:
    value = call.get("value")
    fill = np.zeros(1, np.float32) if value is None else np.asarray(value)
    return xp.full(possible(known(target, "input")), fill.ravel()[0], dtype=fill.dtype)


def range_(call: Call, start: Any, limit: Any, delta: Any) -> Any:
    if isinstance(limit, Sizes):
        begin, step = known_int(start, "start"), known_int(delta, "delta")
        if begin == 0 and step == 1:
            return xp.arange(limit.items[0], dtype=np.int64)
        limit = limit.traced()
    numbers = [elements(v, name).item() for v, name in ((start, "start"), (limit, "limit"), (delta, "delta"))]
    if numbers[2] == 0:
        raise ModelError("its delta is 0")
    span, step = numbers[1] - numbers[0], numbers[2]
    count = max(-(-span // step) if isinstance(step, int) else math.ceil(span / step), 0)
    possible([count])
    kind = start.dtype if start.dtype.itemsize == 8 else np.dtype(np.float32)
    work = np.dtype(np.int64) if start.dtype.kind in "iu" else kind
    steps = xp.arange(count, dtype=work) * np.asarray(numbers[2], work) + np.asarray(numbers[0], work)
    return steps.astype(start.dtype)


def eye_like(call: Call, x: Any) -> Any:
    if x.ndim != 2:
        raise ModelError(f"its input is {_type(x)}, expected two axes")
    return xp.eye(x.shape[0], x.shape[1], k=call.integer("k", 0), dtype=call.dtype("dtype", x.dtype))


def trilu(call: Call, x: Any, k: Any = None) -> Any:
    offset = 0 if k is None else known_int(k, "k")
    return (xp.triu if call.flag("upper", True) else xp.tril)(x, k=offset)


def depth_to_space(call: Call, x: Any) -> Any:
    n, c, h, w = x.shape
    b = call.integer("blocksize")
    if call.choice("mode", "DCR", ("DCR", "CRD")) == "DCR":
        blocks = xp.transpose(xp.reshape(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    else:
        blocks = xp.transpose(xp.reshape(x, (n, c // (b * b), b, b, h, w)), (0, 1, 4, 2, 5, 3))
    return xp.reshape(blocks, (n, c // (b * b), h * b, w * b))


def space_to_depth(call: Call, x: Any) -> Any:
    n, c, h, w = x.shape
    b = call.integer("blocksize")
    inner = xp.reshape(x, (n, c, h // b, b, w // b, b))
    if call.text("mode", "DCR") == "CRD":
        return xp.reshape(xp.transpose(inner, (0, 1, 3, 5, 2, 4)), (n, c * b * b, h // b, w // b))
    return xp.reshape(xp.transpose(inner, (0, 3, 5, 1, 2, 4)), (n, c * b * b, h // b, w // b))


def reverse_sequence(call: Call, x: Any, lengths: Any) -> Any:
    time, batch = call.integer("time_axis", 0), call.integer("batch_axis", 1)
    values = xp.moveaxis(x, (batch, time), (0, 1))
    steps = xp.arange(values.shape[1])
    ends = lengths[:, None]
    order = xp.where(steps[None, :] < ends, ends - 1 - steps[None, :], steps[None, :])
    order = xp.reshape(order, (*order.shape, *(1,) * (values.ndim - 2)))
    return xp.moveaxis(xp.take_along_axis(values, order, axis=1), (0, 1), (batch, time))


def center_crop_pad(call: Call, x: Any, target: Any) -> Any:
    wanted = known(target, "shape")
    axes = axes_of(call.ints("axes", tuple(range(x.ndim))), x.ndim)
    for axis, n in zip(axes, wanted, strict=True):
        here = x.shape[axis]
        if here >= n:
            begin = (here - n) // 2
            x = x[tuple(slice(begin, begin + n) if i == axis else slice(None) for i in range(x.ndim))]
        else:
            low = (n - here) // 2
            x = xp.pad(x, [(low, n - here - low) if i == axis else (0, 0) for i in range(x.ndim)])
    return x


def _type(x: Any) -> str:
    return f"{x.dtype.name}[{','.join(map(str, x.shape))}]"
