"""Ops whose host lowering serves in kernels as it is, through the kernels' builder.

Elementwise ops are one `linalg.generic`, or scalar code for one element. Calls are inlined afterwards.
"""

from __future__ import annotations

from ......dialects.ops.constants import Constant
from ......dialects.ops.control.call import CallLike
from ......dialects.ops.custom_rules.derivatives import CheckpointName, OptimizationBarrier, StopGradient
from ......dialects.ops.elementwise.family import Elementwise
from ..table import same_in_kernel

same_in_kernel(Elementwise, Constant, CallLike, StopGradient, CheckpointName, OptimizationBarrier)
