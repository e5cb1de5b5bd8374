"""How far a compiled program is off: its results against those of the adze IR that it was traced to.

Input: a traced function, and the program compiled of it. Output: one number for budgets, the largest error
of any result on drawn inputs, as `verification.py` measures it for files.
"""

from __future__ import annotations

import numpy as np

from ...runtime.artifact.artifact import Contents
from ..errors import ArgumentError
from .compiled import Compiled
from .kept import KeptFunction
from .modules import kept_ir
from .traced import Traced
from .verification import drawn, error_of

SAMPLES = 3


def largest_error(traced: Traced, compiled: Compiled, samples: int = SAMPLES, seed: int = 0) -> float:
    """The largest relative error of any result, infinite where integers, NaN or infinities differ.

    Raises the `AdzeError` of a program that no device of this machine can run.
    """
    reference = KeptFunction(Contents(b"", compiled.manifest, kept_ir(traced.program.module)))
    signature = compiled.manifest.signatures[0]
    if reference.signature != signature:
        raise ArgumentError(
            f"{signature.name}() has to do with the state of its program, and max_error is for others",
            hint="leave max_error out, or budget a function without state",
        )
    largest = 0.0
    for leaves in drawn(signature, samples, seed, {}):
        expected = reference.leaves_of(leaves)
        actual = compiled.function.call(leaves)
        for a, e in zip(actual, expected, strict=True):
            largest = max(largest, error_of(np.asarray(a), np.asarray(e)))
    return largest
