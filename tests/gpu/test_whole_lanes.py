"""Programs whose rows are whole numbers of lanes (`whole_lanes.py`), on Vulkan, and for CUDA as C."""

from __future__ import annotations

from typing import Final

import pytest

from .drivers import needs_vulkan
from .fake_cuda import needs_compiler, on_ptx_machine
from .whole_lanes import WITHOUT_GRADIENTS, compare, gradient, programs

pytestmark = pytest.mark.gpu

PROGRAMS: Final = programs(64)
GRADIENTS: Final = [name for name in PROGRAMS if name not in WITHOUT_GRADIENTS]

ON_CUDA: Final = """
from tests.gpu.whole_lanes import compare, gradient, programs

function, arguments = programs(64)[{name!r}]
compare({changed}, arguments, "cuda:0")
said["is_right"] = True
"""


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    compare(*PROGRAMS[name], "vulkan")


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    function, arguments = PROGRAMS[name]
    compare(gradient(function), arguments, "vulkan")


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_on_cuda(name: str) -> None:
    assert on_ptx_machine(ON_CUDA.format(name=name, changed="function"))["is_right"]


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_on_cuda(name: str) -> None:
    assert on_ptx_machine(ON_CUDA.format(name=name, changed="gradient(function)"))["is_right"]
