"""Constants of complex elements, each computed of two real ones.

Input: the elements of a constant. Output: its real and its imaginary part, which a kernel puts together.

Such a kernel is one more op where IREE expects none: one whose result is used both inside a loop and outside
stays where it may not be ("streamable op expected to be in an execution region"). So the builder remembers
which constants repeat one number, and has that number in the bodies that would use the array.

Symptom: the compiler dies of a division by zero (SIGFPE).
Seen in: IREE 3.13.
Smallest: `return np.array([1, 2j])`, as one `arith.constant dense<...> : tensor<2xcomplex<f64>>`.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_complex_constants_still_crash` fails.
"""

from __future__ import annotations

import numpy as np


def parts(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The real and the imaginary part of a complex array, each contiguous."""
    return array.real.copy(), array.imag.copy()
