"""The table of lowerings in kernels: what lowers each op of adze inside of a loop that is a kernel.

An op that the table lacks keeps its loop on the host.
"""

from __future__ import annotations

from typing import Final

from ......dialects.op import Op
from ......dialects.ops.collectives.shardings import ShardingConstraint
from ......dialects.ops.constants import Constant, Dim, Iota, SizeArithmetic, SizeConstant, SizeToArray
from ......dialects.ops.contraction.dot_general import DotGeneral
from ......dialects.ops.control.call import CallLike
from ......dialects.ops.control.cond import Cond
from ......dialects.ops.control.scan import Scan
from ......dialects.ops.control.while_loop import While
from ......dialects.ops.custom_rules.checkpoints import CheckpointName, OptimizationBarrier, StopGradient
from ......dialects.ops.elementwise.comparison import Select
from ......dialects.ops.elementwise.family import Elementwise
from ......dialects.ops.indexing.dynamic_slice import DynamicSlice, DynamicUpdateSlice
from ......dialects.ops.indexing.gather import Gather
from ......dialects.ops.indexing.scatter import Scatter
from ......dialects.ops.random import RandomBits
from ......dialects.ops.reduction import ArgumentExtremum, Cumulative, Reduction
from ......dialects.ops.shape.rearrange import BroadcastInDim, Concatenate, Reshape, Reverse, Transpose
from ......dialects.ops.shape.slicing import Pad, Slice
from ....forms.calls import lower_call
from ....forms.constants import (
    lower_constant,
    lower_dim,
    lower_size_arithmetic,
    lower_size_constant,
    lower_size_to_array,
)
from ....forms.elementwise import lower_elementwise
from ....forms.identities import (
    lower_checkpoint_name,
    lower_optimization_barrier,
    lower_sharding_constraint,
    lower_stop_gradient,
)
from ....lowering import LoweringTable
from .choices import lower_select
from .control import lower_cond, lower_scan, lower_while
from .indexing import lower_dynamic_slice, lower_dynamic_update_slice, lower_gather, lower_scatter
from .movement import (
    lower_broadcast_in_dim,
    lower_concatenate,
    lower_iota,
    lower_pad,
    lower_reshape,
    lower_reverse,
    lower_slice,
    lower_transpose,
)
from .products import lower_dot_general
from .randomness import lower_random_bits
from .reductions import lower_argument_extremum, lower_cumulative, lower_reduction

KERNEL_LOWERINGS: Final[LoweringTable] = {
    # The host's lowering, through the kernels' builder: one generic, scalar code, calls that are inlined.
    Elementwise: lower_elementwise,
    Constant: lower_constant,
    CallLike: lower_call,
    Dim: lower_dim,
    SizeArithmetic: lower_size_arithmetic,
    SizeConstant: lower_size_constant,
    SizeToArray: lower_size_to_array,
    StopGradient: lower_stop_gradient,
    CheckpointName: lower_checkpoint_name,
    ShardingConstraint: lower_sharding_constraint,
    OptimizationBarrier: lower_optimization_barrier,
    # Their own.
    ArgumentExtremum: lower_argument_extremum,
    BroadcastInDim: lower_broadcast_in_dim,
    Concatenate: lower_concatenate,
    Cond: lower_cond,
    Cumulative: lower_cumulative,
    DotGeneral: lower_dot_general,
    DynamicSlice: lower_dynamic_slice,
    DynamicUpdateSlice: lower_dynamic_update_slice,
    Gather: lower_gather,
    Iota: lower_iota,
    Pad: lower_pad,
    RandomBits: lower_random_bits,
    Reduction: lower_reduction,
    Reshape: lower_reshape,
    Reverse: lower_reverse,
    Scan: lower_scan,
    Scatter: lower_scatter,
    Select: lower_select,
    Slice: lower_slice,
    Transpose: lower_transpose,
    While: lower_while,
}
"""By op class or family; the nearest class of an op counts."""


OF_DYNAMIC_SIZES: Final = frozenset(
    {
        ArgumentExtremum,
        BroadcastInDim,
        CallLike,
        Cond,
        Concatenate,
        Cumulative,
        Dim,
        DotGeneral,
        DynamicSlice,
        DynamicUpdateSlice,
        Elementwise,
        Gather,
        Iota,
        Pad,
        Reduction,
        Reshape,
        Reverse,
        Scan,
        Scatter,
        Slice,
    }
    | {CheckpointName, OptimizationBarrier, ShardingConstraint, StopGradient, Transpose, While}
    | {SizeArithmetic, SizeConstant, SizeToArray}
)
"""Those whose operands and results may have sizes that show at the call."""


def can_lower(op: type[Op]) -> bool:
    """Whether an op has a lowering in kernels."""
    return any(base in KERNEL_LOWERINGS for base in op.__mro__)


def takes_dynamic_sizes(op: type[Op]) -> bool:
    """Whether the lowering of an op in kernels takes sizes that show at the call."""
    return not OF_DYNAMIC_SIZES.isdisjoint(op.__mro__)
