"""Random programs for every test that wants some: one door, the same program for the same seed.

Input: a seed and features. Output: a program of ops, over any builder, that knows its results; or one of
functions of arrays, over adze or JAX. `seeds` says how many: few for `make test`, many for `make test-all`,
and `ADZE_FUZZ_EXAMPLES` times as many where that is set.

| features | a program of |
|---|---|
| none | ops of all families on small exact arrays, some of dynamic sizes |
| `plain` | elementwise ops, movement and reductions alone |
| `large` | arrays that no tile divides |
| `rounded` | transcendental functions among the others |
| `loops` | nested loops, branches and batches that carry several arrays (`Loops`) |
| `arrays` | loops over arrays that are updated, sliced and exchanged, batched or differentiated (`Arrays`) |
| `smooth` | differentiable functions of one array (`Smooth`) |
| `composed` | a dozen functions of arrays at the sizes of kernels, which adze and JAX have (`Composed`) |
"""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

from . import composed, of_arrays, of_loops, of_ops, smooth

FEATURES: Final = frozenset({"plain", "large", "rounded", "loops", "arrays", "smooth", "composed"})


def random_program(seed: int, *features: str) -> Any:
    """The program of a seed: an object of `of_ops`, or of the module that the feature is named like."""
    assert set(features) <= FEATURES, features
    if "loops" in features:
        return of_loops.loops(seed)
    if "arrays" in features:
        return of_arrays.arrays(seed)
    if "smooth" in features:
        return smooth.smooth(seed)
    if "composed" in features:
        return composed.composed(seed)
    return of_ops.program(seed, features)


def seeds(few: int, many: int, also: tuple[int, ...] = ()) -> list[Any]:
    """Parameters of a test: the first `few` always, up to `many` in a thorough run; `also` always."""
    many *= int(os.environ.get("ADZE_FUZZ_EXAMPLES", "1"))
    always = list(dict.fromkeys((*range(few), *also)))
    others = [seed for seed in range(few, many) if seed not in also]
    return [*always, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in others)]
