"""The operations of a program by which it calls its device, in IREE's phase `hal`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def device_calls(operation: Any) -> Iterator[Any]:
    """Every operation within one, but those of executables; they may be changed, not erased, meanwhile."""
    for region in operation.regions:
        for block in region.blocks:
            for child in list(block.operations):
                inner = child.operation
                if inner.name != "hal.executable":
                    yield inner
                    yield from device_calls(inner)
