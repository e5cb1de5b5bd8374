"""`sort` by any comparator, and `top_k`.

Input: an application whose region compares two elements of each operand. Output: the sorted operands.

Idea: comparators by keys, as exports have them, become adze's sort; floats in IEEE's total order are compared
as integers, falling order as the complement of those. Any other comparator sorts by a bitonic network, in
which equal elements stay in order by their positions.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import BOOL, INT32
from ...library import numpy as xp
from ...tracing.interpreter import ops
from ...transforms.vmap import vmap
from .application import Application, Rule, as_array
from .computations import expression
from .elementwise import total_order
from .program import Region


@dataclass(frozen=True, slots=True)
class Key:
    """What is compared: an operand, in rising or falling order, its floats in total order or not.

    Where they are, `is_canonical` says that all zeros are one, and that all NaN are. Of a complex operand
    one `part` is compared, real or imaginary.
    """

    part: str | None
    operand: int
    is_falling: bool
    is_total: bool
    is_canonical: bool


def _sort(app: Application) -> Any:
    xs = app.arrays
    axis = app.attribute("dimension", -1) % xs[0].ndim if xs[0].ndim else 0
    if not xs[0].ndim:
        return xs
    return sorted_by(app, app.op.regions[0], xs, axis)


def sorted_by(app: Application, region: Region, xs: list[Any], axis: int) -> list[Any]:
    """Arrays sorted along an axis by the comparator `region`."""

    def outside(value: int) -> Any:
        return app.run(Region((), (), (), (value,)), ())[0]

    found = _keys(expression(region, region.results[0], outside), region)
    if found is None:
        return _by_network(app, region, xs, axis)
    columns = [_column(xs[key.operand], key) for key in found]
    results = ops.sort(*columns, *xs, axis=axis, num_keys=len(columns), is_stable=True)
    return list(results[len(columns) :])


def _column(x: Any, key: Key) -> Any:
    """An array whose rising order is the order of the key."""
    if key.part is not None:
        x = ops.real(x) if key.part == "real" else ops.imag(x)
    if x.dtype.kind in "fV" and (key.is_total or key.is_falling):
        if key.is_canonical or not key.is_total:
            x = ops.select(ops.compare(x, x, direction="NE"), ops.full_like(x, np.nan), x)
            x = ops.select(ops.compare(x, ops.full_like(x, 0), direction="EQ"), ops.full_like(x, 0), x)
        x = total_order(x)
    if x.dtype == BOOL:
        x = ops.convert(x, dtype=INT32)
    return ops.not_(x) if key.is_falling else x


def _keys(form: Any, region: Region) -> list[Key] | None:
    """The keys that a comparator compares in turn, None where it is of another form."""
    if form[0] == "compare":
        key = _key(form)
        return None if key is None else [key]
    rest: Any = None
    if form[0] == "or" and form[3][0] == "and":  # a < b  or  a == b and rest
        first, equal, rest = form[2], form[3][2], form[3][3]
    elif form[0] == "select":  # rest where a == b, else a < b
        equal, rest, first = form[2], form[3], form[4]
    if rest is None or first[0] != "compare" or equal[0] != "compare" or equal[1][0] != "EQ":
        return None
    key, others = _key(first), _keys(rest, region)
    if key is None or others is None or {first[2], first[3]} != {equal[2], equal[3]}:
        return None
    return [key, *others]


def _key(form: Any) -> Key | None:
    direction, kind = form[1]
    if direction not in ("LT", "GT"):
        return None
    left, right = _element(form[2]), _element(form[3])
    if left is None or right is None or left[1:] != right[1:] or {left[0] % 2, right[0] % 2} != {0, 1}:
        return None
    if left[0] // 2 != right[0] // 2:
        return None
    is_falling = (direction == "GT") == (left[0] % 2 == 0)
    return Key(left[2], left[0] // 2, is_falling, kind == "TOTALORDER", left[1])


def _element(form: Any) -> tuple[int, bool, str | None] | None:
    """Which argument is compared, whether as JAX makes floats canonical (one zero, one NaN), which part."""
    plain = _part(form)
    if plain is not None:
        return plain[0], False, plain[1]
    if form[0] != "select":
        return None
    is_nan, nan, rest = form[2:]
    if rest[0] != "select" or is_nan[0] != "compare" or is_nan[1][0] != "NE":
        return None
    is_zero, zero, element = rest[2:]
    plain = _part(element)
    if plain is None or is_nan[2:] != (element, element) or is_zero[0] != "compare":
        return None
    numbers = _number(nan), _number(zero), _number(is_zero[3])
    is_canonical = np.isnan(numbers[0]) and not np.signbit(numbers[0]) and numbers[1:] == (0, 0)
    return (
        (plain[0], True, plain[1])
        if is_canonical and is_zero[1][0] == "EQ" and is_zero[2] == element
        else None
    )


def _number(form: Any) -> Any:
    """A constant; 1, which no canonical form has, for anything else."""
    if form[0] != "constant" or form[1] is None:
        return np.float32(1)
    return np.frombuffer(form[1], form[2])[0].astype(np.float64)


def _part(form: Any) -> tuple[int, str | None] | None:
    """An argument, or the real or imaginary part of one."""
    if form[0] == "argument":
        return form[1], None
    if form[0] in ("real", "imag") and form[2][0] == "argument":
        return form[2][1], form[0]
    return None


def _by_network(app: Application, region: Region, xs: list[Any], axis: int) -> list[Any]:
    """Batcher's bitonic sort along the last axis, of a power of two of elements: the rest comes last."""
    size = xs[0].shape[axis]
    if not isinstance(size, int):
        raise app.error(f"this comparator needs a size that is known while tracing, axis {axis} has {size}")
    if size < 2:
        return xs
    length = 1 << (size - 1).bit_length()
    rows = [xp.moveaxis(x, axis, -1) for x in xs]
    widths = [(0, 0)] * (rows[0].ndim - 1) + [(0, length - size)]
    rows = [xp.pad(row, widths) for row in rows]
    rows.append(ops.iota(shape=tuple(rows[0].shape), axis=rows[0].ndim - 1, dtype=INT32))
    block = 2
    while block <= length:
        distance = block // 2
        while distance:
            rows = _exchanged(app, region, rows, size, block, distance)
            distance //= 2
        block *= 2
    return [xp.moveaxis(row[..., :size], -1, axis) for row in rows[:-1]]


def _exchanged(
    app: Application, region: Region, rows: list[Any], size: int, block: int, distance: int
) -> list[Any]:
    """One stage: each element meets the one at `distance`, and they change places where they must."""
    shape = tuple(rows[0].shape)
    pairs = (*shape[:-1], shape[-1] // (2 * distance), 2, distance)
    parted = [xp.reshape(row, pairs) for row in rows]
    lows, highs = [p[..., 0, :] for p in parted], [p[..., 1, :] for p in parted]
    position = np.arange(shape[-1]).reshape(pairs[-3:])[:, 0, :]
    is_rising = xp.asarray((position & block) == 0)
    swap = xp.logical_xor(_comes_before(app, region, highs, lows, size), xp.logical_not(is_rising))
    new_low = [xp.where(swap, h, low) for low, h in zip(lows, highs, strict=True)]
    new_high = [xp.where(swap, low, h) for low, h in zip(lows, highs, strict=True)]
    return [xp.reshape(xp.stack([low, h], axis=-2), shape) for low, h in zip(new_low, new_high, strict=True)]


def _comes_before(app: Application, region: Region, xs: list[Any], ys: list[Any], size: int) -> Any:
    """Whether `x` is to stand before `y`, elementwise; no two elements are equal, as positions differ."""
    shape = tuple(xs[0].shape)
    compare = vmap(lambda pair: as_array(app.run(region, pair)[0]))

    def ask(a: list[Any], b: list[Any]) -> Any:
        flat = [xp.ravel(v) for both in zip(a, b, strict=True) for v in both]
        return xp.reshape(compare(flat), shape)

    *a, i = xs
    *b, j = ys
    less, greater = ask(a, b), ask(b, a)
    first = less | (~greater & (i < j))
    return xp.where(i >= size, (j >= size) & (i < j), (j >= size) | first)


def _top_k(app: Application) -> Any:
    values, positions = ops.top_k(app.array(), k=app.attribute("k"))
    return [values, positions]


RULES: Final[dict[str, Rule]] = {"chlo.top_k": _top_k, "stablehlo.sort": _sort}
