"""Values of other libraries in a file beside the test, so that a run of the tests need not compute them.

Input: a path and, for each name, a function that computes what the library says. Output: the arrays of a
name, read from the file. `python -m tests.refresh_oracles` writes the files again; `make test-all` computes
every value again and says which file is stale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from adze import tree

ROUNDINGS: Final = 2000
"""Another version of a library may add in another order: this many roundings are no other value."""
FLIPPED: Final = 2e-3
"""Of so many elements a comparison may go the other way by a rounding."""


class Frozen:
    """What `sources` give, as arrays in the order of their leaves."""

    def __init__(self, path: Path, sources: Mapping[str, Callable[[], Any]]) -> None:
        self.path = path
        self.sources = sources

    def __getitem__(self, name: str) -> list[np.ndarray]:
        arrays = self._stored
        count = sum(key.rpartition("/")[0] == name for key in arrays)
        assert count, f"{self.path.name} has no '{name}': run python -m tests.refresh_oracles"
        return [arrays[f"{name}/{number}"] for number in range(count)]

    @cached_property
    def _stored(self) -> dict[str, np.ndarray]:
        with np.load(self.path) as file:
            return {key: file[key] for key in file.files}

    def computed(self, name: str) -> list[np.ndarray]:
        """What the library says today."""
        return [np.asarray(leaf) for leaf in tree.leaves(tree.map(np.asarray, self.sources[name]()))]

    def check_fresh(self, name: str) -> None:
        """Raise an AssertionError unless the file has what the library says today."""
        assert {key.rpartition("/")[0] for key in self._stored} == set(self.sources)
        for kept, today in zip(self[name], self.computed(name), strict=True):
            assert (kept.shape, kept.dtype) == (today.shape, today.dtype), name
            if today.dtype.kind not in "fc":
                assert np.count_nonzero(kept != today) <= FLIPPED * kept.size, name
                continue
            bound = ROUNDINGS * np.finfo(today.dtype).eps
            is_close = np.isclose(kept, today, rtol=bound, atol=bound, equal_nan=True)
            assert np.count_nonzero(~is_close) <= FLIPPED * is_close.size, name

    def write(self) -> None:
        """Compute everything again and replace the file."""
        arrays = {
            f"{name}/{number}": array
            for name in self.sources
            for number, array in enumerate(self.computed(name))
        }
        np.savez_compressed(self.path, **arrays)  # type: ignore[arg-type]
