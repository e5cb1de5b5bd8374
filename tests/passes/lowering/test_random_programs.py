"""Random programs over all families of ops: compiled = evaluated, called again and again, inputs unchanged.

Each example is one module of many programs, compiled once, half of them simplified before. The profile is
deterministic; `ADZE_FUZZ_EXAMPLES` draws more modules than the few of a normal run.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adze.passes.analysis.verify import verify
from adze.passes.optimize.simplify import simplify

from ...ops.execution import compile_functions
from ...ops.programs import add_function, new_module
from .random_programs import Program, program

IN_ONE_MODULE = 20
EXAMPLES = int(os.environ.get("ADZE_FUZZ_EXAMPLES", "2"))
# Programs that were once compiled wrongly or refused, each for another reason.
ONCE_WRONG = (176, 342, 397, 654, 998, 1616)
ONCE_REFUSED = (8, 102, 218, 278, 312, 414, 934, 1191, 1295)


@settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    max_examples=EXAMPLES,
)
@given(st.integers(1 << 20, 1 << 40), st.booleans())
def test_compiled_is_evaluated(seed: int, simplified: bool) -> None:
    check([program(random.Random(seed + i)) for i in range(IN_ONE_MODULE)], simplified)


@pytest.mark.parametrize("simplified", [False, True])
def test_programs_that_were_once_wrong(simplified: bool) -> None:
    check([program(random.Random(seed)) for seed in (*ONCE_WRONG, *ONCE_REFUSED)], simplified)


def check(programs: list[Program], simplified: bool) -> None:
    """Compile the programs as one module and call each of them three times."""
    module, codec = new_module()
    for i, each in enumerate(programs):
        add_function(module, codec, f"f{i}", each.types[0], each.build)
    verify(module)
    if simplified:
        simplify(module)
        verify(module)
    call = compile_functions(module, {f"f{i}": each.types for i, each in enumerate(programs)})
    for i, each in enumerate(programs):
        for which in (0, 1, 0):  # the third call would see what the others left behind
            arguments = each.arguments(which)
            results = call(f"f{i}", arguments)
            for number, got, want in zip(each.returned, results, each.expected(which), strict=True):
                assert got.dtype == want.dtype, f"v{number} of\n{each}"
                np.testing.assert_array_equal(got, want, f"v{number} of\n{each}")
            for got, want in zip(arguments, each.arguments(which), strict=True):
                np.testing.assert_array_equal(got, want, f"an argument has changed of\n{each}")
