"""What every choice for GPUs asks: how wide they are, and which of them get tiles of ours."""

from __future__ import annotations

from typing import Final

from ....runtime.targets import Target, TargetKind

WARP: Final = 32
GROUPS: Final = 96  # workgroups that occupy a GPU: an A100 has 108 multiprocessors
BUSY: Final = 1 << 14  # threads that hide how long memory takes


def is_tiled(target: Target) -> bool:
    """Whether kernels get tiles of ours: on CUDA and RDNA, whose groups are of 32 threads.

    CDNA has groups of 64, and matrix units for float32 and float64 too, which IREE uses.
    """
    return target.kind is TargetKind.CUDA or (
        target.kind is TargetKind.ROCM and target.architecture.startswith(("gfx11", "gfx12"))
    )
