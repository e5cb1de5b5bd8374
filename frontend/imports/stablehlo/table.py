"""The one table of StableHLO's ops: what each of them is in adze, family by family.

Input: the rules of the families. Output: `TABLE`, from the names of ops to rules.
"""

from __future__ import annotations

from typing import Any, Final

from . import (
    collectives,
    contractions,
    control,
    custom_calls,
    draws,
    elementwise,
    indexing,
    linear_algebra,
    ordering,
    reductions,
    shape,
    sizes,
    windows,
)
from .application import Rule
from .refused import REASONS


def _inlined(app: Any) -> Any:
    raise AssertionError("the interpreter inlines calls itself")


TABLE: Final[dict[str, Rule]] = {
    **sizes.with_sizes({**elementwise.RULES, **shape.RULES}),
    **sizes.RULES,
    **contractions.RULES,
    **reductions.RULES,
    **windows.RULES,
    **indexing.RULES,
    **ordering.RULES,
    **control.RULES,
    **collectives.RULES,
    **linear_algebra.RULES,
    **custom_calls.RULES,
    **draws.RULES,
    "func.call": _inlined,
    "stablehlo.composite": _inlined,
}

REFUSED: Final[dict[str, str]] = REASONS
