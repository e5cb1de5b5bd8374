"""Forms of convolution: which one is taken, what they compute, and the conventions of jax.lax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import jax
import numpy as np
import pytest

from adze.dialects.errors import AdzeError, TypeCheckError
from adze.dialects.ops.contraction.convolution import ConvGeneral
from adze.dialects.types import FLOAT16, FLOAT32, TensorType
from adze.passes.lower.tuning import convolution_plans

from ....selection import part
from ..programs import Compiled, lowered_text


@pytest.fixture(scope="module", autouse=True)
def _without_kernels() -> Iterator[None]:
    """These forms are for GPUs and for what `kernels/contractions.py` does not take."""
    with patch.object(convolution_plans, "WORK", 1 << 62):
        yield


PLAIN: dict[str, Any] = {
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
GRADIENT = {
    "padding": ((1, 1), (1, 1)),
    "lhs_spec": (3, 0, 1, 2),
    "rhs_spec": (3, 0, 1, 2),
    "out_spec": (2, 3, 0, 1),
}

FEATURES_FIRST = {
    "padding": ((1, 1), (1, 1)),
    "lhs_spec": (1, 0, 2, 3),
    "rhs_spec": (1, 0, 2, 3),
    "out_spec": (1, 0, 2, 3),
}
STRIDED = {**GRADIENT, "padding": ((0, 0), (0, 0)), "rhs_dilation": (2, 2)}
LINE = {
    "window_strides": (2,),
    "padding": ((3, 3),),
    "lhs_dilation": (1,),
    "rhs_dilation": (1,),
    "lhs_spec": (2, 0, 1),
    "rhs_spec": (2, 0, 1),
    "out_spec": (1, 2, 0),
}

SPREAD = {"padding": ((1, 2), (2, 1)), "lhs_dilation": (2, 2)}
SPREAD_FAR = {"padding": ((0, 1), (-1, 2)), "lhs_dilation": (3, 1), "rhs_dilation": (2, 2)}
UNEVEN = {"window_strides": (2, 3)}


def f32(*shape: int | None) -> TensorType:
    return TensorType(shape, FLOAT32)


def f16(*shape: int) -> TensorType:
    return TensorType(shape, FLOAT16)


def convolution(**changes: Any) -> Any:
    return lambda b, x, k: b.conv_general(x, k, **{**PLAIN, **changes})


EVERY: dict[str, Any] = {
    "plain": (convolution(padding=((1, 1), (1, 1))), (f32(2, 16, 16, 32), f32(3, 3, 32, 64))),
    "gradient": (convolution(**GRADIENT), (f32(4, 16, 16, 32), f32(4, 16, 16, 64))),
    "gradient_features_first": (
        convolution(**FEATURES_FIRST),
        (f32(4, 32, 16, 16), f32(4, 24, 16, 16)),
    ),
    "gradient_of_colours": (convolution(**GRADIENT), (f32(4, 16, 16, 3), f32(4, 16, 16, 16))),
    "gradient_strided": (convolution(**STRIDED), (f32(4, 17, 17, 3), f32(4, 8, 8, 16))),
    "gradient_line": (convolution(**LINE), (f32(3, 64, 5), f32(3, 61, 16))),
    "spread": (convolution(**SPREAD), (f32(2, 7, 6, 16), f32(3, 3, 16, 32))),
    "spread_far": (convolution(**SPREAD_FAR), (f32(2, 5, 9, 8), f32(2, 3, 8, 16))),
    "row": (convolution(**UNEVEN), (f32(2, 9, 25, 16), f32(1, 3, 16, 32))),
    "column": (convolution(padding=((1, 1), (0, 0))), (f32(2, 8, 6, 16), f32(3, 1, 16, 32))),
    "column_strided": (convolution(**UNEVEN), (f32(2, 17, 13, 16), f32(3, 1, 16, 32))),
    "half": (convolution(), (f16(2, 10, 10, 16), f16(3, 3, 16, 32))),
    "pointwise": (convolution(), (f32(2, 8, 8, 64), f32(1, 1, 64, 32))),
    "depthwise": (convolution(feature_group_count=16), (f32(2, 9, 9, 16), f32(3, 3, 1, 16))),
    "one_position": (
        convolution(window_strides=(3, 1), batch_group_count=3),
        (f32(3, 5, 6, 8), f32(3, 3, 8, 6)),
    ),
    "dynamic": (
        convolution(padding=((1, 1), (2, 2))),
        (f32(None, None, None, 3), f32(None, None, None, 4)),
    ),
}
# What these show, others show too: "gradient_strided" is one of colours, "column_strided" has one row, ...
TWICE = {"gradient", "gradient_of_colours", "spread", "row", "column"}
NAMES = part([*EVERY], [name for name in EVERY if name not in TWICE])
run = Compiled({name: EVERY[name] for name in NAMES})
RNG = np.random.default_rng(7)


def sample(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def of_jax(x: np.ndarray, k: np.ndarray, **changes: Any) -> np.ndarray:
    given = {**PLAIN, **changes}
    names = jax.lax.ConvDimensionNumbers(given.pop("lhs_spec"), given.pop("rhs_spec"), given.pop("out_spec"))
    return np.asarray(jax.lax.conv_general_dilated(x, k, dimension_numbers=names, **given))


CASES: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("plain", (2, 16, 16, 32), (3, 3, 32, 64), {"padding": ((1, 1), (1, 1))}),
    ("gradient", (4, 16, 16, 32), (4, 16, 16, 64), GRADIENT),
    ("gradient_features_first", (4, 32, 16, 16), (4, 24, 16, 16), FEATURES_FIRST),
    ("gradient_of_colours", (4, 16, 16, 3), (4, 16, 16, 16), GRADIENT),
    ("gradient_strided", (4, 17, 17, 3), (4, 8, 8, 16), STRIDED),
    ("gradient_line", (3, 64, 5), (3, 61, 16), LINE),
    ("spread", (2, 7, 6, 16), (3, 3, 16, 32), SPREAD),
    ("spread_far", (2, 5, 9, 8), (2, 3, 8, 16), SPREAD_FAR),
    ("row", (2, 9, 25, 16), (1, 3, 16, 32), UNEVEN),
    ("column", (2, 8, 6, 16), (3, 1, 16, 32), {"padding": ((1, 1), (0, 0))}),
    ("column_strided", (2, 17, 13, 16), (3, 1, 16, 32), UNEVEN),
    ("pointwise", (2, 8, 8, 64), (1, 1, 64, 32), {}),
    ("depthwise", (2, 9, 9, 16), (3, 3, 1, 16), {"feature_group_count": 16}),
    ("one_position", (3, 5, 6, 8), (3, 3, 8, 6), {"window_strides": (3, 1), "batch_group_count": 3}),
    ("dynamic", (2, 7, 5, 3), (3, 2, 3, 4), {"padding": ((1, 1), (2, 2))}),
    ("dynamic", (1, 1, 4, 3), (3, 1, 3, 4), {"padding": ((1, 1), (2, 2))}),
]


@pytest.mark.parametrize(("name", "image", "kernel", "changes"), [row for row in CASES if row[0] in NAMES])
def test_forms_compute_what_jax_does(name: str, image: Any, kernel: Any, changes: dict[str, Any]) -> None:
    x, k = sample(*image), sample(*kernel)
    want = of_jax(x, k, **changes)
    (got,) = run(name, x, k)
    assert got.shape == want.shape
    assert np.allclose(got, want, rtol=0, atol=2e-4)


def test_half_precision_is_summed_in_single() -> None:
    x, k = sample(2, 10, 10, 16).astype(np.float16), sample(3, 3, 16, 32).astype(np.float16)
    (got,) = run("half", x, k)
    want = of_jax(x.astype(np.float32), k.astype(np.float32)).astype(np.float16)
    assert got.dtype == np.float16
    assert np.allclose(got, want, rtol=2e-3, atol=1e-2)


def test_a_window_larger_than_a_dynamic_image_has_no_place() -> None:
    (got,) = run("dynamic", sample(2, 1, 9, 3), sample(4, 2, 3, 4))
    assert got.shape == (2, 0, 12, 4)


def test_features_that_differ_when_the_program_runs_are_an_error() -> None:
    with pytest.raises(AdzeError, match="differ in their number of features"):
        run("dynamic", sample(1, 5, 5, 3), sample(2, 2, 2, 4))


@pytest.mark.parametrize(
    ("image", "kernel", "changes", "form", "count"),
    [
        (f32(2, 16, 16, 32), f32(3, 3, 32, 64), {}, "linalg.conv_2d_nhwc_hwcf", 1),
        # One slice of the kernel and one for each place; copies of what is seen where the window has gaps.
        (f32(4, 16, 16, 32), f32(4, 16, 16, 8), GRADIENT, "tensor.extract_slice", 10),
        (f32(4, 17, 17, 32), f32(4, 8, 8, 8), STRIDED, "tensor.extract_slice", 9),
        (f32(4, 6, 6, 32), f32(4, 6, 6, 8), GRADIENT, "tensor.extract_slice", 9),
        (f32(2, 8, 8, 64), f32(1, 1, 64, 32), {}, "linalg.conv", 0),
        (f32(2, 7, 6, 16), f32(3, 3, 16, 32), SPREAD, "linalg.conv_2d_nhwc_hwcf", 1),
        (f32(2, 7, 6, 16), f32(3, 3, 16, 32), SPREAD, "linalg.conv_1d_nwc_wcf", 2),
        (f32(2, 8, 6, 16), f32(3, 1, 16, 32), {}, "linalg.conv_1d_nwc_wcf", 1),
        (f32(2, 16, 16, 32), f32(3, 3, 32, 64), {}, "ConvTileAndDecomposeExpert", 1),
        (f32(None, 16, 16, 32), f32(3, 3, 32, 64), {}, "ConvTileAndDecomposeExpert", 0),
    ],
)
def test_the_form_fits_the_window(
    image: Any, kernel: Any, changes: dict[str, Any], form: str, count: int
) -> None:
    assert lowered_text(convolution(**changes), image, kernel).count(form) == count


def test_a_kernel_that_lies_otherwise_is_copied_first() -> None:
    """As in the gradient of an image: IREE read it column by column, at 40 times the cost."""
    text = lowered_text(convolution(rhs_spec=(2, 3, 0, 1)), f32(2, 16, 16, 32), f32(3, 3, 64, 32))
    (copied,) = re.findall(r"(%\w+) = \S+barrier.start %\w+ : tensor<3x3x32x64xf32>", text)
    assert re.search(rf"linalg.conv_2d_nhwc_hwcf .*ins\(%\w+, {copied} :", text)


@pytest.mark.parametrize(
    ("image", "kernel", "changes"),
    [
        ((2, 7, 6, 4), (3, 2, 4, 5), {"window_strides": (2, 1), "padding": ((1, 2), (0, 3))}),
        ((2, 7, 6, 4), (3, 2, 4, 5), {"lhs_dilation": (2, 3), "rhs_dilation": (2, 1)}),
        ((2, 9, 9, 4), (3, 2, 4, 5), {"padding": ((-1, 2), (1, -3)), "lhs_dilation": (1, 2)}),
        ((2, 7, 6, 4), (3, 2, 2, 6), {"feature_group_count": 2}),
        ((4, 7, 6, 4), (3, 2, 4, 6), {"batch_group_count": 2}),
        (
            (2, 4, 7, 6),
            (5, 4, 3, 2),
            {"lhs_spec": (0, 1, 2, 3), "rhs_spec": (0, 1, 2, 3), "out_spec": (0, 1, 2, 3)},
        ),
    ],
)
def test_evaluation_has_the_conventions_of_jax(image: Any, kernel: Any, changes: dict[str, Any]) -> None:
    x, k = sample(*image), sample(*kernel)
    want = of_jax(x, k, **changes)
    got = ConvGeneral.evaluate(x, k, **{**PLAIN, **changes})
    assert got.shape == want.shape
    assert np.allclose(got, want, rtol=1e-5, atol=1e-5)


ZEROS_BETWEEN: dict[str, tuple[TensorType, TensorType, dict[str, Any]]] = {
    "groups": (f32(2, 5, 4, 6), f32(3, 2, 3, 4), {**SPREAD, "feature_group_count": 2}),
    "each feature, f16": (f16(1, 4, 5, 4), f16(2, 3, 1, 4), {**SPREAD_FAR, "feature_group_count": 4}),
    "groups of the batch": (f32(4, 3, 4, 3), f32(2, 2, 3, 4), {**SPREAD, "batch_group_count": 2}),
    "few positions": (f32(2, 9, 9, 4), f32(16, 16, 4, 5), {"lhs_dilation": (2, 2)}),
}
beside_zeros = Compiled({name: (convolution(**a), (x, k)) for name, (x, k, a) in ZEROS_BETWEEN.items()})


@pytest.mark.parametrize("name", ZEROS_BETWEEN)
def test_zeros_between_the_elements_of_a_dilated_image_meet_no_infinity(name: str) -> None:
    image, kernel, changes = ZEROS_BETWEEN[name]
    x, k = (RNG.integers(-3, 4, type_.static_shape).astype(type_.dtype) for type_ in (image, kernel))
    k.flat[1], k.flat[-1], x.flat[-1] = np.inf, np.nan, -np.inf
    (got,) = beside_zeros(name, x, k)
    want = ConvGeneral.evaluate(x, k, **{**PLAIN, **changes})
    assert np.array_equal(got, want, equal_nan=True)
    assert not np.isnan(want).all()


@pytest.mark.parametrize(
    ("image", "kernel", "changes", "text"),
    [
        (f32(2, 8, 8, 3), f32(3, 3, 3), {}, "image and kernel must have the same rank of at least 2"),
        (
            f32(2, 8, 8, 3),
            f32(3, 3, 4, 5),
            {},
            "the image has 3 features in 1 groups, the kernel expects 4 a group",
        ),
        (f32(2, 8, 8, 3), f32(3, 3, 3, 5), {"padding": ((0, 0),)}, "padding must have an entry for each"),
        (f32(2, 8, 8, 3), f32(3, 3, 3, 5), {"window_strides": (0, 1)}, "window_strides must be positive"),
        (
            f32(2, 8, 8, 3),
            f32(3, 3, 1, 5),
            {"feature_group_count": 3},
            "the groups do not divide the 5 output",
        ),
        (
            f32(2, 8, 8, 3),
            f32(3, 3, 3, 5),
            {"lhs_spec": (0, 1, 1, 2)},
            "lhs_spec must name each of the 4 axes once",
        ),
    ],
)
def test_what_is_not_a_convolution_is_refused(
    image: Any, kernel: Any, changes: dict[str, Any], text: str
) -> None:
    with pytest.raises(TypeCheckError) as caught:
        ConvGeneral.infer(image, kernel, **{**PLAIN, **changes})
    assert text in str(caught.value)
