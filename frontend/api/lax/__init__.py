"""The primitives of adze under JAX's names and calling conventions."""

from ..frontend.control.control_flow import associative_scan as associative_scan
from ..frontend.control.control_flow import cond as cond
from ..frontend.control.control_flow import fori_loop as fori_loop
from ..frontend.control.control_flow import map as map
from ..frontend.control.control_flow import scan as scan
from ..frontend.control.control_flow import switch as switch
from ..frontend.control.control_flow import while_loop as while_loop
from ..frontend.library.fft.by_kind import FftType as FftType
from ..frontend.library.fft.by_kind import fft as fft
from ..frontend.library.lax.applying import index_take as index_take
from ..frontend.library.lax.applying import reduce_xor as reduce_xor
from ..frontend.library.lax.applying import scatter_apply as scatter_apply
from ..frontend.library.lax.computations import ConvDimensionNumbers as ConvDimensionNumbers
from ..frontend.library.lax.computations import argmax as argmax
from ..frontend.library.lax.computations import argmin as argmin
from ..frontend.library.lax.computations import batch_matmul as batch_matmul
from ..frontend.library.lax.computations import conv as conv
from ..frontend.library.lax.computations import conv_dimension_numbers as conv_dimension_numbers
from ..frontend.library.lax.computations import conv_general_dilated as conv_general_dilated
from ..frontend.library.lax.computations import conv_with_general_padding as conv_with_general_padding
from ..frontend.library.lax.computations import cumlogsumexp as cumlogsumexp
from ..frontend.library.lax.computations import cummax as cummax
from ..frontend.library.lax.computations import cummin as cummin
from ..frontend.library.lax.computations import cumprod as cumprod
from ..frontend.library.lax.computations import cumsum as cumsum
from ..frontend.library.lax.computations import dot as dot
from ..frontend.library.lax.computations import dot_general as dot_general
from ..frontend.library.lax.computations import random_bits as random_bits
from ..frontend.library.lax.computations import reduce_and as reduce_and
from ..frontend.library.lax.computations import reduce_max as reduce_max
from ..frontend.library.lax.computations import reduce_min as reduce_min
from ..frontend.library.lax.computations import reduce_or as reduce_or
from ..frontend.library.lax.computations import reduce_prod as reduce_prod
from ..frontend.library.lax.computations import reduce_sum as reduce_sum
from ..frontend.library.lax.computations import sort as sort
from ..frontend.library.lax.computations import sort_key_val as sort_key_val
from ..frontend.library.lax.computations import top_k as top_k
from ..frontend.library.lax.elementwise import abs as abs
from ..frontend.library.lax.elementwise import acos as acos
from ..frontend.library.lax.elementwise import acosh as acosh
from ..frontend.library.lax.elementwise import add as add
from ..frontend.library.lax.elementwise import asin as asin
from ..frontend.library.lax.elementwise import asinh as asinh
from ..frontend.library.lax.elementwise import atan as atan
from ..frontend.library.lax.elementwise import atan2 as atan2
from ..frontend.library.lax.elementwise import atanh as atanh
from ..frontend.library.lax.elementwise import bitcast_convert_type as bitcast_convert_type
from ..frontend.library.lax.elementwise import bitwise_and as bitwise_and
from ..frontend.library.lax.elementwise import bitwise_not as bitwise_not
from ..frontend.library.lax.elementwise import bitwise_or as bitwise_or
from ..frontend.library.lax.elementwise import bitwise_xor as bitwise_xor
from ..frontend.library.lax.elementwise import cbrt as cbrt
from ..frontend.library.lax.elementwise import ceil as ceil
from ..frontend.library.lax.elementwise import clamp as clamp
from ..frontend.library.lax.elementwise import clz as clz
from ..frontend.library.lax.elementwise import complex as complex
from ..frontend.library.lax.elementwise import conj as conj
from ..frontend.library.lax.elementwise import convert_element_type as convert_element_type
from ..frontend.library.lax.elementwise import cos as cos
from ..frontend.library.lax.elementwise import cosh as cosh
from ..frontend.library.lax.elementwise import digamma as digamma
from ..frontend.library.lax.elementwise import div as div
from ..frontend.library.lax.elementwise import eq as eq
from ..frontend.library.lax.elementwise import erf as erf
from ..frontend.library.lax.elementwise import erf_inv as erf_inv
from ..frontend.library.lax.elementwise import erfc as erfc
from ..frontend.library.lax.elementwise import exp as exp
from ..frontend.library.lax.elementwise import exp2 as exp2
from ..frontend.library.lax.elementwise import expm1 as expm1
from ..frontend.library.lax.elementwise import floor as floor
from ..frontend.library.lax.elementwise import ge as ge
from ..frontend.library.lax.elementwise import gt as gt
from ..frontend.library.lax.elementwise import imag as imag
from ..frontend.library.lax.elementwise import integer_pow as integer_pow
from ..frontend.library.lax.elementwise import is_finite as is_finite
from ..frontend.library.lax.elementwise import le as le
from ..frontend.library.lax.elementwise import lgamma as lgamma
from ..frontend.library.lax.elementwise import log as log
from ..frontend.library.lax.elementwise import log1p as log1p
from ..frontend.library.lax.elementwise import logistic as logistic
from ..frontend.library.lax.elementwise import lt as lt
from ..frontend.library.lax.elementwise import max as max
from ..frontend.library.lax.elementwise import min as min
from ..frontend.library.lax.elementwise import mul as mul
from ..frontend.library.lax.elementwise import ne as ne
from ..frontend.library.lax.elementwise import neg as neg
from ..frontend.library.lax.elementwise import nextafter as nextafter
from ..frontend.library.lax.elementwise import population_count as population_count
from ..frontend.library.lax.elementwise import pow as pow
from ..frontend.library.lax.elementwise import real as real
from ..frontend.library.lax.elementwise import reciprocal as reciprocal
from ..frontend.library.lax.elementwise import rem as rem
from ..frontend.library.lax.elementwise import round as round
from ..frontend.library.lax.elementwise import rsqrt as rsqrt
from ..frontend.library.lax.elementwise import select as select
from ..frontend.library.lax.elementwise import select_n as select_n
from ..frontend.library.lax.elementwise import shift_left as shift_left
from ..frontend.library.lax.elementwise import shift_right_arithmetic as shift_right_arithmetic
from ..frontend.library.lax.elementwise import shift_right_logical as shift_right_logical
from ..frontend.library.lax.elementwise import sign as sign
from ..frontend.library.lax.elementwise import sin as sin
from ..frontend.library.lax.elementwise import sinh as sinh
from ..frontend.library.lax.elementwise import sqrt as sqrt
from ..frontend.library.lax.elementwise import square as square
from ..frontend.library.lax.elementwise import sub as sub
from ..frontend.library.lax.elementwise import tan as tan
from ..frontend.library.lax.elementwise import tanh as tanh
from ..frontend.library.lax.indexing import GatherDimensionNumbers as GatherDimensionNumbers
from ..frontend.library.lax.indexing import GatherScatterMode as GatherScatterMode
from ..frontend.library.lax.indexing import ScatterDimensionNumbers as ScatterDimensionNumbers
from ..frontend.library.lax.indexing import dynamic_index_in_dim as dynamic_index_in_dim
from ..frontend.library.lax.indexing import dynamic_slice as dynamic_slice
from ..frontend.library.lax.indexing import dynamic_slice_in_dim as dynamic_slice_in_dim
from ..frontend.library.lax.indexing import dynamic_update_index_in_dim as dynamic_update_index_in_dim
from ..frontend.library.lax.indexing import dynamic_update_slice as dynamic_update_slice
from ..frontend.library.lax.indexing import dynamic_update_slice_in_dim as dynamic_update_slice_in_dim
from ..frontend.library.lax.indexing import gather as gather
from ..frontend.library.lax.indexing import scatter as scatter
from ..frontend.library.lax.indexing import scatter_add as scatter_add
from ..frontend.library.lax.indexing import scatter_max as scatter_max
from ..frontend.library.lax.indexing import scatter_min as scatter_min
from ..frontend.library.lax.indexing import scatter_mul as scatter_mul
from ..frontend.library.lax.indexing import scatter_sub as scatter_sub
from ..frontend.library.lax.padding import padtype_to_pads as padtype_to_pads
from ..frontend.library.lax.shapes import broadcast as broadcast
from ..frontend.library.lax.shapes import broadcast_in_dim as broadcast_in_dim
from ..frontend.library.lax.shapes import broadcast_shapes as broadcast_shapes
from ..frontend.library.lax.shapes import broadcast_to_rank as broadcast_to_rank
from ..frontend.library.lax.shapes import broadcasted_iota as broadcasted_iota
from ..frontend.library.lax.shapes import collapse as collapse
from ..frontend.library.lax.shapes import concatenate as concatenate
from ..frontend.library.lax.shapes import expand_dims as expand_dims
from ..frontend.library.lax.shapes import full as full
from ..frontend.library.lax.shapes import full_like as full_like
from ..frontend.library.lax.shapes import index_in_dim as index_in_dim
from ..frontend.library.lax.shapes import iota as iota
from ..frontend.library.lax.shapes import optimization_barrier as optimization_barrier
from ..frontend.library.lax.shapes import pad as pad
from ..frontend.library.lax.shapes import reshape as reshape
from ..frontend.library.lax.shapes import rev as rev
from ..frontend.library.lax.shapes import slice as slice
from ..frontend.library.lax.shapes import slice_in_dim as slice_in_dim
from ..frontend.library.lax.shapes import split as split
from ..frontend.library.lax.shapes import squeeze as squeeze
from ..frontend.library.lax.shapes import stack as stack
from ..frontend.library.lax.shapes import tile as tile
from ..frontend.library.lax.shapes import transpose as transpose
from ..frontend.library.lax.shapes import unstack as unstack
from ..frontend.library.lax.windows import conv_transpose as conv_transpose
from ..frontend.library.lax.windows import reduce as reduce
from ..frontend.library.lax.windows import reduce_precision as reduce_precision
from ..frontend.library.lax.windows import reduce_window as reduce_window
from ..frontend.library.special.functions import i0e as bessel_i0e
from ..frontend.library.special.functions import i1e as bessel_i1e
from ..frontend.library.special.incomplete import betainc as betainc
from ..frontend.library.special.incomplete import gamma_sample_slope as random_gamma_grad
from ..frontend.library.special.incomplete import gammainc as igamma
from ..frontend.library.special.incomplete import gammainc_slope as igamma_grad_a
from ..frontend.library.special.incomplete import gammaincc as igammac
from ..frontend.library.special.sums import polygamma as polygamma
from ..frontend.library.special.sums import zeta as zeta
from ..frontend.transforms.checkpoints import stop_gradient as stop_gradient
from ..frontend.transforms.collectives import all_gather as all_gather
from ..frontend.transforms.collectives import axis_index as axis_index
from ..frontend.transforms.collectives import axis_size as axis_size
from ..frontend.transforms.collectives import pmax as pmax
from ..frontend.transforms.collectives import pmean as pmean
from ..frontend.transforms.collectives import pmin as pmin
from ..frontend.transforms.collectives import ppermute as ppermute
from ..frontend.transforms.collectives import psum as psum
from ..frontend.transforms.implicit import custom_root as custom_root
from ..frontend.transforms.linear_solves import custom_linear_solve as custom_linear_solve
from . import linalg as linalg

__all__ = [
    "ConvDimensionNumbers",
    "FftType",
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "ScatterDimensionNumbers",
    "abs",
    "acos",
    "acosh",
    "add",
    "all_gather",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "associative_scan",
    "atan",
    "atan2",
    "atanh",
    "axis_index",
    "axis_size",
    "batch_matmul",
    "bessel_i0e",
    "bessel_i1e",
    "betainc",
    "bitcast_convert_type",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast",
    "broadcast_in_dim",
    "broadcast_shapes",
    "broadcast_to_rank",
    "broadcasted_iota",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "collapse",
    "complex",
    "concatenate",
    "cond",
    "conj",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_transpose",
    "conv_with_general_padding",
    "convert_element_type",
    "cos",
    "cosh",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "custom_linear_solve",
    "custom_root",
    "digamma",
    "div",
    "dot",
    "dot_general",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "fft",
    "floor",
    "fori_loop",
    "full",
    "full_like",
    "gather",
    "ge",
    "gt",
    "igamma",
    "igamma_grad_a",
    "igammac",
    "imag",
    "index_in_dim",
    "index_take",
    "integer_pow",
    "iota",
    "is_finite",
    "le",
    "lgamma",
    "linalg",
    "log",
    "log1p",
    "logistic",
    "lt",
    "map",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "nextafter",
    "optimization_barrier",
    "pad",
    "padtype_to_pads",
    "pmax",
    "pmean",
    "pmin",
    "polygamma",
    "population_count",
    "pow",
    "ppermute",
    "psum",
    "random_bits",
    "random_gamma_grad",
    "real",
    "reciprocal",
    "reduce",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_precision",
    "reduce_prod",
    "reduce_sum",
    "reduce_window",
    "reduce_xor",
    "rem",
    "reshape",
    "rev",
    "round",
    "rsqrt",
    "scan",
    "scatter",
    "scatter_add",
    "scatter_apply",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
    "select",
    "select_n",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "slice",
    "slice_in_dim",
    "sort",
    "sort_key_val",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "sub",
    "switch",
    "tan",
    "tanh",
    "tile",
    "top_k",
    "transpose",
    "unstack",
    "while_loop",
    "zeta",
]
