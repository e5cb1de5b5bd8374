"""The memory of one call: what a device's allocator counts on a handle of its own.

Input: how to load a program on a device, and arguments. Output: bytes of the arguments, and the most bytes
that were allocated at once while the module was loaded and called, arguments, results and constants included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...dialects.dataclass import dataclass
from ..execute.array import from_host
from ..execute.devices import Device, new_device
from ..execute.program import Executable


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: of the arguments, of the results, and the most that was allocated at once; None: not counted."""

    arguments: int
    results: int
    peak: int | None


def memory_of_a_call(
    load: Callable[[Device], Executable], device: str, function: str, arguments: Sequence[np.ndarray]
) -> Memory:
    """The memory of the first call of `function` of what `load` loads on a fresh handle of `device`.

    Programs for the CPU are called on `local-sync`: `local-task` counts only part of what it allocates.
    """
    own = new_device("local-sync" if device == "local-task" else device)
    executable = load(own)
    held = [from_host(array, own, copy=True) for array in arguments]
    results = executable.call(function, held)
    allocator = own.allocator
    peak = int(allocator.statistics["device_bytes_peak"]) if allocator.has_statistics else None
    result_bytes = sum(int(np.prod(r.shape, dtype=np.int64)) * r.dtype.itemsize for r in results)
    return Memory(sum(array.nbytes for array in arguments), result_bytes, peak or None)
