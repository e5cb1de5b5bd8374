"""`reduce_window` and its dynamic form: running reductions, and windows of a known size.

Input: an application with a region, or a custom call with a computation. Output: its results.

Idea: a window as long as its axis, with padding on one side, is a running sum or its like, which JAX exports
as one; it has an op, or is an associative scan, also along axes of dynamic size. Padding by dynamic sizes is
done first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ....dialects.dataclass import dataclass
from ....dialects.types import BOOL, COMPLEX
from ...control.associative_scan import associative_scan
from ...library import numpy as xp
from ...library.lax import reduce_window as library
from ...library.numpy.promotion import same_size
from ...tracing.interpreter import ops
from ...transforms.vmap import vmap
from .application import Application, Rule, as_array
from .computations import COMBINE, logical, of_lists, single_op
from .program import Region

_RUNNING: Final = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}


@dataclass(frozen=True, slots=True)
class Window:
    """For each axis the size of the window, its strides, dilations, and the padding before and after."""

    sizes: tuple[Any, ...]
    strides: tuple[int, ...]
    bases: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[Any, Any], ...]


def _reduce_window(app: Application) -> Any:
    rank = app.array().ndim
    ones = (1,) * rank
    window = Window(
        app.ints("window_dimensions"),
        app.ints("window_strides", ones),
        app.ints("base_dilations", ones),
        app.ints("window_dilations", ones),
        tuple(app.pads(rank)),
    )
    return _reduced(app, app.op.regions[0], app.arrays, window)


def dynamic_reduce_window(app: Application) -> Any:
    """The custom call of that name: sizes, strides, dilations and padding are operands."""
    computations = app.attribute("called_computations")
    if not isinstance(computations, tuple) or len(computations) != 1 or len(app.inputs) < 7:
        raise app.error("expected one computation, arrays, initial values and five operands of a window")
    first = len(app.inputs) - 5
    sizes, strides, bases, dilations, flat = (app.sizes(first + i) for i in range(5))
    if not all(isinstance(n, int) for n in (*strides, *bases, *dilations)):
        raise app.error("the strides and dilations of its window must be known while tracing")
    pads = tuple(zip(flat[::2], flat[1::2], strict=True))
    window = Window(sizes, strides, bases, dilations, pads)
    rank = app.array().ndim
    if any(len(entries) != rank for entries in (sizes, strides, bases, dilations, pads)):
        raise app.error(f"its window has not one entry for each of {rank} axes")
    return _reduced(app, app.functions[computations[0]].body, app.arrays[:first], window)


def _reduced(app: Application, region: Region, operands: Sequence[Any], window: Window) -> Any:
    count = len(operands) // 2
    xs, starts = list(operands[:count]), list(operands[count:])
    running = _running_axis(tuple(xs[0].shape), window)
    if running is not None:
        return _running(app, region, xs, starts, *running)
    if not all(isinstance(n, int) for n in window.sizes):
        raise app.error(
            f"a window of {window.sizes} elements must have a size that is known while tracing",
            "running sums and their like may be as long as their axis",
        )
    kind = _kind(region, xs)
    pads = window.pads
    if not all(isinstance(n, int) for pair in pads for n in pair):
        low, high = zip(*pads, strict=True)
        interior = tuple(n - 1 for n in window.bases)
        xs = [ops.pad(x, s, low=low, high=high, interior=interior) for x, s in zip(xs, starts, strict=True)]
        window = replace(window, bases=(1,) * len(pads), pads=((0, 0),) * len(pads))
    operand, start = (xs[0], starts[0]) if kind in COMBINE else (xs, starts)
    computation: Any = COMBINE[kind] if kind in COMBINE else of_lists(app, region)
    result = library.reduce_window(
        operand,
        start,
        computation,
        window.sizes,
        window.strides,
        window.pads,
        window.bases,
        window.dilations,
    )
    return result if kind in COMBINE else list(result)


def _kind(region: Region, xs: Sequence[Any]) -> str:
    """The one op that the region is, the empty text for another region."""
    kind = logical(single_op(region) or "", xs[0].dtype == BOOL) if len(xs) == 1 else ""
    return kind if xs[0].dtype not in COMPLEX or kind in ("add", "multiply") else ""


def _running_axis(shape: tuple[Any, ...], window: Window) -> tuple[int, bool] | None:
    """The axis that a running reduction goes along, and whether from its end."""
    if any(n != 1 for n in (*window.strides, *window.bases, *window.dilations)):
        return None
    axes = [a for a, n in enumerate(window.sizes) if not same_size(n, 1)]
    if len(axes) != 1 or not all(_is_pad(p, 0, 0) for a, p in enumerate(window.pads) if a != axes[0]):
        return None
    size, pad = shape[axes[0]], window.pads[axes[0]]
    if not same_size(window.sizes[axes[0]], size):
        return None
    if _is_pad(pad, size - 1, 0):
        return axes[0], False
    return (axes[0], True) if _is_pad(pad, 0, size - 1) else None


def _is_pad(pad: tuple[Any, Any], low: Any, high: Any) -> bool:
    return same_size(pad[0], low) and same_size(pad[1], high)


def _running(
    app: Application, region: Region, xs: list[Any], starts: list[Any], axis: int, from_end: bool
) -> Any:
    kind = _kind(region, xs)
    if kind in _RUNNING and xs[0].dtype != BOOL:
        result = getattr(ops, _RUNNING[kind])(xs[0], axis=axis, reverse=from_end)
        return COMBINE[kind](
            ops.broadcast_in_dim(starts[0], shape=tuple(result.shape), dimensions=()), result
        )
    several = vmap(lambda scalars: [as_array(v) for v in app.run(region, scalars)])

    def combine(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        results = several([xp.ravel(x) for x in (*left, *right)])
        return [xp.reshape(r, x.shape) for r, x in zip(results, left, strict=True)]

    def following(earlier: Sequence[Any], later: Sequence[Any]) -> list[Any]:
        return combine(later, earlier) if from_end else combine(earlier, later)

    results = associative_scan(following, xs, reverse=from_end, axis=axis)
    return combine([xp.broadcast_to(s, r.shape) for s, r in zip(starts, results, strict=True)], results)


RULES: Final[dict[str, Rule]] = {"stablehlo.reduce_window": _reduce_window}
