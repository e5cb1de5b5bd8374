"""The table of lowerings: the function that lowers each op of adze to linalg, one file a family of ops."""

from __future__ import annotations

from typing import Final

from ....dialects.dialect import OPS
from ....dialects.ops.collectives.mesh_axes import MeshCollective, MeshIndex, Unvary, Vary
from ....dialects.ops.collectives.named_axes import AxisGather, AxisSum
from ....dialects.ops.collectives.shardings import ShardingConstraint
from ....dialects.ops.constants import (
    Constant,
    Dim,
    Iota,
    SizeArithmetic,
    SizeCheck,
    SizeConstant,
    SizeToArray,
)
from ....dialects.ops.contraction.convolution import ConvGeneral
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.control.call import CallLike
from ....dialects.ops.control.choices import LoopPreference, PlatformIndex
from ....dialects.ops.control.cond import Cond
from ....dialects.ops.control.routine import Routine
from ....dialects.ops.control.scan import Scan
from ....dialects.ops.control.while_loop import While
from ....dialects.ops.custom_rules.checkpoints import (
    CheckpointName,
    OptimizationBarrier,
    StopGradient,
    UndefinedValue,
)
from ....dialects.ops.effects import Check, Print
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.host_calls import HostCallLike
from ....dialects.ops.indexing.dynamic_slice import DynamicSlice, DynamicUpdateSlice
from ....dialects.ops.indexing.gather import Gather
from ....dialects.ops.indexing.scatter import Scatter
from ....dialects.ops.ordering import Sort, TopK
from ....dialects.ops.random import RandomBits
from ....dialects.ops.reduction import ArgumentExtremum, Cumulative, Reduction
from ....dialects.ops.shape.rearrange import BroadcastInDim, Concatenate, Reshape, Reverse, Transpose
from ....dialects.ops.shape.slicing import Pad, Slice
from ..lowering import LoweringTable, lowering_of
from .argument_extrema import lower_argument_extremum
from .attention import lower_routine
from .branches import lower_cond
from .calls import lower_call
from .collectives import lower_axis_gather, lower_axis_sum
from .concatenation import lower_concatenate
from .constants import (
    lower_constant,
    lower_dim,
    lower_loop_preference,
    lower_platform_index,
    lower_size_arithmetic,
    lower_size_check,
    lower_size_constant,
    lower_size_to_array,
)
from .contraction import lower_dot_general
from .convolution import lower_convolution
from .cumulative import lower_cumulative
from .effects import lower_check, lower_print
from .elementwise import OF_OPERANDS, lower_elementwise
from .host_calls import lower_host_call
from .identities import (
    lower_checkpoint_name,
    lower_optimization_barrier,
    lower_sharding_constraint,
    lower_stop_gradient,
    lower_undefined_value,
)
from .indexing import lower_dynamic_slice, lower_dynamic_update_slice, lower_gather
from .mesh_axes import lower_mesh_collective, lower_mesh_index, lower_vary
from .movement import (
    lower_broadcast_in_dim,
    lower_iota,
    lower_pad,
    lower_reshape,
    lower_reverse,
    lower_slice,
    lower_transpose,
)
from .ordering import lower_sort, lower_top_k
from .randomness import lower_random_bits
from .reductions import lower_reduction
from .scans import lower_scan
from .scatter import lower_scatter
from .while_loops import lower_while

LOWERINGS: Final[LoweringTable] = {
    # constants and sizes
    Constant: lower_constant,
    Iota: lower_iota,
    Dim: lower_dim,
    SizeConstant: lower_size_constant,
    SizeArithmetic: lower_size_arithmetic,
    SizeToArray: lower_size_to_array,
    SizeCheck: lower_size_check,
    RandomBits: lower_random_bits,
    # elementwise ops and reductions
    Elementwise: lower_elementwise,
    Reduction: lower_reduction,
    ArgumentExtremum: lower_argument_extremum,
    Cumulative: lower_cumulative,
    DotGeneral: lower_dot_general,
    ConvGeneral: lower_convolution,
    # movement
    BroadcastInDim: lower_broadcast_in_dim,
    Reshape: lower_reshape,
    Transpose: lower_transpose,
    Reverse: lower_reverse,
    Slice: lower_slice,
    Pad: lower_pad,
    Concatenate: lower_concatenate,
    DynamicSlice: lower_dynamic_slice,
    DynamicUpdateSlice: lower_dynamic_update_slice,
    Gather: lower_gather,
    Scatter: lower_scatter,
    Sort: lower_sort,
    TopK: lower_top_k,
    # control
    CallLike: lower_call,
    Routine: lower_routine,
    Cond: lower_cond,
    PlatformIndex: lower_platform_index,
    LoopPreference: lower_loop_preference,
    Scan: lower_scan,
    While: lower_while,
    # rules, effects and collectives
    StopGradient: lower_stop_gradient,
    CheckpointName: lower_checkpoint_name,
    ShardingConstraint: lower_sharding_constraint,
    OptimizationBarrier: lower_optimization_barrier,
    UndefinedValue: lower_undefined_value,
    Check: lower_check,
    Print: lower_print,
    HostCallLike: lower_host_call,
    AxisSum: lower_axis_sum,
    AxisGather: lower_axis_gather,
    Vary: lower_vary,
    Unvary: lower_vary,
    MeshCollective: lower_mesh_collective,
    MeshIndex: lower_mesh_index,
}
"""The lowering of each op, or of all members of a family."""

OF_TYPES_ALONE: Final = frozenset(
    op
    for op in OPS
    if lowering_of(op, LOWERINGS) is lower_elementwise and not op.attributes and op not in OF_OPERANDS
)
"""The ops that are lowered as any other of them with operands of the same types is."""
