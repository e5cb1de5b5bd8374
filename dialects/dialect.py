"""The adze dialect: the explicit tuple of its ops, in the order of the reference page."""

from __future__ import annotations

from typing import Final

from .op import Op
from .ops.collectives.exchanges import AllGather, AllToAll, Permute, ReduceScatter
from .ops.collectives.mesh_axes import AllReduce, MeshIndex, Unvary, Vary
from .ops.collectives.named_axes import AxisGather, AxisSum
from .ops.collectives.shardings import ShardingConstraint
from .ops.constants import (
    Constant,
    Dim,
    Iota,
    SizeAdd,
    SizeCheck,
    SizeConstant,
    SizeDiv,
    SizeMax,
    SizeMin,
    SizeMul,
    SizeSub,
    SizeToArray,
)
from .ops.contraction.convolution import ConvGeneral
from .ops.contraction.dot_general import DotGeneral
from .ops.control.call import Call
from .ops.control.choices import LoopPreference, PlatformIndex
from .ops.control.cond import Cond
from .ops.control.routine import LinearRoutine, Routine
from .ops.control.scan import Scan
from .ops.control.while_loop import While
from .ops.control.while_pullback import WhilePullback
from .ops.custom_rules.batching import CustomBatchCall
from .ops.custom_rules.checkpoints import (
    CheckpointCall,
    CheckpointName,
    OptimizationBarrier,
    StopGradient,
    UndefinedValue,
)
from .ops.custom_rules.derivatives import CustomJvpCall, CustomVjpCall, CustomVjpLinear
from .ops.effects import Check, Print
from .ops.elementwise.arithmetic import (
    Abs,
    Add,
    Ceil,
    Div,
    Floor,
    Max,
    Min,
    Mul,
    Neg,
    Pow,
    Rem,
    Round,
    Sign,
    Sub,
)
from .ops.elementwise.bitwise import (
    And,
    Clz,
    Not,
    Or,
    Popcount,
    ShiftLeft,
    ShiftRightArithmetic,
    ShiftRightLogical,
    Xor,
)
from .ops.elementwise.comparison import Clamp, Compare, IsFinite, Select
from .ops.elementwise.conversion import BitcastConvert, Complex, Conj, Convert, Imag, Nextafter, Real
from .ops.elementwise.special import Digamma, Erf, Erfc, ErfInv, Lgamma
from .ops.elementwise.transcendental import (
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    Cbrt,
    Cos,
    Cosh,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log1p,
    Log2,
    Logistic,
    Rsqrt,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
)
from .ops.host_calls import HostCall, HostEffect
from .ops.indexing.dynamic_slice import DynamicSlice, DynamicUpdateSlice
from .ops.indexing.gather import Gather
from .ops.indexing.scatter import Scatter
from .ops.ordering import Sort, TopK
from .ops.random import RandomBits, Threefry
from .ops.reduction import (
    Argmax,
    Argmin,
    Cummax,
    Cummin,
    Cumprod,
    Cumsum,
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
)
from .ops.shape.rearrange import BroadcastInDim, Concatenate, Reshape, Reverse, Transpose
from .ops.shape.slicing import Pad, Slice

CONSTANTS: Final = (
    Constant,
    Iota,
    Dim,
    SizeConstant,
    SizeAdd,
    SizeSub,
    SizeMul,
    SizeDiv,
    SizeMax,
    SizeMin,
    SizeToArray,
    SizeCheck,
)
ARITHMETIC: Final = (Neg, Abs, Sign, Floor, Ceil, Round, Add, Sub, Mul, Div, Rem, Pow, Max, Min)
TRANSCENDENTAL: Final = (
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Logistic,
)
SPECIAL: Final = (Erf, Erfc, ErfInv, Lgamma, Digamma)
BITWISE: Final = (Not, Popcount, Clz, And, Or, Xor, ShiftLeft, ShiftRightLogical, ShiftRightArithmetic)
COMPARISON: Final = (IsFinite, Compare, Select, Clamp)
CONVERSION: Final = (Convert, BitcastConvert, Real, Imag, Conj, Complex, Nextafter)
SHAPE: Final = (BroadcastInDim, Reshape, Transpose, Slice, Pad, Concatenate, Reverse)
INDEXING: Final = (DynamicSlice, DynamicUpdateSlice, Gather, Scatter)
REDUCTIONS: Final = (
    ReduceSum,
    ReduceProd,
    ReduceMax,
    ReduceMin,
    ReduceAnd,
    ReduceOr,
    Argmax,
    Argmin,
    Cumsum,
    Cumprod,
    Cummax,
    Cummin,
)
CONTRACTION: Final = (DotGeneral, ConvGeneral)
ORDERING: Final = (Sort, TopK)
RANDOMNESS: Final = (RandomBits, Threefry)
CONTROL: Final = (Call, Cond, PlatformIndex, LoopPreference, While, Scan)
COLLECTIVES: Final = (
    AxisSum,
    AxisGather,
    AllReduce,
    Vary,
    Unvary,
    ShardingConstraint,
    AllGather,
    ReduceScatter,
    AllToAll,
    Permute,
    MeshIndex,
)
DERIVATIVES: Final = (
    StopGradient,
    CheckpointName,
    OptimizationBarrier,
    UndefinedValue,
    CheckpointCall,
    CustomJvpCall,
    CustomVjpCall,
    CustomVjpLinear,
    WhilePullback,
    CustomBatchCall,
    Routine,
    LinearRoutine,
)
EFFECTS: Final = (Print, Check, HostCall, HostEffect)

OPS: Final[tuple[type[Op], ...]] = (
    *CONSTANTS,
    *ARITHMETIC,
    *TRANSCENDENTAL,
    *SPECIAL,
    *BITWISE,
    *COMPARISON,
    *CONVERSION,
    *SHAPE,
    *INDEXING,
    *REDUCTIONS,
    *CONTRACTION,
    *ORDERING,
    *RANDOMNESS,
    *CONTROL,
    *COLLECTIVES,
    *DERIVATIVES,
    *EFFECTS,
)
BY_NAME: Final[dict[str, type[Op]]] = {op.name: op for op in OPS}
