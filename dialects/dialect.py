"""The adze dialect: the explicit tuple of its ops, in the order of the reference page."""

from __future__ import annotations

from typing import Final

from .declaration import Op
from .ops.arithmetic import (
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
from .ops.bitwise import (
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
from .ops.collectives import AxisGather, AxisSum
from .ops.comparison import Clamp, Compare, IsFinite, Select
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
from .ops.contraction import DotGeneral
from .ops.control import Call
from .ops.conversion import BitcastConvert, Complex, Conj, Convert, Imag, Nextafter, Real
from .ops.convolution import ConvGeneral
from .ops.custom_batching import CustomBatchCall
from .ops.derivatives import (
    CheckpointCall,
    CheckpointName,
    CustomJvpCall,
    CustomVjpCall,
    CustomVjpLinear,
    OptimizationBarrier,
    StopGradient,
    UndefinedValue,
)
from .ops.effects import Check, Print
from .ops.gathering import Gather
from .ops.indexing import DynamicSlice, DynamicUpdateSlice
from .ops.loops import Cond, While
from .ops.ordering import Sort, TopK
from .ops.randomness import RandomBits
from .ops.reductions import (
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
from .ops.reversal import WhilePullback
from .ops.scan import Scan
from .ops.scattering import Scatter
from .ops.shape import BroadcastInDim, Concatenate, Reshape, Reverse, Transpose
from .ops.slicing import Pad, Slice
from .ops.special import Digamma, Erf, Erfc, ErfInv, Lgamma
from .ops.transcendental import (
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
RANDOMNESS: Final = (RandomBits,)
CONTROL: Final = (Call, Cond, While, Scan)
COLLECTIVES: Final = (AxisSum, AxisGather)
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
)
EFFECTS: Final = (Print, Check)

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
