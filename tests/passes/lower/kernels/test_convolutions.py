"""The kernels of convolutions: every choice of axes within bounds, and what NumPy computes."""

from __future__ import annotations

from math import prod
from typing import Any

import jax
import numpy as np
import pytest

from adze.dialects.ops.contraction.convolution import ConvGeneral
from adze.dialects.ops.contraction.convolution_window import Convolution
from adze.dialects.types import FLOAT32, TensorType
from adze.passes.lower.forms.convolution_kernels import find_problem
from adze.passes.lower.kernels.contractions import contract
from adze.passes.lower.kernels.copies import Copy, CopyAxis, copied_array, copy_strided, whole
from adze.passes.lower.tuning.contraction_tiles import Registers
from adze.passes.lower.tuning.convolution_plans import Attempt, Plan, Problem, choices

from ....selection import part, quick_first
from ..programs import Compiled
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


def run_plan(plan: Plan, problem: Problem, image: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The result of a plan, every access checked."""
    seen, packed = copied(image.reshape(-1), plan.image_copy), copied(weights.reshape(-1), plan.weights_copy)
    operands = [packed, seen] if plan.is_swapped else [seen, packed]
    size = prod(problem.out)
    module = module_with(
        [x.shape for x in operands], lambda kernels, values: contract(kernels, *values, size, plan.parts)
    )
    groups = sum(part.workgroups for part in plan.parts)
    (got,) = run_kernel(module, "kernel_convolution", operands, groups)
    return copied(got, plan.out_copy).reshape(problem.out)


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
        plan = Attempt(problem, Registers(4, 4), 4, False, *choice).plan()
        if plan is None or (choice.columns, choice.is_packed, choice.are_phases_apart) in seen:
            continue
        seen.add((choice.columns, choice.is_packed, choice.are_phases_apart))
        got = run_plan(plan, problem, x, k).reshape(want.shape)
        assert np.array_equal(got, want, equal_nan=True), choice
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
PROGRAMS: dict[str, tuple[np.ndarray | None, Shape, Shape, dict[str, Any]]] = {
    "constant": (WEIGHTS, (2, 3, 23, 19), (20, 3, 5, 5), PADDED),
    "spread": (None, (2, 9, 7, 20), (3, 3, 37, 20), SPREAD),
    "of_weights": (None, (3, 12, 31, 9), (3, 12, 31, 18), OF_WEIGHTS),
    "in_groups": (None, (1, 21, 23, 20), (3, 3, 1, 20), IN_GROUPS),
}
NAMES = part([*PROGRAMS], ["constant", "of_weights"])
run = Compiled(
    {
        name: (
            convolution(weights, **changes),
            [TensorType(s, FLOAT32) for s in ((image,) if weights is not None else (image, kernel))],
        )
        for name, (weights, image, kernel, changes) in PROGRAMS.items()
        if name in NAMES
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
