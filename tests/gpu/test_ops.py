"""The whole table of op cases on a Vulkan device: all dtypes, static and dynamic sizes, empty arrays."""

from __future__ import annotations

import pytest

from ..dialects.ops.test_ops import NAMES, check_results, compiled_op
from ..dialects.ops.tolerances import Tolerance
from .drivers import needs_vulkan

LOOSER = {
    "abs": Tolerance(2, "complex: lavapipe rounds ratio * ratio before it adds 1, CPUs and NumPy do not"),
    "reduce_sum": Tolerance(
        32, "20,000 numbers that cancel to 26: 30 ulps of it, for a length that is not known", absolute=16
    ),
}
"""What a Vulkan device does less exactly than a CPU, by the name of the op."""


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("name", NAMES)
def test_every_op_on_vulkan_gives_what_numpy_gives(name: str) -> None:
    check_results(name, *compiled_op(name, "vulkan", True), LOOSER.get(name))
