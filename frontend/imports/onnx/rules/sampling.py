"""Values between the elements of an array: Resize, Upsample, GridSample, RoiAlign."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....library import numpy as xp
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call, axes_of, computed_here, constant, elements, known, possible


def resize(call: Call, x: Any, roi: Any = None, scales: Any = None, target: Any = None) -> Any:
    """Each resized axis is multiplied by a matrix of weights, or indexed where the nearest is taken."""
    if call.opset < 11:
        roi, scales, target = None, roi, None
    axes = axes_of(call.ints("axes", tuple(range(x.ndim))), x.ndim)
    shape = [_static(x.shape[a]) for a in axes]
    factors, lengths = _factors(call, shape, scales, target)
    result_shape = dict(enumerate(x.shape)) | dict(zip(axes, lengths, strict=True))
    possible(list(result_shape.values()))
    regions = None
    if call.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        regions = elements(roi, "roi").astype(np.float64)
    mode = call.choice("mode", "nearest", ("nearest", "linear", "cubic"))
    result = x
    for i, axis in enumerate(axes):
        if lengths[i] == shape[i] and factors[i] == 1 and regions is None:
            continue
        computed_here([lengths[i]] if mode == "nearest" else [lengths[i], shape[i]], "its weights")
        region = None if regions is None else (regions[i], regions[len(axes) + i])
        places = _places(call, shape[i], lengths[i], factors[i], region)
        outside = None if region is None else (places < 0) | (places > shape[i] - 1)
        if mode == "nearest":
            result = xp.take(result, constant(_nearest(call, places, shape[i])), axis=axis)
        else:
            weights = _weights(call, mode, places, shape[i], factors[i])
            result = _contracted(result, weights, axis)
        if outside is not None and outside.any():
            mask = outside.reshape([-1 if j == axis else 1 for j in range(x.ndim)])
            result = xp.where(constant(mask), call.real("extrapolation_value", 0.0), result)
    return result.astype(x.dtype)


def upsample(call: Call, x: Any, scales: Any = None) -> Any:
    """Resize as op set 9 had it: places are `i / scale`, and the nearest is the one below."""
    factors = list(call.get("scales", ())) if scales is None else elements(scales, "scales").tolist()
    mode = call.choice("mode", "nearest", ("nearest", "linear"))
    for axis, factor in enumerate(factors):
        n = _static(x.shape[axis])
        length = int(np.floor(n * factor))
        computed_here([length] if mode == "nearest" else [length, n], "its weights")
        places = np.arange(length) / factor
        if mode == "nearest":
            x = xp.take(x, constant(np.floor(places).astype(np.int64).clip(0, n - 1)), axis=axis)
        elif factor != 1:
            x = _contracted(x, _spread(places, n, _linear(places, 1.0, False)), axis)
    return x


def _static(n: Any) -> int:
    if not isinstance(n, int):
        raise ModelUnsupportedError(
            f"it resizes the dynamic dimension {n}",
            hint="give that axis a static size: --in 'x=f32[1,3,224,224]'",
        )
    return n


def _factors(call: Call, shape: list[int], scales: Any, target: Any) -> tuple[list[float], list[int]]:
    """The factor and the new size of each axis."""
    if scales is not None and scales.size:
        factors = [float(s) for s in elements(scales, "scales").ravel()]
        return factors, [int(np.floor(n * s)) for n, s in zip(shape, factors, strict=True)]
    if target is None:
        raise ModelError("it has neither scales nor sizes")
    sizes = [int(n) for n in known(target, "sizes")]
    factors = [m / n for m, n in zip(sizes, shape, strict=True)]
    policy = call.choice("keep_aspect_ratio_policy", "stretch", ("stretch", "not_larger", "not_smaller"))
    if policy != "stretch":
        factor = min(factors) if policy == "not_larger" else max(factors)
        factors = [factor] * len(factors)
        sizes = [int(np.floor(n * factor + 0.5)) for n in shape]
    return factors, sizes


def _places(call: Call, n: int, length: int, factor: float, region: Any) -> np.ndarray:
    """Where in the axis of n elements each of the new elements is."""
    i = np.arange(length, dtype=np.float64)
    mode = call.text("coordinate_transformation_mode", "half_pixel")
    if call.opset < 11:
        mode = "asymmetric"
    match mode:
        case "half_pixel":
            return (i + 0.5) / factor - 0.5
        case "half_pixel_symmetric":
            adjusted = length / (factor * n)
            return n / 2 * (1 - adjusted) + (i + 0.5) / factor - 0.5
        case "pytorch_half_pixel":
            return (i + 0.5) / factor - 0.5 if length > 1 else np.zeros(length)
        case "align_corners":
            return i * (n - 1) / (n * factor - 1) if length > 1 else np.zeros(length)
        case "asymmetric":
            return i / factor
        case "tf_crop_and_resize":
            start, end = region
            if length > 1:
                return start * (n - 1) + i * (end - start) * (n - 1) / (length - 1)
            return np.full(length, 0.5 * (start + end) * (n - 1))
    raise ModelUnsupportedError(f"coordinate_transformation_mode {mode!r} is none that adze has")


def _nearest(call: Call, places: np.ndarray, n: int) -> np.ndarray:
    mode = call.text("nearest_mode", "round_prefer_floor") if call.opset >= 11 else "floor"
    rounding: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "round_prefer_floor": lambda p: np.ceil(p - 0.5),
        "round_prefer_ceil": lambda p: np.floor(p + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    if mode not in rounding:
        raise ModelUnsupportedError(f"nearest_mode {mode!r} is none that adze has")
    # A place like 2.0000000001 is 2: scales are float32.
    return rounding[mode](np.round(places, 6)).astype(np.int64).clip(0, n - 1)


def _weights(call: Call, mode: str, places: np.ndarray, n: int, factor: float) -> np.ndarray:
    """A row of weights of the n elements for each place."""
    antialias = call.flag("antialias") and factor < 1
    if mode == "linear":
        taps = _linear(places, factor, antialias)
    else:
        taps = _cubic(places, factor, antialias, call.real("cubic_coeff_a", -0.75))
    return _spread(places, n, taps, exclude=call.flag("exclude_outside"))


def _linear(places: np.ndarray, factor: float, antialias: bool) -> Any:
    scale = factor if antialias else 1.0
    reach = int(np.ceil(1 / scale)) + 1
    offsets = np.arange(-reach, reach + 1)
    at = np.floor(places)[:, None].astype(np.int64) + offsets
    return at, np.maximum(1 - np.abs(at - places[:, None]) * scale, 0)


def _cubic(places: np.ndarray, factor: float, antialias: bool, a: float) -> Any:
    scale = factor if antialias else 1.0
    reach = int(np.ceil(2 / scale)) + 1
    at = np.floor(places)[:, None].astype(np.int64) + np.arange(-reach, reach + 1)
    d = np.abs(at - places[:, None]) * scale
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return at, np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _spread(places: np.ndarray, n: int, taps: Any, exclude: bool = False) -> np.ndarray:
    """The matrix of the weights of taps; those outside count for the nearest end, or not at all."""
    at, weights = taps
    if exclude:
        weights = np.where((at >= 0) & (at < n), weights, 0.0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((len(places), n))
    np.add.at(matrix, (np.arange(len(places))[:, None], at.clip(0, n - 1)), weights)
    return matrix


def _contracted(x: Any, weights: np.ndarray, axis: int) -> Any:
    kind = x.dtype if x.dtype.kind == "f" else np.dtype(np.float32)
    moved = xp.moveaxis(x.astype(kind), axis, -1)
    return xp.moveaxis(moved @ constant(weights.T.astype(kind)), -1, axis)


def grid_sample(call: Call, x: Any, grid: Any) -> Any:
    """The values of an image at points whose coordinates are -1 to 1 (Jaderberg et al. 2015)."""
    mode = call.choice("mode", "linear", ("linear", "bilinear", "nearest", "cubic", "bicubic"))
    padding = call.choice("padding_mode", "zeros", ("zeros", "border", "reflection"))
    aligned = call.flag("align_corners")
    spatial = x.shape[2:]
    if any(not isinstance(n, int) for n in spatial):
        raise ModelUnsupportedError("it samples dynamic spatial dimensions")
    coordinates = [_unnormalized(grid[..., len(spatial) - 1 - i], n, aligned) for i, n in enumerate(spatial)]
    if mode == "nearest":
        return _picked(x, [xp.rint(c) for c in coordinates], padding, aligned)
    taps = (0, 1) if mode in ("linear", "bilinear") else (-1, 0, 1, 2)
    total: Any = 0
    if padding == "border" and len(taps) == 2:
        coordinates = [xp.clip(c, 0, n - 1) for c, n in zip(coordinates, spatial, strict=True)]
    elif padding == "reflection" and len(taps) == 2:
        coordinates = [_reflected(c, n, aligned) for c, n in zip(coordinates, spatial, strict=True)]
    bases = [xp.floor(c) for c in coordinates]
    for offsets in itertools.product(taps, repeat=len(spatial)):
        at = [b + o for b, o in zip(bases, offsets, strict=True)]
        share: Any = 1
        for c, a in zip(coordinates, at, strict=True):
            share = share * (_hat(c - a) if len(taps) == 2 else _cubic_kernel(c - a))
        total = total + _picked(x, at, padding, aligned) * share[:, None]
    return total


def _hat(d: Any) -> Any:
    return xp.maximum(1 - xp.abs(d), 0)


def _cubic_kernel(d: Any, a: float = -0.75) -> Any:
    d = xp.abs(d)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return xp.where(d <= 1, near, xp.where(d < 2, far, xp.zeros_like(d)))


def _unnormalized(c: Any, n: int, aligned: bool) -> Any:
    return (c + 1) / 2 * (n - 1) if aligned else ((c + 1) * n - 1) / 2


def _reflected(c: Any, n: int, aligned: bool) -> Any:
    low, high = (0.0, n - 1.0) if aligned else (-0.5, n - 0.5)
    if high == low:
        return xp.zeros_like(c)
    span = high - low
    folded = xp.remainder(xp.abs(c - low), 2 * span)
    return xp.clip(low + xp.where(folded > span, 2 * span - folded, folded), 0, n - 1)


def _picked(x: Any, at: list[Any], padding: str, aligned: bool) -> Any:
    """`x[n, c, ...]` at integer places [n, ...] of its spatial axes, as [n, c, ...]."""
    inside: Any = True
    places = []
    for a, n in zip(at, x.shape[2:], strict=True):
        inside = inside & (a >= 0) & (a <= n - 1)
        reached = _reflected(a, n, aligned) if padding == "reflection" else a
        places.append(xp.clip(reached, 0, n - 1).astype(np.int64))
    batch = xp.reshape(xp.arange(x.shape[0]), (-1, *(1,) * (at[0].ndim - 1)))
    values = xp.moveaxis(xp.moveaxis(x, 1, -1)[(batch, *places)], -1, 1)
    return xp.where(inside[:, None], values, xp.zeros_like(values)) if padding == "zeros" else values


def roi_align(call: Call, x: Any, rois: Any, batches: Any) -> Any:
    """Averages, or maxima, of bilinear samples of each cell of regions (He et al. 2017)."""
    height, width = call.integer("output_height", 1), call.integer("output_width", 1)
    ratio, scale = call.integer("sampling_ratio", 0), call.real("spatial_scale", 1.0)
    default = "half_pixel" if call.opset >= 16 else "output_half_pixel"
    shift = 0.5 if call.text("coordinate_transformation_mode", default) == "half_pixel" else 0.0
    boxes = elements(rois, "rois").astype(np.float64) * scale - shift
    where = elements(batches, "batch_indices")
    mode = call.choice("mode", "avg", ("avg", "max"))
    results = []
    for box, batch in zip(boxes, where, strict=True):
        x1, y1, x2, y2 = box
        h, w = (y2 - y1, x2 - x1) if shift else (max(y2 - y1, 1.0), max(x2 - x1, 1.0))
        counts = (ratio or int(np.ceil(h / height)), ratio or int(np.ceil(w / width)))
        rows = _cells(y1, h, height, counts[0], x.shape[2])
        columns = _cells(x1, w, width, counts[1], x.shape[3])
        if mode == "avg":
            r, c = (m.mean(axis=1).astype(x.dtype) for m in (rows, columns))
            results.append(xp.einsum("ij,cjk,lk->cil", constant(r), x[int(batch)], constant(c)))
        else:
            results.append(_largest_sample(x[int(batch)], rows, columns))
    return xp.stack(results)


def _cells(start: float, span: float, cells: int, samples: int, n: int) -> np.ndarray:
    """Weights [cells, samples, n] of an axis' elements for each sample of each cell."""
    places = start + (np.arange(cells)[:, None] + (np.arange(samples)[None] + 0.5) / samples) * span / cells
    outside = (places < -1) | (places > n)
    places = places.clip(0, n - 1)
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, n - 1)
    weights = np.zeros((cells, samples, n))
    grid = np.indices(places.shape)
    np.add.at(weights, (*grid, low), 1 - (places - low))
    np.add.at(weights, (*grid, high), places - low)
    return np.where(outside[..., None], 0.0, weights)


def _largest_sample(image: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """The largest of the four weighted corners of all samples of a cell, as the standard's op has it."""
    best: Any = None
    for i, j in np.ndindex(rows.shape[1], columns.shape[1]):
        r, c = rows[:, i], columns[:, j]
        for pick_r, pick_c in itertools.product((0, 1), repeat=2):
            part_r, part_c = _corner(r, pick_r), _corner(c, pick_c)
            corner = xp.einsum(
                "ij,cjk,lk->cil",
                constant(part_r.astype(image.dtype)),
                image,
                constant(part_c.astype(image.dtype)),
            )
            best = corner if best is None else xp.maximum(best, corner)
    return best


def _corner(weights: np.ndarray, which: int) -> np.ndarray:
    """Of the two elements that a sample lies between, the lower or the upper one's weight alone."""
    lower = (weights != 0).argmax(axis=1)
    kept = np.zeros_like(weights)
    index = np.arange(len(weights))
    if which == 0:
        kept[index, lower] = weights[index, lower]
        return kept
    upper = np.minimum(lower + 1, weights.shape[1] - 1)
    kept[index, upper] = np.where(upper == lower, 0.0, weights[index, upper])
    return kept
