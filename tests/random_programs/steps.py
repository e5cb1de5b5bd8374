"""The steps of random compositions (`composed.py`): functions of arrays that both adze and JAX have.

Input: a `Drawing`, which knows the arrays so far, and one of them. Output: a new array, of which no value is
much greater than those before. Each function of `STEPS` is one family of array functions; where it does not
apply, an elementwise function does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .array_values import kind_of, number
from .drawing import Drawing, Step, root, scale

MOST_PRODUCTS: Final = 20_000_000
SIZES: Final = (1, 2, 3, 16, 17, 33, 64, 65, 130)


def elementwise(d: Drawing, x: Any) -> Any:
    xp, what = d.np, d.rng.randrange(9)
    if kind_of(x) == "b":
        return ~x if what < 5 else d.cast(x, np.dtype(np.int32))
    n = {value: number(value, x) for value in (0.25, 1, 2, 3, 7, 13, 40)}
    tables: dict[str, Any] = {
        "i": lambda: (
            *(x * n[3] + n[1], x // n[3], x % n[7], x & n[13], x ^ n[7]),
            *(xp.clip(x, n[3], n[40]), -x, xp.maximum(x, n[13]), x >> n[1]),
        ),
        "c": lambda: (
            *(x * number(0.5 + 0.5j, x), xp.conj(x), x / (n[2] + x * xp.conj(x)), xp.abs(x), xp.real(x)),
            *(xp.tanh(x * n[0.25]), xp.exp(number(1j, x) * xp.real(x)), x - n[0.25], xp.imag(x)),
        ),
        "f": lambda: (
            *(xp.sin(x), xp.tanh(x + n[0.25]), xp.exp(-x * x), xp.sqrt(n[1] + x * x) - n[1]),
            *(x / (n[1] + x * x), xp.maximum(x, n[0.25] * x), xp.log1p(x * x)),
            *(d.library.nn.sigmoid(x), xp.clip(x, -n[2], n[2])),
        ),
    }
    return tables["i" if kind_of(x) == "u" else kind_of(x)]()[what]


def of_two(d: Drawing, x: Any) -> Any:
    """An elementwise function of two arrays, the second of which may be a broadcast one."""
    xp, what = d.np, d.rng.randrange(5)
    y = d.fitted(d.rng.choice(d.pool), x.shape, x.dtype)
    if kind_of(x) == "b":
        return (x ^ y, x & y, x | y, ~x & y, x == y)[what]
    if kind_of(x) in "iu":
        return (x + y, x * y, xp.minimum(x, y), x - y, d.cast(x > y, x.dtype) + x)[what]
    half, one = number(0.5, x), number(1, x)
    if kind_of(x) == "c":
        products = (x * half * xp.conj(y), x * xp.exp(-y * xp.conj(y)))
        return (x + y * number(0.5j, x), *products, x - y, x * half)[what]
    quotients = (x / (one + y * y), xp.arctan2(x, one + y * y))
    return (x * half + y, x * xp.cos(y), xp.maximum(x, y), *quotients)[what]


def reduction(d: Drawing, x: Any) -> Any:
    """Over some axes, in any order."""
    if not x.shape:
        return elementwise(d, x)
    xp, kind, what = d.np, kind_of(x), d.rng.randrange(8)
    axes = tuple(d.rng.sample(range(len(x.shape)), d.rng.randint(1, max(1, len(x.shape) - 1))))
    options = {"axis": axes, "keepdims": d.rng.random() < 0.4}
    if what <= 1 and kind in "iuf":
        return (xp.max, xp.min)[what](x, **options)
    if what == 2 and kind in "fc":
        return xp.mean(x, **options)
    if what == 3 and kind == "f":
        return xp.var(x, **options)
    if what == 4 and kind in "iu":
        return xp.argmax(x, axis=axes[0]).astype(np.int32)
    if what == 4 and kind == "f":
        return d.library.nn.logsumexp(x, **options) * number(0.25, x)
    if what == 5 and kind == "b":
        return xp.all(x, **options)
    return d.summed(x, axes, options["keepdims"])


def normalized(d: Drawing, x: Any) -> Any:
    """An array less or by its own reduction."""
    if kind_of(x) != "f" or not x.shape:
        return elementwise(d, x)
    xp, nn, axis, what = d.np, d.library.nn, d.axis(x), d.rng.randrange(5)
    if what == 0:
        return nn.softmax(x, axis=axis)
    if what == 1:
        return nn.log_softmax(x, axis=axis) * number(0.25, x)
    if what == 2:
        return x - xp.mean(x, axis=axis, keepdims=True)
    if what == 3:
        axes = tuple(d.rng.sample(range(len(x.shape)), min(2, len(x.shape))))
        spread = xp.sqrt(xp.var(x, axes, keepdims=True) + number(0.5, x))
        return (x - xp.mean(x, axes, keepdims=True)) / spread
    return x / (number(1, x) + xp.sum(x * x, axis=axis, keepdims=True)) * number(4, x)


def movement(d: Drawing, x: Any) -> Any:
    xp, rng, rank = d.np, d.rng, len(x.shape)
    if not rank:
        return xp.broadcast_to(x, (rng.choice(SIZES), rng.choice(SIZES)))
    axis, what = d.axis(x), rng.randrange(7)
    if what == 0:
        return xp.flip(x, axis)
    if what == 1:
        return xp.roll(x, rng.randint(-5, 70), axis)
    if what == 2 and rank < 4:
        shape = (*x.shape[:axis], rng.choice(SIZES), *x.shape[axis:])
        return xp.broadcast_to(xp.expand_dims(x, axis), shape)
    if what == 3 and axis + 1 < rank:
        return x.reshape((*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :]))
    parts = [part for part in (2, 3, 4, 5, 8, 13) if x.shape[axis] % part == 0]
    if what == 4 and parts and rank < 4:
        part = rng.choice(parts)
        return x.reshape((*x.shape[:axis], part, x.shape[axis] // part, *x.shape[axis + 1 :]))
    if what == 5:
        return xp.repeat(x, rng.randint(1, 3), axis)
    return xp.transpose(x, rng.sample(range(rank), rank))


def cut(d: Drawing, x: Any) -> Any:
    """A slice of each axis, with steps in both directions."""
    at = []
    for size in x.shape:
        start = d.rng.randint(0, min(4, size - 1))
        stop = size if d.rng.random() < 0.5 else max(start + 1, size - d.rng.randint(0, 9))
        step = d.rng.choice((1, 1, 1, 2, 3, -1))
        back = slice(stop - 1, start - 1 if start else None, -1)
        at.append(back if step < 0 else slice(start, stop, step))
    return x[tuple(at)] if x.shape else x


def joined(d: Drawing, x: Any) -> Any:
    if not x.shape:
        return d.np.stack([x, d.other((), x.dtype), x])
    axis = d.axis(x)
    shape = (*x.shape[:axis], d.rng.choice((1, 3, x.shape[axis])), *x.shape[axis + 1 :])
    y = d.other(shape, x.dtype)
    if shape == tuple(x.shape) and len(shape) < 4 and d.rng.random() < 0.4:
        return d.np.stack([x, y], axis)
    return d.np.concatenate(d.rng.choice(([x, y], [y, x], [x, y, x])), axis)


def padded(d: Drawing, x: Any) -> Any:
    if not x.shape:
        return elementwise(d, x)
    rng, what = d.rng, d.rng.randrange(3)
    if what == 0 and min(x.shape) > 1:
        widths = [(rng.randint(0, 1), rng.choice((0, 0, 1))) for _ in x.shape]
        return d.np.pad(x, widths, mode=rng.choice(("edge", "reflect", "wrap")))
    if what == 1:  # which crops, and pads between elements
        config = [(rng.randint(-min(1, n - 1), 4), rng.randint(0, 3), rng.choice((0, 0, 1))) for n in x.shape]
        return d.library.lax.pad(x, number(1, x), config)
    return d.np.pad(x, [(rng.choice((0, 0, 1, 3)), rng.choice((0, 0, 2))) for _ in x.shape])


def chosen(d: Drawing, x: Any) -> Any:
    """One of two arrays by a mask of positions, of integers or of bools."""
    xp, y = d.np, d.fitted(d.rng.choice(d.pool), x.shape, x.dtype)
    if not x.shape:
        return xp.where(d.scope.places[3] > 25, x, y)
    axis, what = d.axis(x), d.rng.randrange(4)
    if what == 0:
        exact = [d.scope.integers, *(z for z in d.pool if kind_of(z) in "biu")]
        mask = d.fitted(d.rng.choice(exact), x.shape, np.dtype(np.int32)) % 3 == 1
    elif what == 1:
        rows = xp.arange(x.shape[axis]).reshape((-1, *(1,) * (len(x.shape) - axis - 1)))
        mask = rows >= xp.arange(x.shape[-1]) - d.rng.randint(-3, 9)
    elif what == 2 or len(x.shape) == 1:
        mask = d.library.lax.broadcasted_iota(np.int32, x.shape, axis) % 3 != 0
    else:
        return xp.tril(x, d.rng.randint(-2, 5))
    return xp.where(mask, x, y) if d.rng.random() < 0.7 else xp.where(mask, x, number(0, x))


def product(d: Drawing, x: Any) -> Any:
    """A contraction of one axis, or a batch of products."""
    rng, what = d.rng, d.rng.randrange(4)
    if kind_of(x) == "b" or not x.shape:
        return elementwise(d, x)
    if what == 0 and len(x.shape) > 1 and x.size * x.shape[-2] < MOST_PRODUCTS:
        y = d.other(x.shape, x.dtype)
        return d.np.matmul(x, d.np.swapaxes(y, -1, -2)) * scale(x, x.shape[-1])
    axis, width = d.axis(x), rng.choice(SIZES)
    if x.size * width > MOST_PRODUCTS:
        return reduction(d, x)
    if what == 1 and len(x.shape) == 3:
        return _batch_of_products(d, x, axis, width)
    shape, at = ((x.shape[axis], width), 0) if rng.random() < 0.5 else ((width, x.shape[axis]), 1)
    left, right, axes = x, d.other(shape, x.dtype), ((axis,), (at,))
    if rng.random() < 0.3:
        left, right, axes = right, left, axes[::-1]
    return d.library.lax.dot_general(left, right, (axes, ((), ()))) * scale(x, x.shape[axis])


def _batch_of_products(d: Drawing, x: Any, axis: int, width: int) -> Any:
    """An einsum of three axes each, one a batch, with axes in any order."""
    batch = d.rng.choice([a for a in range(3) if a != axis])
    letters, sizes = "abc", {**dict(zip("abc", x.shape, strict=True)), "d": width}
    right = d.rng.sample([letters[axis], letters[batch], "d"], 3)
    result = d.rng.sample([c for c in "abcd" if c != letters[axis]], 3)
    y = d.other([sizes[c] for c in right], x.dtype)
    return d.np.einsum(f"abc,{''.join(right)}->{''.join(result)}", x, y) * scale(x, x.shape[axis])


def cumulative(d: Drawing, x: Any) -> Any:
    if not x.shape or kind_of(x) == "b":
        return elementwise(d, x)
    lax, axis, what = d.library.lax, d.axis(x), d.rng.randrange(5)
    reverse = d.rng.random() < 0.4
    if what <= 1 and kind_of(x) != "c":
        return (lax.cummax, lax.cummin)[what](x, axis=axis, reverse=reverse)
    if what == 2 and kind_of(x) == "f":
        return lax.cumlogsumexp(x, axis=axis, reverse=reverse) * number(0.25, x)
    if what == 3 and kind_of(x) == "f":
        return d.np.cumprod(d.np.cos(x), axis=axis)
    return lax.cumsum(x * scale(x, x.shape[axis]), axis=axis, reverse=reverse)


def gathered(d: Drawing, x: Any) -> Any:
    if not x.shape:
        return elementwise(d, x)
    xp, rng, axis, what = d.np, d.rng, d.axis(x), d.rng.randrange(5)
    size, places = x.shape[axis], d.scope.places
    at = ((places * rng.choice((1, 3, 7)) + rng.randint(0, 9)) % size)[: rng.choice((1, 5, 33, 64))]
    if what == 0:
        return xp.take(x, at, axis=axis)
    if what == 1:
        where = d.fitted(d.scope.integers, x.shape, np.dtype(np.int32)) % size
        return xp.take_along_axis(x, xp.broadcast_to(where, x.shape), axis=axis)
    if what == 2 and len(x.shape) > 1:
        index: list[Any] = [slice(None)] * len(x.shape)
        other = (axis + 1) % len(x.shape)
        index[axis], index[other] = at, (at[::-1] * 5) % x.shape[other]
        return x[tuple(index)]
    if what == 3:
        can_sort = kind_of(x) in "iu" or (kind_of(x) == "f" and not d.scope.is_differentiated)
        return xp.sort(x, axis=axis) if can_sort else x[::-1]
    sizes = [max(1, n - rng.randint(0, 5)) for n in x.shape]
    return d.library.lax.dynamic_slice(x, starts(d, x.shape, sizes), sizes)


def starts(d: Drawing, shape: Sequence[int], sizes: Sequence[int]) -> list[Any]:
    """Where a window starts, inside of the array.

    XLA 0.10 takes wrong elements of a window that would leave the array where a gather follows
    (`take(dynamic_slice(x, [22], [59]), [27])` of 64 elements takes element 49 instead of 32).
    """
    both = zip(shape, sizes, strict=True)
    return [d.scope.places[k] % (n - size + 1) for k, (n, size) in enumerate(both)]


def scattered(d: Drawing, x: Any) -> Any:
    """Rows that are added to rows, or replace them."""
    if not x.shape or kind_of(x) == "b":
        return elementwise(d, x)
    rng, axis, what = d.rng, d.axis(x), d.rng.randrange(5)
    size, count, places = x.shape[axis], rng.choice((1, 5, 33, 64)), d.scope.places
    before, after = (slice(None),) * axis, x.shape[axis + 1 :]
    at = (*before, ((places * rng.choice((1, 3, 7))) % size)[:count])
    rows = d.other((*x.shape[:axis], count, *after), x.dtype)
    if what == 0:
        return x.at[at].add(rows * number(0.25 if kind_of(x) in "fc" else 1, x))
    if what == 1 and kind_of(x) != "c":
        return getattr(x.at[at], rng.choice(("max", "min")))(rows)
    if what == 2:
        some = (*before, slice(rng.randint(0, size - 1), None, rng.choice((1, 2, 3))))
        return x.at[some].set(number(0, x)) if rng.random() < 0.5 else x.at[some].multiply(number(2, x))
    if what == 3:
        groups = d.np.resize(places, (x.shape[0],)) % 70
        return d.np.zeros((70, *x.shape[1:]), x.dtype).at[groups].add(x) * scale(x, x.shape[0] / 10)
    window = d.other([max(1, n - rng.randint(0, 9)) for n in x.shape], x.dtype)
    return d.library.lax.dynamic_update_slice(x, window, starts(d, x.shape, window.shape))


def windows(d: Drawing, x: Any) -> Any:
    """Windows along one or two axes, or a stencil."""
    if not x.shape or kind_of(x) in "bc":
        return elementwise(d, x)
    lax, rng, rank, what = d.library.lax, d.rng, len(x.shape), d.rng.randrange(3)
    axes = rng.sample(range(rank), min(rank, rng.randint(1, 2)))
    if what == 2:
        return _stencil(d, x, axes[0])
    size, stride, dilation = [1] * rank, [1] * rank, [1] * rank
    padding: Any = [[0, 0] for _ in range(rank)]
    for a in axes:
        size[a], stride[a] = rng.randint(1, min(4, x.shape[a])), rng.choice((1, 1, 2))
        dilation[a] = rng.choice((1, 1, 2)) if x.shape[a] > 8 and not d.scope.is_differentiated else 1
        padding[a] = [rng.randint(0, 2), rng.randint(0, 2)]
    padding = rng.choice(("SAME", "VALID", padding))
    if what == 0:
        least = -np.inf if kind_of(x) == "f" else np.iinfo(x.dtype).min
        greatest = lax.reduce_window(
            x, number(least, x), lax.max, size, stride, padding, window_dilation=dilation
        )
        # Where all of a window is padding, later steps would make NaN of it.
        return greatest if kind_of(x) in "iu" else d.np.maximum(greatest, number(-4, x))
    total = lax.reduce_window(x, number(0, x), lax.add, size, stride, padding, window_dilation=dilation)
    return total * scale(x, 16)


def _stencil(d: Drawing, x: Any, axis: int) -> Any:
    size, before = x.shape[axis], (slice(None),) * axis
    if size < 3:
        return elementwise(d, x)
    left, middle, right = (x[(*before, slice(k, size - 2 + k))] for k in range(3))
    return (left + right) * scale(x, 4) - middle


def batched(d: Drawing, x: Any) -> Any:
    """A function of rows along any axis."""
    if not x.shape or kind_of(x) != "f":
        return elementwise(d, x)
    out, what, seed = d.axis(x), d.rng.randrange(3), d.seed()

    def row(r: Any) -> Any:
        if what == 0:
            return d.np.sin(r) * d.np.sum(d.np.cos(r)) * number(root(x.size), r)
        if what == 1:
            return d.np.cumsum(r * number(0.125, r), axis=-1) if r.shape else r
        return d.inner(seed, [r]).run(2)

    return d.library.vmap(row, in_axes=d.axis(x), out_axes=0 if what == 2 else out)(x)


STEPS: Final[dict[str, Step]] = {
    **{
        "elementwise": elementwise,
        "elementwise again": elementwise,
        "of two": of_two,
        "of two again": of_two,
    },
    **{"reduction": reduction, "reduction again": reduction, "normalized": normalized},
    **{"movement": movement, "movement again": movement, "cut": cut, "joined": joined, "padded": padded},
    **{"chosen": chosen, "product": product, "cumulative": cumulative, "gathered": gathered},
    **{"scattered": scattered, "windows": windows, "batched": batched},
}
"""By name; what is there twice is drawn twice as often."""
