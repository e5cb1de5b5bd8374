"""The memory of one call: what a device's allocator counts on a handle of its own.

Input: a compiled module, its signature and arguments. Output: bytes of the arguments, and the most bytes that
were allocated at once while the module was loaded and called, arguments, results and constants included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..artifact.signature import FunctionSignature
from ..execute.array import from_host
from ..execute.devices import new_device
from ..execute.program import Executable


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: of the arguments, of the results, and the most that was allocated at once; None: not counted."""

    arguments: int
    results: int
    peak: int | None


def memory_of_a_call(
    module: bytes,
    device: str,
    function: str,
    signatures: Sequence[FunctionSignature],
    arguments: Sequence[np.ndarray],
) -> Memory:
    """The memory of the first call of `function` on a fresh handle of `device`."""
    own = new_device(device)
    executable = Executable(module, own, signatures)
    held = [from_host(array, own, copy=True) for array in arguments]
    results = executable.call(function, held)
    allocator = own.allocator
    peak = int(allocator.statistics["device_bytes_peak"]) if allocator.has_statistics else None
    result_bytes = sum(int(np.prod(r.shape, dtype=np.int64)) * r.dtype.itemsize for r in results)
    return Memory(sum(array.nbytes for array in arguments), result_bytes, peak or None)
