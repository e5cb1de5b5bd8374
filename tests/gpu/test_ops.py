"""The whole table of op cases on a Vulkan device: all dtypes, static and dynamic sizes, empty arrays."""

from __future__ import annotations

import pytest

from ..dialects.ops.test_ops import NAMES, check_results, compiled_op
from ..dialects.ops.tolerances import LOOSER_ON_GPUS
from .drivers import needs_vulkan


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("name", NAMES)
def test_every_op_on_vulkan_gives_what_numpy_gives(name: str) -> None:
    check_results(name, *compiled_op(name, "vulkan", True), LOOSER_ON_GPUS.get(name))
