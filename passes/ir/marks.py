"""Discardable attributes by which a pass tells later ones what it decided, printed and parsed like any other.

A module carries the target and the hints (`passes/lower/plan.py`), an op of adze its marks. A mark changes
nothing of what an op computes. The verifier knows the marks, and refuses other attributes that an op does not
declare.
"""

from __future__ import annotations

from typing import Final

TARGET: Final = "adze.target"
"""On a module: the name of the target that it is lowered for."""

HINTS: Final = "adze.hints"
"""On a module: what its compile should know of it, as a dictionary."""

VECTORIZED: Final = "adze.vectorized"
"""On a module: LLVM's vectorizer is to look at the loops of its kernels."""

BARRIER: Final = "adze.barrier"
"""On an op: its lowered results go behind a barrier that IREE does not fuse through."""

LOOP: Final = "adze.loop"
"""On a loop, and on the dispatch that it became: which form it gets and why."""

MARKS: Final = frozenset({BARRIER, LOOP})
"""The marks of ops."""
