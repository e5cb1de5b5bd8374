"""Loops whose lengths show at the call: which are kernels, and that they compute what is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.dialects import mlir
from adze.passes.analysis.evaluate import evaluate
from adze.passes.lower.kernels.loops.replace import FAULT

from .checked import run_checked
from .interpreter import run_kernel
from .test_loops import decisions, remarks, same

RNG = np.random.default_rng(11)
W: Final = RNG.standard_normal((4, 4)).astype(np.float32) * 0.3
HALF: Final = np.float32(0.5)
LENGTHS: Final = (0, 1, 2, 7, 1000)
FEW: Final = (0, 1, 2, 7, 300)


def filtered(x: Any) -> Any:
    return lax.scan(lambda c, u: (c * HALF + u, c), np.float32(1), x)


def last_alone(x: Any) -> Any:
    return lax.scan(lambda c, u: (c * HALF + u, None), np.float32(1), x)[0]


def from_the_end(x: Any) -> Any:
    return lax.scan(lambda c, u: (c * HALF + u, c + u), np.float32(1), x, reverse=True)


def recurrent(x: Any) -> Any:
    return lax.scan(lambda c, u: (xp.tanh(c @ W + u), c), np.ones(4, np.float32), x)


def several(x: Any, y: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        (h, n), (a, b) = carry, row
        return (xp.tanh(h @ W + a) * b, n + 1), (h.sum(), a * b, n)

    return lax.scan(step, (np.ones(4, np.float32), np.int32(0)), (x, y))


def loss(x: Any, w: Any) -> Any:
    return (lax.scan(lambda c, u: (xp.tanh(c @ w + u), c.sum()), np.ones(4, np.float32), x)[1] ** 2).sum()


def gradients(x: Any, w: Any) -> Any:
    return adze.value_and_grad(loss, argnums=(0, 1))(x, w)


def gradients_from_the_end(x: Any) -> Any:
    def total(x: Any) -> Any:
        after, rows = lax.scan(lambda c, u: (xp.sin(c * u), c * u), np.ones(4, np.float32), x, reverse=True)
        return after.sum() + (rows**2).sum()

    return adze.grad(total)(x)


def pushed(x: Any, w: Any) -> Any:
    return adze.jvp(loss, (x, w), (x * HALF, w))


def batched(x: Any, w: Any) -> Any:
    return adze.vmap(adze.value_and_grad(loss), in_axes=(0, None))(x, w)


def twice(x: Any) -> Any:
    return adze.grad(lambda x: (adze.grad(loss)(x, W) ** 2).sum())(x)


def summed(x: Any) -> Any:
    return lax.fori_loop(0, x.shape[0], lambda i, c: c * HALF + x[i], np.float32(0))


def counted_from_the_end(x: Any) -> Any:
    return lax.fori_loop(0, x.shape[0], lambda i, c: c * HALF + x[-i - 1], np.float32(0))


def clamped(x: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return c * HALF + lax.dynamic_slice(x, (i * 3 - 2,), (1,))[0]

    return lax.fori_loop(0, x.shape[0], step, np.float32(0))


def neighbours(x: Any) -> Any:
    return lax.fori_loop(1, x.shape[0], lambda i, c: c.at[i].set(c[i - 1] * HALF + c[i]), x)


def neighbours_twice(x: Any) -> Any:
    """The second loop goes on in the array of the first."""
    return neighbours(neighbours(x))


def dropped(x: Any) -> Any:
    return lax.fori_loop(0, x.shape[0], lambda i, c: c.at[i * 2 - 1].add(HALF), x)


def chosen_rows(x: Any, places: Any) -> Any:
    return lax.scan(lambda c, k: (c * HALF + x[k], c), np.zeros(3, np.float32), places)


def counts(x: Any) -> Any:
    numbers = xp.arange(x.shape[0]).astype(np.float32)
    return lax.scan(lambda c, row: (c * HALF + row[0] * row[1], c), np.float32(0), (numbers, x))


def known_inside(x: Any) -> Any:
    def step(c: Any, u: Any) -> Any:
        return lax.fori_loop(0, 3, lambda j, c: c.at[j].set(c[j + 1] * HALF + u[j]), c), c.sum()

    return lax.scan(step, np.ones(4, np.float32), x)


def named_inside(x: Any) -> Any:
    def step(c: Any, u: Any) -> Any:
        return lax.scan(lambda a, v: (a * HALF + v * u, None), c, x)[0], c

    return lax.scan(step, np.float32(1), x)


def branches(x: Any) -> Any:
    def step(c: Any, u: Any) -> Any:
        return lax.cond(u > 0, lambda c: c + u, lambda c: c * HALF, c), c

    return lax.scan(step, np.float32(1), x)


def of_dtype(x: Any) -> Any:
    zero = np.zeros((), x.dtype)
    step = (lambda c, u: (c ^ u, c | u)) if x.dtype == np.bool_ else (lambda c, u: (c + u, c * u))
    return lax.scan(step, zero, x), lax.scan(step, np.zeros(3, x.dtype), xp.stack([x, x, x], 1))


# -- arrays of named sizes that a step computes ------------------------------------------------------


def repeated(step: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    def loop(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, c: step(c), x)

    loop.__name__ = name
    return loop


STEPS: Final[dict[str, Callable[[Any], Any]]] = {
    "sums_of_columns": lambda c: c * HALF + c.sum(0) * np.float32(0.1),
    "sums_of_rows": lambda c: c * HALF + (c * c).sum(-1).max() * np.float32(0.1),
    "all_but": lambda c: xp.tanh(c * xp.max(c * c, initial=0)) - xp.max(c, axis=0, initial=0),
    "masked": lambda c: xp.where(c > 0, c, c * HALF + xp.arange(c.shape[-1], dtype=np.float32)),
    "turned": lambda c: xp.swapaxes(xp.swapaxes(c, -1, -2) * HALF + 1, -1, -2),
}


def spread(c: Any) -> Any:
    """A step of heat, inside of the borders."""
    beside = c[2:, 1:-1] + c[:-2, 1:-1] + c[1:-1, 2:] + c[1:-1, :-2]
    return c.at[1:-1, 1:-1].add((beside - 4 * c[1:-1, 1:-1]) * np.float32(0.1))


UPDATED: Final[dict[str, Callable[[Any], Any]]] = {
    "spread": spread,
    "inside": lambda c: c.at[1:-1].set(c[1:-1] * HALF + c[2:] * c[:-2]),
    "pushed_back": lambda c: c.at[2:].set(c[:-2] + HALF),
    "padded": lambda c: c * HALF + xp.pad(c, ((1, 0), (2, 3)))[: c.shape[0], : c.shape[1]],
    "moved_up": lambda c: lax.pad(c * HALF, np.float32(2), ((-2, 2, 0), (4, -4, 0))),
    "moving_window": lambda c: lax.dynamic_update_slice(
        c,
        lax.dynamic_slice(c, (1, 0), (c.shape[0], 2)) * HALF + c[:, :2],
        ((c.sum() > 0.5).astype(np.int32), 1),
    ),
}


def parts_at_places(x: Any, y: Any) -> Any:
    """Windows of a named size, at places that a step computes."""

    def step(i: Any, c: Any) -> Any:
        part = lax.dynamic_slice(c, (2 * i - 1,), (y.shape[0],))
        return lax.dynamic_update_slice(c, part * HALF + y, (i,))

    return lax.fori_loop(0, 4, step, x)


def grows(x: Any) -> Any:
    def goes_on(state: Any) -> Any:
        return ((state[0] * state[0]).sum() < 50) & (state[1] < 9)

    return lax.while_loop(goes_on, lambda s: (s[0] * np.float32(1.1) + HALF, s[1] + 1), (x, 0))


def in_turn(x: Any) -> Any:
    def goes_on(state: Any) -> Any:
        return (xp.abs(state[0] - state[1]).sum() > 0.1) & (state[2] < 9)

    return lax.while_loop(goes_on, lambda s: (s[1] * HALF, s[0] * HALF, s[2] + 1), (x, x * 2, 0))


def solved(a: Any, b: Any) -> Any:
    """Conjugate gradients for a positive definite matrix, from zero on."""
    matrix = a @ a.T + xp.eye(a.shape[0], dtype=np.float32)

    def goes_on(state: Any) -> Any:
        return (state[3] > 1e-3) & (state[4] < 4)

    def step(state: Any) -> Any:
        x, rest, towards, square, count = state
        image = matrix @ towards
        length = square / (towards @ image)
        rest = rest - length * image
        after = rest @ rest
        return x + length * towards, rest, rest + after / square * towards, after, count + 1

    return lax.while_loop(goes_on, step, (xp.zeros_like(b), b, b, b @ b, 0))[0]


def combined(x: Any, y: Any) -> Any:
    return lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (x, y), reverse=True)[1]


def first_large(x: Any) -> Any:
    return lax.while_loop(lambda i: (i < 100) & (x[i] < 0.5), lambda i: i + 1, 0)


def looked_up(x: Any) -> Any:
    """A window that the body alone asks for."""
    step = lambda s: (s[0] + 1, x[s[0]])  # noqa: E731
    return lax.while_loop(lambda s: (s[0] < 100) & (s[1] < 0.5), step, (0, np.float32(0)))


def exchanged(x: Any, y: Any) -> Any:
    return lax.fori_loop(0, x.shape[0], lambda i, s: (s[1].at[i].set(s[0][i]), s[0]), (x, y))


def stacked_inside(x: Any) -> Any:
    return lax.scan(lambda c, u: (filtered(x)[1].sum() * u + c * HALF, c), np.float32(1), x * HALF)


def batch_of_rows(x: Any) -> Any:
    zeros = xp.zeros((x.shape[1], 4), np.float32)
    return lax.scan(lambda c, u: (xp.tanh(c @ W + u), c * u.sum()), zeros, x)


def gates(x: Any) -> Any:
    def step(state: Any, u: Any) -> Any:
        a, b = xp.split(xp.concatenate([u, state], 1) @ np.concatenate([W, W]), 2, 1)
        return xp.concatenate([a * b, xp.tanh(a)], 1), None

    return lax.scan(step, xp.zeros((x.shape[1], 4), np.float32), x)[0]


def gradients_of_a_batch(x: Any) -> Any:
    def total(x: Any) -> Any:
        after, rows = batch_of_rows(x)
        return after.sum() + (rows * rows).sum()

    return adze.grad(total)(x)


def gradients_of_updates(x: Any) -> Any:
    def total(x: Any) -> Any:
        step = lambda i, c: c.at[i].set(xp.sin(c[i - 1]) * c[i])  # noqa: E731
        return (lax.fori_loop(1, x.shape[0], step, x) ** 2).sum()

    return adze.grad(total)(x)


# -- reshapes, and elements at places of a named number -------------------------------------------------


def searched(table: Any, x: Any) -> Any:
    return xp.searchsorted(xp.sort(table), x), xp.searchsorted(table, x, side="right")


def interpolated(x: Any, y: Any, at: Any) -> Any:
    return xp.interp(at, xp.sort(x), y)


RESHAPED: Final[dict[str, Callable[[Any], Any]]] = {
    "columns_beside": lambda c: c * HALF + c[:, None, :].sum(1),
    "flat": lambda c: (c.reshape(-1) * HALF + 1).reshape(c.shape),
    "flat_from_behind": lambda c: c.reshape(-1)[::-1].reshape(c.shape) + HALF,
    "a_row": lambda c: c * HALF + c.sum(0).reshape(1, -1),
    "a_column": lambda c: c * c.max(1, initial=0).reshape(-1, 1),
    "greatest_of_rows": lambda c: c * HALF + xp.pad(c, ((0, 0), (0, 1))).argmax(1)[:, None].astype(c.dtype),
    "least_of_columns": lambda c: c * HALF + xp.pad(c, ((1, 0), (0, 0))).argmin(0).astype(c.dtype),
    "in_pairs": lambda c: xp.concatenate([c, c], 1).reshape(c.shape[0], 2, c.shape[1]).sum(1) * HALF,
}


def places(x: Any) -> Any:
    """As many places as there are rows, some of them outside."""
    return (xp.arange(x.shape[0]) * 7) % (x.shape[0] + 2) - 1


TAKEN: Final[dict[str, Callable[[Any], Any]]] = {
    "rows_at": lambda c: c * HALF + xp.take(c, places(c), axis=0, mode="clip"),
    "rows_filled": lambda c: c * HALF + xp.take(c, places(c), axis=0, mode="fill", fill_value=2),
    "one_of_each_row": lambda c: c * HALF + c[xp.arange(c.shape[0]), places(c)][:, None],
    "put": lambda c: c.at[places(c)].set(c * HALF, mode="drop"),
    "added": lambda c: c.at[places(c), 1].add(c[:, 0] * HALF),
    "from_behind": lambda c: c[::-1] * HALF + c[:, ::-1],
}


def orbits(x: Any, y: Any) -> Any:
    def step(i: Any, s: Any) -> Any:
        return s[0] + HALF * s[1] - i, s[1] * HALF - s[0]

    return lax.fori_loop(0, 5, step, (x, y))


def until_large(x: Any) -> Any:
    """Each element of a batch runs until it is large itself."""

    def alone(v: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] * 2 + 1, s[1] + 1), (v, np.int32(0)))

    return adze.vmap(alone)(abs(x))


def together(x: Any) -> Any:
    return lax.while_loop(lambda s: (s < 4).any(), lambda s: xp.where(s < 4, s * 2 + 1, s), abs(x))


def chosen(x: Any, y: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return lax.cond(i % 2 == 0, lambda c: c + y, lambda c: c * HALF, c)

    return lax.fori_loop(0, 5, step, x)


def from_zeros(x: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, c: c + x, xp.zeros_like(x))


def of_ones(x: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, c: c * 2 + 1, xp.ones(x.shape, np.float32))


def flags(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: (c[0] * 2, c[1] & (c[0] < 1)), (x, x < 1))


def remainders(x: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, c: (c * 3 + 1) % 7, x)


def nested(x: Any) -> Any:
    """Loops in a loop, which count up and down."""

    def step(i: Any, c: Any) -> Any:
        c = lax.fori_loop(0, 3, lambda j, d: d * HALF + j * i, c)
        down = lax.scan(lambda d, j: (d * HALF - j, None), c, xp.arange(i.dtype.type(4)), reverse=True)[0]
        return lax.fori_loop(0, 2, lambda j, d: lax.fori_loop(0, 2, lambda k, e: e + j * k, d), down) + x

    return lax.fori_loop(0, 4, step, x)


def apart(x: Any, y: Any) -> Any:
    """Arrays of two sizes that have nothing to do with each other."""
    return lax.fori_loop(0, 4, lambda i, c: (c[0] * 2, c[1] + 1), (x, y))


def with_its_sum(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: c * HALF + c.sum(), x)


def with_its_size(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: c * HALF + x.shape[0], x)


BY_THEMSELVES: Final = (
    *((orbits, shapes) for shapes in ([("n",)] * 2, [("n", "m")] * 2, [("n", 3)] * 2)),
    *((function, [("n",)]) for function in (until_large, together, from_zeros, of_ones, flags, nested)),
    (chosen, [("n",)] * 2),
)
TOGETHER: Final = (
    (apart, [("n",), ("m",)]),
    (apart, [("n", "m"), ("m", "n")]),
    (with_its_sum, [("n",)]),
    (with_its_size, [("n",)]),
)


@dataclass(frozen=True)
class Case:
    """A function of arrays whose sizes are named, and how many kernels its loops become."""

    function: Callable[..., Any]
    shapes: Sequence[tuple[Any, ...]]
    kernels: int = 1
    dtype: Any = np.float32
    lengths: Sequence[int] = LENGTHS

    @property
    def checked(self) -> Sequence[int]:
        """The lengths of runs that check every access: long enough for vectors where rows are few."""
        short = (0, 1, 2, 5) if 0 in self.lengths else (1, 2, 5)
        return (*short, 140) if self.shapes[0] == (3, "m") else short

    @property
    def name(self) -> str:
        sizes = "x".join(str(n) for n in self.shapes[0])
        return f"{self.function.__name__}-{sizes}-{np.dtype(self.dtype).name}"

    def traced(self) -> Any:
        return adze.trace(self.function, *(adze.ShapeDtype(shape, self.dtype) for shape in self.shapes))

    def arrays(self, length: int) -> list[np.ndarray]:
        named = {"t": length, "n": length, "m": length + 3, "b": length % 5}
        shapes = [tuple(named.get(n, n) for n in shape) for shape in self.shapes]
        return [numbers(shape, np.dtype(self.dtype), length + 7 * k) for k, shape in enumerate(shapes)]


def numbers(shape: tuple[int, ...], dtype: np.dtype, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype.kind in "biu":
        return rng.integers(0, 5, shape).astype(dtype)
    parts = rng.standard_normal(shape) * 0.3
    return (parts + 1j * rng.standard_normal(shape) if dtype.kind == "c" else parts).astype(dtype)


ROWS: Final = (("t", 4),)
DTYPES: Final = ("b1", "i1", "i4", "i8", "u1", "u4", "f2", ml_dtypes.bfloat16, "f8", "c8", "c16")
CASES: Final = [
    *(Case(f, [("t",)]) for f in (filtered, last_alone, from_the_end, summed, counted_from_the_end, clamped)),
    *(Case(f, [("t",)]) for f in (neighbours, dropped, counts, branches, named_inside)),
    *(Case(f, ROWS) for f in (recurrent, known_inside)),
    Case(neighbours_twice, [("t", 3)], 2),
    Case(several, [("t", 4), ("t",)]),
    Case(gradients, [("t", 4), (4, 4)], 3),
    Case(gradients_from_the_end, ROWS, 3),
    Case(pushed, [("t", 4), (4, 4)]),
    Case(batched, [(3, "t", 4), (4, 4)], 3),
    Case(twice, ROWS, 7),
    *(Case(of_dtype, [("t",)], 2, dtype) for dtype in DTYPES),
    *(
        Case(repeated(step, name), [shape], lengths=FEW)
        for name, step in STEPS.items()
        for shape in (("n", "m"), ("n", 5), (3, "m"))
    ),
    *(Case(repeated(step, name), [("n", "m")], lengths=FEW) for name, step in UPDATED.items()),
    Case(parts_at_places, [("m",), ("n",)], lengths=FEW),
    *(Case(function, [("n",)], lengths=FEW) for function in (grows, in_turn)),
    Case(solved, [("n", "n"), ("n",)], lengths=(0, 1, 2, 30)),
    Case(combined, [("t", 3), ("t", 3)]),
    Case(first_large, [("t",)], lengths=LENGTHS[1:]),
    *(Case(function, [("t", "b", 4)], lengths=FEW) for function in (batch_of_rows, gates)),
    Case(gradients_of_a_batch, [("t", "b", 4)], 3, lengths=FEW),
    Case(gradients_of_updates, [("t",)], 3, lengths=FEW[1:]),  # none is an error of the host's loop, too
    Case(exchanged, [("t",), ("t",)], lengths=FEW),
    Case(stacked_inside, [("t",)], lengths=FEW),
    *(
        Case(searched, [("n",), ("m",)], 2, dtype, lengths=FEW)
        for dtype in ("i1", "i8", "u4", "f2", "f4", "f8")
    ),
    Case(interpolated, [("t",), ("t",), ("m",)], lengths=FEW[1:]),
    *(
        Case(repeated(step, name), [shape], lengths=FEW)
        for name, step in {**RESHAPED, **TAKEN}.items()
        for shape in (("n", "m"), ("n", 5))
    ),
    Case(repeated(lambda c: c * HALF + xp.cumsum(c, 1)[:, ::-1], "running"), [("n", 5)], lengths=FEW),
    Case(looked_up, [("t",)], lengths=LENGTHS[1:]),
    *(Case(f, shapes) for f, shapes in (*BY_THEMSELVES, *TOGETHER) if f is not chosen),
    *(Case(orbits, [("n",)] * 2, dtype=dtype) for dtype in ("f8", "c8")),
    *(Case(remainders, [("n", "m")], dtype=dtype) for dtype in ("i1", "u4", "i8")),
]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def expected(traced: Any, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        results = evaluate(traced.program.module, traced.program.symbol, list(arrays))
    return [np.asarray(result) for result in results]


@pytest.mark.one_in(3)
@each_case
def test_they_are_kernels_that_compute_what_is_evaluated(case: Case) -> None:
    traced = case.traced()
    assert decisions(traced) == ["kernel"] * case.kernels
    compiled = traced.lower().compile()
    for length in case.lengths:
        arrays = case.arrays(length)
        given = [array.copy() for array in arrays]
        found = adze.tree.leaves(compiled(*given))
        same(found, expected(traced, arrays), f"{case.name} of {length}")
        for before, after in zip(arrays, given, strict=True):
            np.testing.assert_array_equal(before, after, "an argument has changed")


@pytest.mark.one_in(3)
@each_case
def test_every_access_is_inside(case: Case) -> None:
    traced = case.traced()
    for length in case.checked:
        arrays = case.arrays(length)
        checked = run_checked(traced, arrays)
        assert checked.kernels == case.kernels
        same(checked.results, expected(traced, arrays), f"{case.name} of {length}")


@pytest.mark.parametrize(("function", "shapes"), [*BY_THEMSELVES, *TOGETHER])
def test_which_elements_run_by_themselves(function: Any, shapes: Sequence[tuple[Any, ...]]) -> None:
    found = remarks(adze.trace(function, *(adze.ShapeDtype(shape, np.float32) for shape in shapes)))
    is_alone = (function, shapes) in BY_THEMSELVES
    assert ["each of its elements runs by itself" in text for text in found] == [is_alone]


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 70])
def test_elements_by_themselves_are_inside(count: int) -> None:
    """The vector code, run by an interpreter that checks every access."""
    traced = adze.trace(orbits, *[adze.ShapeDtype(("n",), np.float32)] * 2)
    context = mlir.new_context()
    with context:
        module = mlir.ir.Module.parse(traced.lower("cpu:x86-64-v3").mlir())
        x, y = (numbers((count,), np.dtype(np.float32), seed) for seed in (1, 2))
        found = run_kernel(module, "kernel_loop_of_elements", [x, y, np.arange(5), count], 1)
    same(found, expected(traced, [x, y]), f"{count}")


@pytest.mark.parametrize("count", [20, 33])
def test_loops_in_loops_of_known_sizes(count: int) -> None:
    traced = adze.trace(nested, adze.ShapeDtype((count,), np.float32))
    assert [f"each of its {count} elements runs by itself" in text for text in remarks(traced)] == [True]
    arrays = [numbers((count,), np.dtype(np.float32), 3)]
    same([traced.lower().compile()(*arrays)], expected(traced, arrays), f"{count}")


def test_branches_of_elements_by_themselves() -> None:
    traced = adze.trace(chosen, *[adze.ShapeDtype(("n",), np.float32)] * 2)
    compiled = traced.lower().compile()
    for count in LENGTHS:
        arrays = [numbers((count,), np.dtype(np.float32), seed) for seed in (1, 2)]
        same([compiled(*arrays)], expected(traced, arrays), f"{count}")


def test_windows_that_do_not_fit_are_an_error_where_the_loop_has_steps() -> None:
    def first(x: Any, steps: Any) -> Any:
        return lax.scan(
            lambda c, u: (c + lax.dynamic_slice(x, (0,), (2,)).sum() * u, None), np.float32(0), steps
        )[0]

    traced = adze.trace(first, *(adze.ShapeDtype((name,), np.float32) for name in "nt"))
    assert decisions(traced) == ["kernel"]
    compiled, empty, two = traced.lower().compile(), np.ones(0, np.float32), np.ones(2, np.float32)
    assert compiled(two, two) == 4
    assert compiled(two[:1], empty) == 0
    with pytest.raises(RuntimeError, match="the window exceeds axis 0 of the array"):
        compiled(two[:1], two)


def test_a_window_of_a_condition_is_checked_before_the_loop() -> None:
    compiled = adze.trace(first_large, adze.ShapeDtype(("t",), np.float32)).lower().compile()
    with pytest.raises(RuntimeError, match="the window exceeds axis 0 of the array"):
        compiled(np.ones(0, np.float32))


@pytest.mark.parametrize("first", [2, 3])
def test_a_window_of_a_body_is_checked_where_its_loop_has_a_step(first: int) -> None:
    def last_of_many(x: Any) -> Any:
        start = np.float32(-1), xp.asarray(x.shape[0] + np.int64(first))
        return lax.while_loop(lambda s: s[1] > 2, lambda s: (x[s[1] - 8], s[1] - 1), start)[0]

    traced = adze.trace(last_of_many, adze.ShapeDtype(("t",), np.float32))
    assert decisions(traced) == ["kernel"]
    compiled, empty = traced.lower().compile(), np.ones(0, np.float32)
    assert compiled(np.full(4, 3, np.float32)) == 3
    if first == 2:
        assert compiled(empty) == -1
        return
    with pytest.raises(RuntimeError, match="the window exceeds axis 0 of the array"):
        compiled(empty)


def test_arrays_of_unequal_length_are_an_error() -> None:
    def products(x: Any, y: Any) -> Any:
        return lax.scan(lambda c, row: (c + row[0] * row[1], None), np.float32(0), (x, y))[0]

    traced = adze.trace(products, *[adze.ShapeDtype((None,), np.float32)] * 2)
    assert decisions(traced) == ["kernel"]
    compiled, ones = traced.lower().compile(), np.ones(4, np.float32)
    assert compiled(ones, ones) == 4
    with pytest.raises(RuntimeError, match="scan over arrays of unequal length"):
        compiled(ones[1:], ones)


def test_what_asks_for_windows_under_a_condition_stays_on_the_host() -> None:
    def search(x: Any) -> Any:
        step = lambda s: (s[0] + 1, x[s[0]])  # noqa: E731
        return lax.while_loop(lambda s: (s[0] < 100) & (s[1] < 1), step, (0, x.sum()))

    def chosen(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, c: lax.cond(c.sum() > 0, lambda c: c * 2, lambda c: c - 1, c), x)

    for function in (search, chosen):
        traced = adze.trace(function, adze.ShapeDtype(("t",), np.float32))
        assert decisions(traced) == ["host"]
        assert not [remark for remark in remarks(traced) if FAULT in remark]
        arrays = [numbers((20,), np.dtype(np.float32)) + 0.9]
        same(adze.tree.leaves(traced.lower().compile()(*arrays)), expected(traced, arrays), function.__name__)


@pytest.mark.parametrize("shape", [("h", "w"), (66, 67)])
def test_windows_of_a_stencil_are_read_where_they_lie(shape: tuple[Any, ...]) -> None:
    heat = repeated(spread, "heat")
    module = adze.trace(heat, adze.ShapeDtype(shape, np.float32)).mlir("loop-kernels")
    assert module.count("flow.tensor.alloca") == 2  # the result, and what a step computes of it


@pytest.mark.parametrize("sizes", [("n", "m"), (3000, 700)])
def test_places_are_computed_where_they_are_kept(sizes: tuple[Any, ...]) -> None:
    def search(table: Any, x: Any) -> Any:
        step = lambda i, c: xp.where(table[c] < x, c + i, c)  # noqa: E731
        return lax.fori_loop(0, 9, step, xp.zeros(x.shape, np.int64))

    module = adze.trace(search, *(adze.ShapeDtype((n,), np.float32) for n in sizes)).mlir("loop-kernels")
    assert module.count("flow.tensor.alloca") == 1  # the result


def test_heavy_products_of_named_sizes_stay_on_the_host() -> None:
    square = adze.ShapeDtype(("n", "n"), np.float32)
    traced = adze.trace(lambda x: lax.fori_loop(0, 3, lambda i, c: xp.tanh(c @ c), x), square)
    assert decisions(traced) == ["host"]
