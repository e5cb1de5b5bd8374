"""Convolutions and both their derivatives in random layouts, with strides, dilations, pads and groups."""

from __future__ import annotations

from typing import Any, Final

import jax
import numpy as np
import pytest

import adze

from ..random_programs import seeds
from . import compare, drawn, pick

IMAGES: Final = ("NHWC", "NCHW", "HWNC", "NHCW", "CNHW")
KERNELS: Final = ("HWIO", "OIHW", "IHWO", "HWOI")


class Drawn:
    """An image, a kernel, and a convolution of them."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.layouts = (pick(rng, IMAGES), pick(rng, KERNELS), pick(rng, IMAGES))
        self.strides, self.spread = (tuple(int(n) for n in rng.integers(1, 3, 2)) for _ in range(2))
        self.holes = (1, 1) if rng.random() < 0.7 else (2, int(rng.integers(1, 3)))
        self.padding: Any = pick(rng, ("SAME", "VALID", None))
        if self.padding is None or self.holes != (1, 1):
            self.padding = [tuple(int(n) for n in rng.integers(0, 3, 2)) for _ in range(2)]
        channels, features = pick(rng, (1, 3, 4, 8, 16, 32)), pick(rng, (1, 2, 8, 16, 20, 32))
        self.groups = pick(rng, (1, 1, 1, 2, 4))
        if channels % self.groups or features % self.groups:
            self.groups = 1
        high, wide = (int(n) for n in rng.integers(11, 40, 2))
        of_image = {"N": int(rng.integers(1, 5)), "H": high, "W": wide, "C": channels}
        across, down = (int(n) for n in rng.integers(1, 6, 2))
        of_kernel = {"H": down, "W": across, "I": channels // self.groups, "O": features}
        self.dtype = pick(rng, "ffd")
        self.image = drawn(rng, [of_image[c] for c in self.layouts[0]], self.dtype)
        self.kernel = drawn(rng, [of_kernel[c] for c in self.layouts[1]], self.dtype)

    def computed(self, library: Any, weights: np.ndarray) -> list[np.ndarray]:
        """The convolution, and the derivatives of its weighted sum, compiled by `library`."""

        def convolved(image: Any, kernel: Any) -> Any:
            return library.lax.conv_general_dilated(
                image, kernel, self.strides, self.padding, self.holes, self.spread, self.layouts,
                feature_group_count=self.groups,
            )  # fmt: skip

        def everything(image: Any, kernel: Any, weights: Any) -> Any:
            slopes = library.grad(lambda *both: (convolved(*both) * weights).sum(), (0, 1))
            return convolved(image, kernel), *slopes(image, kernel)

        return [np.asarray(x) for x in library.jit(everything)(self.image, self.kernel, weights)]

    def result_shape(self) -> tuple[int, ...]:
        specs = jax.eval_shape(lambda *both: jax.lax.conv_general_dilated(
            *both, self.strides, self.padding, self.holes, self.spread, self.layouts,
            feature_group_count=self.groups), self.image, self.kernel)  # fmt: skip
        return specs.shape


@pytest.mark.parametrize("seed", seeds(2, 30))
def test_convolutions_are_those_of_jax(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = Drawn(rng)
    with jax.enable_x64(True):
        weights = drawn(rng, case.result_shape(), case.dtype)
        want = case.computed(jax, weights)
    for name, got, of_jax in zip(("y", "image", "kernel"), case.computed(adze, weights), want, strict=True):
        compare(got, of_jax.astype(np.float64), 1e-4, f"{name} of {vars(case)}")
