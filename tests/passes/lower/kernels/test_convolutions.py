"""The kernels of convolutions: every choice of axes within bounds, and what NumPy computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import pytest

from adze.dialects.ops.contraction.convolution import ConvGeneral
from adze.dialects.ops.contraction.convolution_window import Convolution
from adze.dialects.types import FLOAT32, FLOAT64, TensorType
from adze.passes.lower.kernels.contractions import contract
from adze.passes.lower.kernels.convolutions.problems import find_problem
from adze.passes.lower.kernels.copies import Copy, CopyAxis, copied_array, copy_strided, whole
from adze.passes.lower.kernels.epilogues import Epilogue, Step
from adze.passes.lower.tuning import contraction_tiles
from adze.passes.lower.tuning.array_layouts import Layout, plain
from adze.passes.lower.tuning.contraction_tiles import Registers
from adze.passes.lower.tuning.convolution_plans import Attempt, Plan, choices
from adze.passes.lower.tuning.convolution_problems import Problem

from ....selection import part, quick_first
from ..programs import Compiled, lowered_text
from .interpreter import run_kernel
from .test_products import module_with

RNG = np.random.default_rng(11)
LAST: dict[str, Any] = {
    "window_strides": (1, 1),
    "padding": ((0, 0), (0, 0)),
    "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1),
    "lhs_spec": (0, 3, 1, 2),
    "rhs_spec": (3, 2, 0, 1),
    "out_spec": (0, 3, 1, 2),
    "feature_group_count": 1,
    "batch_group_count": 1,
}
FIRST = {"lhs_spec": (0, 1, 2, 3), "rhs_spec": (0, 1, 2, 3), "out_spec": (0, 1, 2, 3)}
GRADIENT = {"lhs_spec": (3, 0, 1, 2), "rhs_spec": (3, 0, 1, 2), "out_spec": (2, 3, 0, 1)}
LINE = {
    "window_strides": (2,),
    "padding": ((1, 2),),
    "lhs_dilation": (1,),
    "rhs_dilation": (1,),
    "lhs_spec": (0, 1, 2),
    "rhs_spec": (0, 1, 2),
    "out_spec": (0, 1, 2),
}

ALIKE = {"lhs_dilation": (2, 3), "padding": ((1, 2), (2, 2)), "out_spec": (0, 3, 2, 1)}

Shape = tuple[int, ...]
CASES: dict[str, tuple[Shape, Shape, dict[str, Any]]] = {
    "last": ((1, 3, 7, 2), (3, 2, 2, 9), {"padding": ((1, 1), (0, 2))}),
    "first": ((2, 2, 4, 7), (3, 2, 3, 2), {**FIRST, "padding": ((1, 0), (-1, 2))}),
    "pointwise": ((1, 5, 3, 3), (6, 5, 1, 1), FIRST),
    "strided": ((1, 6, 9, 2), (2, 3, 2, 5), {"window_strides": (2, 3), "rhs_dilation": (2, 1)}),
    "dilated": ((1, 3, 4, 2), (3, 2, 2, 5), {"lhs_dilation": (2, 3), "padding": ((2, 1), (1, 3))}),
    "phases alike": ((1, 2, 4, 2), (3, 3, 2, 2), ALIKE),
    "no tap": ((1, 3, 4, 2), (1, 1, 2, 5), {"lhs_dilation": (2, 2)}),
    "groups": ((1, 4, 3, 5), (6, 2, 2, 2), {**FIRST, "feature_group_count": 2}),
    "each channel": ((1, 3, 4, 6), (2, 2, 1, 6), {"feature_group_count": 6, "padding": ((0, 1), (1, 0))}),
    "each channel first": ((1, 3, 3, 6), (3, 1, 2, 2), {**FIRST, "feature_group_count": 3}),
    "gradient": ((2, 3, 4, 2), (2, 2, 4, 5), {**GRADIENT, "padding": ((1, 0), (0, 1))}),
    "gradient of each channel": ((1, 3, 4, 5), (1, 2, 3, 5), {**GRADIENT, "batch_group_count": 5}),
    "line": ((2, 3, 11), (4, 3, 4), LINE),
}


QUICK = sorted(CASES, key=lambda name: name in ("last", "first", "dilated", "groups", "gradient"))


def given(shape: Shape) -> np.ndarray:
    """Whole numbers, whose sums are exact."""
    return RNG.integers(-4, 5, shape).astype(np.float32)


def copied(x: np.ndarray, copy: Copy | None) -> np.ndarray:
    """A copy by the kernel, which is what NumPy copies."""
    if copy is None:
        return x
    module = module_with([x.shape], lambda kernels, values: copy_strided(kernels, values[0], copy))
    (got,) = run_kernel(module, "kernel_copy", [x], copy.merged().workgroups)
    assert np.array_equal(got, copied_array(x, copy), equal_nan=True)
    return got


def run_plan(
    plan: Plan,
    problem: Problem,
    image: np.ndarray,
    weights: np.ndarray,
    epilogue: Epilogue | None = None,
    beside: Sequence[np.ndarray] = (),
) -> np.ndarray:
    """The result of a plan as it lies, every access checked."""
    seen, packed = copied(image.reshape(-1), plan.image_copy), copied(weights.reshape(-1), plan.weights_copy)
    operands = [packed, seen] if plan.is_swapped else [seen, packed]
    operands += [x.reshape(-1) for x in beside]
    out = problem.written or plain(problem.out)
    module = module_with(
        [x.shape for x in operands],
        lambda kernels, values: contract(kernels, *values[:2], out, plan.parts, epilogue, values[2:]),
    )
    groups = sum(part.workgroups for part in plan.parts)
    if out.is_padded:  # one more for the zeros around each image, or around all
        head = out.order[0]
        groups += out.shape[head] if out.ranges[head] == (0, out.shape[head]) else 1
    (got,) = run_kernel(module, "kernel_convolution", operands, groups)
    return copied(got, plan.out_copy)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", quick_first(QUICK, 7))
def test_every_choice_of_axes_is_within_bounds(name: str) -> None:
    image, weights, changes = CASES[name]
    attributes = Convolution(**{**LAST, **changes})
    x, k = given(image), given(weights)
    x.flat[x.size // 2], k.flat[-1] = np.nan, np.inf
    want = ConvGeneral.evaluate(x, k, **attributes.keywords)
    problem = find_problem(attributes, image, weights, want.shape)
    assert problem is not None
    seen = set()
    for choice in choices(problem):
        plan = Attempt(problem, Registers(4, 7), 4, False, *choice).plan()
        if plan is None or (choice.columns, choice.is_packed, choice.are_phases_apart) in seen:
            continue
        seen.add((choice.columns, choice.is_packed, choice.are_phases_apart))
        got = run_plan(plan, problem, x, k).reshape(want.shape)
        assert np.array_equal(got, want, equal_nan=True), choice
    assert seen


EDGES: dict[str, tuple[Shape, Shape, dict[str, Any]]] = {
    "last": ((2, 4, 5, 2), (3, 3, 2, 5), {"padding": ((1, 1), (1, 1))}),
    "first": ((1, 2, 4, 5), (5, 2, 3, 3), {**FIRST, "padding": ((1, 1), (1, 1))}),
    "strided": ((1, 6, 7, 2), (3, 3, 2, 4), {"padding": ((1, 1), (0, 2)), "window_strides": (2, 2)}),
    "cropped": ((1, 6, 5, 2), (3, 2, 2, 4), {"padding": ((-1, 2), (1, -1)), "rhs_dilation": (2, 1)}),
    "groups": ((1, 4, 3, 3), (6, 2, 3, 3), {**FIRST, "feature_group_count": 2, "padding": ((1, 1), (1, 1))}),
    "line": ((2, 3, 11), (4, 3, 5), {**LINE, "padding": ((2, 2),), "window_strides": (1,)}),
}


@pytest.mark.each_value
@pytest.mark.parametrize("edges", [(0,), (0, 1)], ids=str)
@pytest.mark.parametrize("name", EDGES)
def test_edges_are_sums_of_their_own(name: str, edges: tuple[int, ...]) -> None:
    """The same results, with fewer multiplications; infinite elements of the image included."""
    image, weights, changes = EDGES[name]
    edges = edges[: len(image) - 2]
    attributes = Convolution(**{**LAST, **changes})
    x, k = given(image), given(weights)
    x.flat[x.size // 2] = np.inf
    want = ConvGeneral.evaluate(x, k, **attributes.keywords)
    plain = find_problem(attributes, image, weights, want.shape)
    problem = find_problem(attributes, image, weights, want.shape, edges=edges)
    assert plain is not None
    assert problem is not None
    assert problem.work < plain.work
    assert problem.is_padded == (edges == (0,) and len(image) > 3)
    plans = [Attempt(problem, Registers(4, 7), 4, True, *choice).plan() for choice in choices(problem)]
    cheapest = sorted((plan for plan in plans if plan is not None), key=lambda plan: plan.cost)[:3]
    assert cheapest
    for plan in cheapest:
        assert np.array_equal(run_plan(plan, problem, x, k).reshape(want.shape), want, equal_nan=True)


def test_images_without_padded_windows_have_no_edges() -> None:
    def edges(image: Shape, weights: Shape, out: Shape, **changes: Any) -> Problem | None:
        attributes = Convolution(**{**LAST, **FIRST, **changes})
        return find_problem(attributes, image, weights, out, edges=(0, 1))

    assert edges((1, 2, 5, 5), (3, 2, 3, 3), (1, 3, 3, 3)) is None
    pads = ((3, 3), (3, 3))
    assert edges((1, 2, 5, 5), (3, 2, 3, 3), (1, 3, 9, 9), padding=pads) is None, "windows of zeros alone"
    assert edges((1, 2, 3, 3), (3, 2, 2, 2), (1, 3, 6, 6), padding=((1, 1),) * 2, lhs_dilation=(2, 2)) is None
    assert edges((1, 2, 12, 12), (3, 2, 9, 9), (1, 3, 12, 12), padding=((4, 4),) * 2) is None, "81 sums"


BEHIND = Epilogue(
    (
        Step("constant", text="0.0"),
        Step("mul", (0, 1)),
        Step("add", (5, 2)),
        Step("max", (6, 3)),
        Step("compare", (7, 4), "LE"),
        Step("select", (8, 4, 7)),
    ),
    operands=3,
)
"""What is applied to a sum with a factor of its feature, a term of its own and a number of its image."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", quick_first(sorted(QUICK, key=lambda name: name != "dilated"), 4))
@pytest.mark.parametrize("is_cut", [False, True])
def test_an_epilogue_is_applied_once_to_each_sum(
    name: str, is_cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_cut:  # every sum in several blocks
        monkeypatch.setattr(contraction_tiles, "DEEP", 1)
        monkeypatch.setattr(contraction_tiles, "DEPTH", 2)
    image, weights, changes = CASES[name]
    attributes = Convolution(**{**LAST, **changes})
    x, k = given(image), given(weights)
    x.flat[x.size // 2] = np.nan
    total = ConvGeneral.evaluate(x, k, **attributes.keywords)
    images, features = (total.shape[a] for a in attributes.out_spec[:2])
    beside = given((features,)), given(total.shape), given((images,))
    axes = attributes.out_spec[1], None, attributes.out_spec[0]
    strides, views = [], []
    for array, axis in zip(beside, axes, strict=True):
        view = array if axis is None else array.reshape([-1 if a == axis else 1 for a in range(total.ndim)])
        strides.append(tuple(s // 4 * (n > 1) for n, s in zip(view.shape, view.strides, strict=True)))
        views.append(view)
    want = np.maximum(total * views[0] + views[1], views[2])
    want = np.where(want <= 0, np.float32(0), want)
    problem = find_problem(attributes, image, weights, total.shape, strides)
    assert problem is not None
    seen = set()
    for choice in choices(problem):
        plan = Attempt(problem, Registers(4, 7), 4, False, *choice).plan()
        if plan is None or (choice.columns, choice.is_packed) in seen:
            continue
        seen.add((choice.columns, choice.is_packed))
        got = run_plan(plan, problem, x, k, BEHIND, beside).reshape(total.shape)
        assert np.array_equal(got, want, equal_nan=True), choice
    assert seen


def lying(x: np.ndarray, layout: Layout) -> np.ndarray:
    """An array as it lies, flat."""
    around = [(-low, high - n) for (low, high), n in zip(layout.ranges, x.shape, strict=True)]
    return np.pad(x, around).transpose(layout.order).reshape(-1)


def padded(shape: Shape, last: int, spatial: Sequence[int], around: tuple[int, int]) -> Layout:
    """A layout with an axis last, and zeros around the spatial ones."""
    order = (*(a for a in range(len(shape)) if a != last), last)
    low, high = around
    return Layout(
        shape, order, tuple((-low, n + high) if a in spatial else (0, n) for a, n in enumerate(shape))
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", quick_first(QUICK, 4))
@pytest.mark.parametrize("around", [(0, 0), (1, 2), (6, 0)], ids=str)
def test_images_and_results_lie_as_they_are_asked_to(name: str, around: tuple[int, int]) -> None:
    """With features or rows last and zeros around; so does an array that is added to the sums."""
    image, weights, changes = CASES[name]
    attributes = Convolution(**{**LAST, **changes})
    x, k = given(image), given(weights)
    total = ConvGeneral.evaluate(x, k, **attributes.keywords)
    rest = given(total.shape)
    want = np.maximum(total + rest, 0)
    epilogue = Epilogue((Step("constant", text="0.0"), Step("add", (0, 1)), Step("max", (3, 2))), operands=1)
    seen = set()
    for own in (1, -1):
        last = attributes.lhs_spec[own], attributes.out_spec[own]
        stored = padded(image, last[0], attributes.lhs_spec[2:], around)
        written = padded(total.shape, last[1], attributes.out_spec[2:], around)
        steps = tuple(s if n > 1 else 0 for s, n in zip(written.strides, total.shape, strict=True))
        problem = find_problem(
            attributes,
            image,
            weights,
            total.shape,
            [steps],
            beside_starts=[written.start],
            stored=stored,
            written=written,
        )
        assert problem is not None
        for choice in choices(problem):
            plan = Attempt(problem, Registers(4, 7), 4, False, *choice).plan()
            kind = own, choice.columns, choice.is_packed, plan is not None and plan.image_copy is not None
            if plan is None or kind in seen:
                continue
            seen.add(kind)
            got = run_plan(plan, problem, lying(x, stored), k, epilogue, [lying(rest, written)])
            assert np.array_equal(got, lying(want, written)), choice
    assert seen


@pytest.mark.parametrize(
    "copy",
    [
        Copy((CopyAxis(4, 12, 1, 2), CopyAxis(6, 3, 2, 3), whole(3, 1)), 1, 4),
        Copy((CopyAxis(3, 20, 0, 2), CopyAxis(7, 1, 1, 5), CopyAxis(6, 5, 0, 4)), 0, 4),
        Copy((whole(3, 4), whole(5, 12), whole(4, 1)), 0, 4, tail=2),
        Copy((whole(2, 20), whole(5, 1), whole(4, 5)), 0, 4, tail=1),
        Copy((whole(1, 0), whole(5, 2), whole(4, 10)), 3, 4, tail=3),
        Copy((CopyAxis(5, 2, 1, 3),), 1, 4),
    ],
)
def test_a_copy_has_zeros_around_what_it_copies(copy: Copy) -> None:
    copied(given((60,)), copy)


def convolution(weights: np.ndarray | None = None, **changes: Any) -> Any:
    attributes = {**LAST, **changes}
    if weights is None:
        return lambda b, x, k: b.conv_general(x, k, **attributes)
    return lambda b, x: b.conv_general(x, b.constant(value=weights, dtype=FLOAT32), **attributes)


WEIGHTS = given((20, 3, 5, 5))
PADDED = {**FIRST, "padding": ((2, 2), (2, 2)), "window_strides": (2, 2)}
SPREAD = {"lhs_dilation": (2, 2), "padding": ((1, 2), (2, 1)), "rhs_spec": (2, 3, 0, 1)}
OF_WEIGHTS = {**GRADIENT, "padding": ((1, 1), (1, 1))}
IN_GROUPS = {"feature_group_count": 20, "padding": ((1, 1), (1, 1))}
SMALL = given((64, 64, 3, 3))
AROUND = {**FIRST, "padding": ((1, 1), (1, 1))}
PROGRAMS: dict[str, tuple[np.ndarray | None, Shape, Shape, dict[str, Any]]] = {
    "constant": (WEIGHTS, (2, 3, 23, 19), (20, 3, 5, 5), PADDED),
    "spread": (None, (2, 9, 7, 20), (3, 3, 37, 20), SPREAD),
    "of_weights": (None, (3, 12, 31, 9), (3, 12, 31, 18), OF_WEIGHTS),
    "edges": (SMALL, (1, 64, 8, 8), SMALL.shape, AROUND),
    "in_groups": (None, (1, 21, 23, 20), (3, 3, 1, 20), IN_GROUPS),
}
NAMES = part([*PROGRAMS], ["constant", "edges", "of_weights"])


def behind(b: Any, x: Any, k: Any, factor: Any, rest: Any) -> Any:
    """A residual block: features are scaled, an array is added, negative numbers become 0."""
    dtype, shape = b.tensor_type(x).dtype, (2, 11, 13, 19)
    y = b.conv_general(x, k, **{**LAST, "padding": ((1, 1), (0, 2))})
    y = b.mul(y, b.broadcast_in_dim(factor, shape=shape, dimensions=(3,)))
    zero = b.full(-0.0, shape, dtype)
    y = b.add(rest, y)
    y = b.select(b.compare(y, zero, direction="LE"), zero, y)
    return b.clamp(b.full(-1.0, shape, dtype), b.neg(y), b.full(30.0, shape, dtype))


BLOCK = ((2, 11, 13, 7), (3, 3, 7, 19), (19,), (2, 11, 13, 19))
run = Compiled(
    {
        name: (
            convolution(weights, **changes),
            [TensorType(s, FLOAT32) for s in ((image,) if weights is not None else (image, kernel))],
        )
        for name, (weights, image, kernel, changes) in PROGRAMS.items()
        if name in NAMES
    }
    | {
        f"behind {dtype}": (behind, [TensorType(shape, dtype) for shape in BLOCK])
        for dtype in (FLOAT32, FLOAT64)
    }
)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_kernels_compute_what_jax_does(name: str) -> None:
    weights, image, kernel, changes = PROGRAMS[name]
    x, k = given(image), given(kernel) if weights is None else weights
    (got,) = run(name, *((x,) if weights is not None else (x, k)))
    options = {**LAST, **changes}
    names = jax.lax.ConvDimensionNumbers(*(options.pop(f"{each}_spec") for each in ("lhs", "rhs", "out")))
    want = jax.lax.conv_general_dilated(x, k, dimension_numbers=names, **options)
    assert np.array_equal(got, np.asarray(want))


def test_edges_are_apart_where_weights_are_finite() -> None:
    """Zeros of padding times infinite weights are NaN, in kernels as in the evaluator."""
    image = TensorType((1, 64, 8, 8), FLOAT32)
    infinite = SMALL.copy()
    infinite[3, 5, 0, 0] = np.inf
    texts = [lowered_text(convolution(k, **AROUND), image, target="cpu:x86-64-v3") for k in (SMALL, infinite)]
    assert [text.count("scf.if") for text in texts] == [
        9,
        2,
    ]  # a branch for each sum; those of the copy with zeros around


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_what_follows_a_convolution_is_applied_by_its_kernel(dtype: np.dtype) -> None:
    x, k, factor, rest = (given(shape).astype(dtype) for shape in BLOCK)
    x[0, 3, 3, 0], rest[1, 2, 2, 1], factor[4] = np.nan, np.inf, -np.inf
    (got,) = run(f"behind {dtype}", x, k, factor, rest)
    attributes = {**LAST, "padding": ((1, 1), (0, 2))}
    with np.errstate(all="ignore"):
        want = rest + ConvGeneral.evaluate(x, k, **attributes) * factor
        want = -np.where(want <= 0, dtype.type(-0.0), want)
    want = np.minimum(np.maximum(want, -1), 30)
    assert np.array_equal(got, want, equal_nan=True)
    assert np.array_equal(np.signbit(got)[got == 0], np.signbit(want)[want == 0])
    text = lowered_text(behind, *(TensorType(shape, dtype) for shape in BLOCK))
    assert text.count("flow.dispatch @kernel_convolution") == 1
    assert "linalg.generic" not in text
