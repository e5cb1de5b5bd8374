"""Convolutions one behind the other: results lie as the next kernel wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import pytest

from adze.dialects.types import FLOAT32, FLOAT64, TensorType
from adze.passes.lower.kernels.convolutions.sites import Sites

from ..programs import Compiled, lowered_text

RNG = np.random.default_rng(12)
Shape = tuple[int, ...]
Pads = tuple[tuple[int, int], tuple[int, int]]
ONE: Pads = ((1, 1), (1, 1))
SPECS = {
    "first": ((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)),
    "last": ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2)),
    "first to last": ((0, 1, 2, 3), (0, 1, 2, 3), (0, 3, 1, 2)),
}


def convolved(b: Any, x: Any, k: Any, *, pads: Pads = ONE, stride: int = 1, specs: str = "first") -> Any:
    """A convolution, by a builder or by JAX."""
    image, weights, out = SPECS[specs]
    if b is not None:
        return b.conv_general(
            x,
            k,
            window_strides=(stride, stride),
            padding=pads,
            lhs_dilation=(1, 1),
            rhs_dilation=(1, 1),
            lhs_spec=image,
            rhs_spec=weights,
            out_spec=out,
            feature_group_count=1,
            batch_group_count=1,
        )
    names = jax.lax.ConvDimensionNumbers(image, weights, out)
    return jax.lax.conv_general_dilated(x, k, (stride, stride), pads, dimension_numbers=names)


def positive(b: Any, x: Any) -> Any:
    """Negative elements become 0."""
    if b is None:
        return jax.numpy.maximum(x, 0)
    type_ = b.tensor_type(x)
    return b.max(x, b.full(0.0, type_.shape, type_.dtype))


def added(b: Any, x: Any, y: Any) -> Any:
    return x + y if b is None else b.add(x, y)


def chain(b: Any, x: Any, k: Any, h: Any) -> Any:
    """Two padded convolutions."""
    return convolved(b, positive(b, convolved(b, x, k)), h)


def far(b: Any, x: Any, k: Any, h: Any) -> Any:
    """The second one sees more zeros than a vector has elements, and other ones at each side."""
    return convolved(b, positive(b, convolved(b, x, k)), h, pads=((0, 2), (20, 19)))


def cropped(b: Any, x: Any, k: Any, h: Any) -> Any:
    """The second one does not see all of the first."""
    return convolved(b, convolved(b, x, k), h, pads=((-1, 2), (1, -2)))


def narrow(b: Any, x: Any, k: Any, h: Any) -> Any:
    """The axes change their order between the two."""
    return convolved(b, positive(b, convolved(b, x, k, specs="first to last")), h, specs="last")


def block(b: Any, x: Any, k: Any, h: Any, short: Any) -> Any:
    """A residual block whose second branch is a convolution of stride 2."""
    y = positive(b, convolved(b, x, k))
    y = convolved(b, positive(b, convolved(b, y, k)), h, stride=2)
    beside = convolved(b, x, short, pads=((0, 0), (0, 0)), stride=2)
    return positive(b, added(b, beside, y))


def identity(b: Any, x: Any, k: Any) -> Any:
    """A residual block that adds what it sees; its sum has two users of its own."""
    x = positive(b, convolved(b, x, k))
    y = positive(b, added(b, x, convolved(b, x, k)))
    return added(b, convolved(b, y, k), y)


def seen_elsewhere(b: Any, x: Any, k: Any, h: Any) -> Any:
    """The first result is a result of the program."""
    y = positive(b, convolved(b, x, k))
    return y, convolved(b, y, h)


def weights_of_another(b: Any, h: Any, x: Any, k: Any) -> Any:
    """The first result is the weights of the second one."""
    return convolved(b, h, convolved(b, x, k, pads=((0, -13), (0, -17))), pads=((2, 2), (2, 2)))


NARROW, WIDE, SQUARE = (16, 3, 3, 3), (24, 16, 3, 3), (16, 16, 3, 3)
IMAGE, DEEP = (2, 3, 18, 22), (2, 16, 18, 22)
CASES: dict[str, tuple[Any, Sequence[Shape], bool]] = {
    # the program, its operands, and whether copies are left out
    "chain": (chain, (IMAGE, NARROW, WIDE), True),
    "far": (far, (IMAGE, NARROW, WIDE), True),
    "cropped": (cropped, (IMAGE, NARROW, WIDE), False),
    "narrow": (narrow, (IMAGE, NARROW, (3, 3, 16, 24)), True),
    "block": (block, (DEEP, SQUARE, WIDE, (24, 16, 1, 1)), True),
    "identity": (identity, (DEEP, SQUARE), True),
    "seen elsewhere": (seen_elsewhere, (IMAGE, NARROW, WIDE), False),
    "weights of another": (weights_of_another, ((2, 16, 18, 22), (16, 3, 18, 22), NARROW), False),
}
TYPES = {
    f"{name} {dtype}": [TensorType(s, dtype) for s in shapes]
    for name, (_, shapes, _) in CASES.items()
    for dtype in (FLOAT32, FLOAT64)
}
run = Compiled({name: (CASES[name.rpartition(" ")[0]][0], types) for name, types in TYPES.items()})


@pytest.mark.parametrize("name", TYPES)
def test_kernels_one_behind_the_other_compute_what_jax_does(name: str) -> None:
    """Whole numbers, whose sums are exact, in arrays that have not a number as well."""
    program, shapes, _ = CASES[name.rpartition(" ")[0]]
    dtype = TYPES[name][0].dtype
    given = [RNG.integers(-3, 4, shape).astype(dtype) for shape in shapes]
    for filled in (0.0, np.nan, np.inf):
        given[0].flat[given[0].size // 3] = filled
        with jax.enable_x64(True):
            want = program(None, *(jax.numpy.asarray(x) for x in given))
        for got, expected in zip(run(name, *given), want if isinstance(want, tuple) else [want], strict=True):
            assert np.array_equal(got, np.asarray(expected), equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_what_other_kernels_see_is_not_copied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel more than with all axes in order, and fewer where only kernels use a padded result."""
    program, shapes, is_less = CASES[name]

    def count(of: str) -> int:
        return lowered_text(program, *(TensorType(s, FLOAT32) for s in shapes)).count(
            f"flow.dispatch @kernel_{of}"
        )

    copies, sums = count("copy"), count("convolution")
    monkeypatch.setattr(Sites, "_arrange", lambda self, site: None)
    assert sums == count("convolution")
    assert copies + is_less <= count("copy")
