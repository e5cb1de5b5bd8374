"""Random programs over all families of ops: compiled = evaluated, called again and again, inputs unchanged.

Each example is one module of many programs, compiled once, half of them simplified before.
"""

from __future__ import annotations

import numpy as np
import pytest

from adze.passes.analysis.verify import verify
from adze.passes.optimize.simplify import simplify

from ...dialects.ops.execution import compile_functions
from ...dialects.ops.programs import add_function, new_module
from ...random_programs import random_program, seeds
from ...random_programs.of_ops import Program

IN_ONE_MODULE = 20
SEEDS = 1 << 20
"""Below are those that were once wrong."""
# Programs that were once compiled wrongly or refused, each for another reason.
ONCE_WRONG = (176, 342, 397, 654, 998, 1616)
ONCE_REFUSED = (8, 102, 218, 278, 312, 414, 934, 1191, 1295)


@pytest.mark.parametrize("first", seeds(1, 6))
def test_compiled_is_evaluated(first: int, thorough: bool) -> None:
    count = IN_ONE_MODULE if thorough else 2
    numbers = range(SEEDS + first * count, SEEDS + (first + 1) * count)
    check([random_program(n, *(("rounded",) if n % 2 else ())) for n in numbers], simplified=first % 2 == 1)


@pytest.mark.thorough
@pytest.mark.parametrize("simplified", [False, True])
def test_programs_that_were_once_wrong(simplified: bool) -> None:
    check([random_program(seed) for seed in (*ONCE_WRONG, *ONCE_REFUSED)], simplified)


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
            each.check(which, results, "compiled")
            for got, want in zip(arguments, each.arguments(which), strict=True):
                np.testing.assert_array_equal(got, want, f"an argument has changed of\n{each}")
