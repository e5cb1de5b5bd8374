"""Sizes that show at the call of a kernel: numbers of the workload, which the call counts workgroups with."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

MOST: Final = 1 << 40
"""No array has so many elements along an axis."""


class Counted(NamedTuple):
    """A size that shows at the call: the place that it has among the numbers of the workload."""

    number: int


Size: TypeAlias = "int | Counted"
