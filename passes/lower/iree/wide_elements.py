"""Elements of 128 bits, of which IREE makes no array of equal ones outside of its kernels.

Input: a dtype. Output: whether its arrays need another form: one that is copied inside a kernel.

Symptom: "'stream.async.splat' op has no builtin for bit width 128" where a complex128 array is filled.
Seen in: IREE 3.13.
Smallest: `lax.pad(x, c, ((1, 0, 0),))` of a complex128 vector, as a `linalg.fill`.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_wide_elements_are_still_not_filled` fails.
"""

from __future__ import annotations

import numpy as np


def is_fillable(dtype: np.dtype) -> bool:
    """Whether IREE can fill an array with one element of this dtype."""
    return dtype.itemsize < 16
