"""The ops of linalg in a lowered function, with those in its loops."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.aliases import Operation


def linalg_ops(operation: Operation) -> Iterator[Operation]:
    """Every op of linalg within an op, in order; none within another one of linalg."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name.startswith("linalg."):
                    yield inner
                else:
                    yield from linalg_ops(inner)
