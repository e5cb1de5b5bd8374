"""Cases of one source for JAX and adze: `lambda lib: lib.numpy.sum(...)` is run with both libraries.

Input: cases by name, functions of the library (`jax` or `adze`). Output: assertions that adze's results are
JAX's (with 64-bit numbers enabled) in shape, dtype and value; JAX's values are frozen beside the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import adze

from .oracles import Frozen

Case = Callable[[Any], Any]
# A few roundings of each dtype; half precision is computed in float32 here and in steps there.
TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5}


class SameSource(Frozen):
    """Cases whose values in JAX are in the file `path`."""

    def __init__(self, path: Path, cases: Mapping[str, Case], single: Sequence[str] = ()) -> None:
        """JAX runs the cases named `single` with 64-bit numbers disabled: float32 is its default then."""
        sources = {name: partial(_in_jax, case, name not in single) for name, case in cases.items()}
        super().__init__(path, sources)
        self.cases = cases

    def check(self, name: str, scale: float = 1.0) -> None:
        """Raise an AssertionError unless adze's results are JAX's."""
        ours = [np.asarray(leaf) for leaf in adze.tree.leaves(self.cases[name](adze))]
        theirs = self[name]
        assert len(ours) == len(theirs), f"{name}: {len(ours)} results, JAX has {len(theirs)}"
        for result, wanted in zip(ours, theirs, strict=True):
            if wanted.dtype.kind == "U":
                assert result.tolist() == wanted.tolist(), f"{name}: {result}, JAX has {wanted}"
                continue
            assert _type(result) == _type(wanted), f"{name}: {_type(result)}, JAX has {_type(wanted)}"
            rtol = TOLERANCES.get(result.dtype.name, 1e-10 if result.dtype.kind in "fc" else 0) * scale
            left, right = _plain(result), _plain(wanted)
            size = np.max(np.abs(right[np.isfinite(right)]), initial=0.0) if right.dtype.kind in "fc" else 0
            np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol * size, err_msg=name)

    def check_all(self, scale: float = 1.0) -> None:
        """`check` of every case; the error has all that differ."""
        wrong = []
        for name in self.cases:
            try:
                self.check(name, scale)
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {error}")
        assert wrong == [], "\n".join(wrong)


def _in_jax(case: Case, has_x64: bool) -> Any:
    import jax
    import jax.example_libraries.optimizers
    import jax.example_libraries.stax
    import jax.flatten_util
    import jax.scipy.integrate
    import jax.scipy.signal
    import jax.scipy.stats

    with jax.enable_x64(has_x64):
        return jax.tree.map(np.asarray, case(jax))


def _type(array: np.ndarray) -> tuple[Any, ...]:
    return array.shape, "bfloat16" if array.dtype.name == "bfloat16" else array.dtype.name


def _plain(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float16") else array
