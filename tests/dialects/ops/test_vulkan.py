"""A few ops of each family on Vulkan, where the machine has a driver (Mesa's lavapipe will do).

Values of 32 bits only: what a device with plain arithmetic must do. The whole table
runs there with `pytest tests/dialects/ops --device vulkan`.
"""

from __future__ import annotations

import numpy as np
import pytest

from adze.runtime.execute.devices import list_devices

from ...op_cases import BY_OP
from .cases import Instance, instances
from .execution import compile_cases
from .programs import ModuleOfCases
from .tolerances import Tolerance, difference

OPS = (
    *("add", "mul", "div", "max", "sqrt", "exp", "log", "sin", "tanh", "erf", "select", "clamp"),
    *("broadcast_in_dim", "transpose", "slice", "pad", "concatenate", "reverse"),
    *("dynamic_slice", "gather", "reduce_sum", "reduce_max", "argmax", "dot_general"),
)
LOOSE = Tolerance(
    64, "SPIR-V promises less of division, exponentials and contraction than a CPU", absolute=64
)
PLAIN = {np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.bool_)}


def has_vulkan() -> bool:
    return any(device.name.startswith("vulkan") for device in list_devices())


def plain(name: str) -> list[Instance]:
    """The first static instances of an op that hold only plain 32-bit values."""
    chosen = [
        i
        for i in instances(BY_OP[name])
        if all(np.asarray(a).dtype in PLAIN and np.isfinite(a).all() for a in i.arguments)
        and all(np.asarray(a).size for a in i.arguments)
    ]
    return chosen[:2]


@pytest.mark.vulkan
@pytest.mark.skipif(not has_vulkan(), reason="no Vulkan driver (Debian: mesa-vulkan-drivers)")
def test_plain_arithmetic_on_vulkan_gives_what_numpy_gives() -> None:
    result = {name: plain(name) for name in OPS}
    tried = [name for name in OPS if result[name]]
    assert len(tried) >= 8, f"only {tried} have plain instances"
    failures = []
    program = ModuleOfCases.of([case for name in tried for case in result[name]])
    call = compile_cases(program.functions, "vulkan")
    for function in program.functions:
        for want, got in zip(function.expected, call(function), strict=True):
            message = difference(want, got, LOOSE)
            if message:
                failures.append(f"{function.instance}: {message}")
    assert not failures, "\n".join(failures)
