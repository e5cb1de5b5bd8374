"""What the operators and methods of arrays are: the one table of the functions that the spine calls by name.

Output: `TABLE`, which the package root registers in `frontend/tracing/operators.py`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..tracing.deleted import copied, delete
from ..tracing.specs import type_of
from . import numpy as xp
from .numpy.at_property import Indexer
from .numpy.indexing import get_index, rows_of
from .numpy_protocol import call_function, call_ufunc


def _ufunc_method(name: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        from .numpy import ufunc_methods  # loops load the engines, which arithmetic does not need

        return getattr(ufunc_methods, name)(*args)

    return call


TABLE: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": xp.abs,
    "add": xp.add,
    "all": xp.all,
    "any": xp.any,
    "argmax": xp.argmax,
    "argmin": xp.argmin,
    "argpartition": xp.argpartition,
    "argsort": xp.argsort,
    "astype": xp.astype,
    "at": Indexer,
    "bitwise_and": xp.bitwise_and,
    "bitwise_invert": xp.bitwise_invert,
    "bitwise_left_shift": xp.bitwise_left_shift,
    "bitwise_or": xp.bitwise_or,
    "bitwise_right_shift": xp.bitwise_right_shift,
    "bitwise_xor": xp.bitwise_xor,
    "call_function": call_function,
    "call_ufunc": call_ufunc,
    "choose": xp.choose,
    "clip": xp.clip,
    "compress": xp.compress,
    "conj": xp.conj,
    "cumprod": xp.cumprod,
    "cumsum": xp.cumsum,
    "copy_array": copied,
    "delete_array": delete,
    "diagonal": xp.diagonal,
    "divide": xp.divide,
    "divmod": xp.divmod,
    "dot": xp.dot,
    "equal": xp.equal,
    "floor_divide": xp.floor_divide,
    "get_index": get_index,
    "greater": xp.greater,
    "greater_equal": xp.greater_equal,
    "imag": xp.imag,
    "less": xp.less,
    "less_equal": xp.less_equal,
    "matmul": xp.matmul,
    "matrix_transpose": xp.matrix_transpose,
    "max": xp.max,
    "mean": xp.mean,
    "min": xp.min,
    "multiply": xp.multiply,
    "negative": xp.negative,
    "nonzero": xp.nonzero,
    "not_equal": xp.not_equal,
    "partition": xp.partition,
    "positive": xp.positive,
    "pow": xp.pow,
    "prod": xp.prod,
    "ptp": xp.ptp,
    "ravel": xp.ravel,
    "real": xp.real,
    "remainder": xp.remainder,
    "repeat": xp.repeat,
    "reshape": xp.reshape,
    "round": xp.round,
    "rows_of": rows_of,
    "searchsorted": xp.searchsorted,
    "sort": xp.sort,
    "squeeze": xp.squeeze,
    "stack": xp.stack,
    "std": xp.std,
    "subtract": xp.subtract,
    "sum": xp.sum,
    "swapaxes": xp.swapaxes,
    "take": xp.take,
    "to_device": xp.to_device,
    "trace": xp.trace,
    "transpose": xp.transpose,
    "type_of": type_of,
    "ufunc_accumulate": _ufunc_method("accumulate"),
    "ufunc_at": _ufunc_method("at"),
    "ufunc_outer": _ufunc_method("outer"),
    "ufunc_reduce": _ufunc_method("reduce"),
    "ufunc_reduceat": _ufunc_method("reduceat"),
    "var": xp.var,
    "view": xp.view,
}
