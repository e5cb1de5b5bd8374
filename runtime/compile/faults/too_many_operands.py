"""Kernels that are passed more arrays, or more numbers, than IREE's runtime takes.

Sizes and places that show at the call are passed to a kernel as words of 32 bits, two for each; so is where
an array lies that IREE allocates together with others. IREE fuses elementwise ops of up to 45 arrays, and
compiles what cannot be loaded. The form that has fewer is `iree/limited_operands.py`.

Symptom: a program cannot be loaded, or called: "binding count 45 > 32", "dispatch requiring 70 constants
exceeds limit of 64".
Seen in: IREE 3.13.
Smallest: the sum of 45 arrays; the sum of 70 parts `x[k:k + n - 70]` of f32[n].
Goes when: `tests/runtime/compile/test_kernels.py::test_the_runtime_still_takes_few_operands` fails.
"""

from __future__ import annotations

import re
from typing import Final

MOST_WORDS: Final = 64
MOST_ARRAYS: Final = 32
_LAYOUT: Final = re.compile(
    rb"pipeline\.layout<(?:constants = (\d+), )?bindings = \[((?:#hal\.pipeline\.binding<[^>]*>(?:, )?)*)\]"
)
_ARRAY: Final = b"#hal.pipeline.binding<"


def passes_too_many(program: bytes) -> str | None:
    """What a kernel is passed too many of in a program, bytecode of a phase behind `stream`; None if nothing.

    Such attributes stand in the bytecode as text.
    """
    for words, arrays in _LAYOUT.findall(program):
        if int(words or 0) > MOST_WORDS:
            return f"{int(words)} words of sizes and places, where {MOST_WORDS} are allowed"
        if arrays.count(_ARRAY) > MOST_ARRAYS:
            return f"{arrays.count(_ARRAY)} arrays, where {MOST_ARRAYS} are allowed"
    return None
