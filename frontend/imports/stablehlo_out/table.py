"""The one table of adze's ops: how each of them is written in StableHLO, family by family.

Input: the rules of the families. Output: `TABLE`, from the names of ops to rules.
"""

from __future__ import annotations

from typing import Final

from . import arrays, collectives, control, elementwise
from .rules import Rule

TABLE: Final[dict[str, Rule]] = {
    **elementwise.RULES,
    **arrays.RULES,
    **collectives.RULES,
    **control.RULES,
}
