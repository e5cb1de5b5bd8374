"""One op of adze as a Python expression.

Input: texts of operands with their types, and attributes. Output: text. Idea: numbers stay literals, and what
NumPy broadcasts by itself is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType, ValueType
from ..errors import ModelUnsupportedError


@dataclass(frozen=True)
class Text:
    """A value as text: `full` is of its type; `short` broadcasts to it, where that is shorter."""

    full: str
    type: ValueType
    short: str | None = None
    is_number: bool = False
    """Whether `short` is a Python number, which takes the dtype of what it meets."""

    @property
    def rank(self) -> int:
        return len(self.type.shape) if isinstance(self.type, TensorType) else 0


_INFIX: Final = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shift_left": "<<"}
_COMPARE: Final = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_XP: Final = {
    **{n: n for n in ("abs", "sign", "floor", "ceil", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2")},
    **{n: n for n in ("log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")},
    **{n: n for n in ("asinh", "acosh", "atanh", "real", "imag", "nextafter")},
    "round": "rint",
    "is_finite": "isfinite",
    "max": "maximum",
    "min": "minimum",
    "pow": "power",
}
_LAX: Final = {
    **{
        n: n
        for n in ("rsqrt", "logistic", "erf", "erfc", "erf_inv", "lgamma", "digamma", "rem", "conj", "clz")
    },
    **{n: n for n in ("complex", "shift_right_logical", "shift_right_arithmetic", "stop_gradient", "clamp")},
    "popcount": "population_count",
}
_REDUCE: Final = {
    "reduce_sum": "sum",
    "reduce_prod": "prod",
    "reduce_max": "max",
    "reduce_min": "min",
}
_SIZE: Final = {"size_add": "+", "size_sub": "-", "size_mul": "*", "size_div": "//"}


def dtype_text(dtype: np.dtype) -> str:
    return f"xp.{dtype.name}" if dtype.name == "bfloat16" else f'"{dtype.name}"'


def shape_text(sizes: Sequence[Any]) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def number(value: Any) -> str:
    """A number as Python writes it, with as many digits as its dtype needs."""
    array = np.asarray(value)
    if array.dtype == np.dtype(bool):
        return str(bool(array))
    if array.dtype.kind in "iu":
        return str(int(array))
    if array.dtype.kind == "c":
        parts = array.real, array.imag
        if all(np.isfinite(part) and (part or not np.signbit(part)) for part in parts):
            return repr(complex(array))
        return f"complex({number(parts[0])}, {number(parts[1])})"
    real = float(array)
    if not np.isfinite(real):
        return "xp.nan" if np.isnan(real) else "xp.inf" if real > 0 else "-xp.inf"
    text = str(np.float32(real)) if array.dtype == np.dtype(np.float32) else repr(real)
    return f"({text})" if text.startswith("-") else text


def expression(name: str, operands: Sequence[Text], attributes: Mapping[str, Any], result: ValueType) -> str:
    """The op called `name` of these operands."""
    if name in _ELEMENTWISE:
        return _ELEMENTWISE[name](_broadcast(operands, result), operands, attributes)
    if name in _SIZE:
        left, right = (o.full for o in operands)
        return f"({left} {_SIZE[name]} {right})"
    rule = _OTHERS.get(name)
    if rule is None:
        raise ModelUnsupportedError(f"adze import cannot write the op {name!r} as Python")
    return rule([o.full for o in operands], operands, attributes)


def _broadcast(operands: Sequence[Text], result: ValueType) -> list[str]:
    """Operands as short as they may be: at least one is written in full, and has the result's shape."""
    shape = result.shape if isinstance(result, TensorType) else ()
    whole = [o.short is None and isinstance(o.type, TensorType) and o.type.shape == shape for o in operands]
    if not any(whole):
        return [o.full for o in operands]
    return [o.full if o.short is None else o.short for o in operands]


def _select(texts: list[str], operands: Sequence[Text], attributes: Mapping[str, Any]) -> str:
    if all(o.is_number for o in operands[1:]):
        texts = [texts[0], operands[1].full, texts[2]]
    return f"xp.where({', '.join(texts)})"


def _divide(texts: list[str], operands: Sequence[Text], attributes: Mapping[str, Any]) -> str:
    is_integer = isinstance(operands[0].type, TensorType) and operands[0].type.dtype.kind in "iu"
    return f"lax.div({operands[0].full}, {operands[1].full})" if is_integer else f"({texts[0]} / {texts[1]})"


def _infix(sign: str) -> Callable[..., str]:
    return lambda texts, operands, attributes: f"({texts[0]} {sign} {texts[1]})"


def _call(function: str) -> Callable[..., str]:
    return lambda texts, operands, attributes: f"{function}({', '.join(texts)})"


def _full_call(function: str) -> Callable[..., str]:
    return lambda texts, operands, attributes: f"{function}({', '.join(o.full for o in operands)})"


_ELEMENTWISE: Final[Mapping[str, Callable[..., str]]] = {
    **{name: _infix(sign) for name, sign in _INFIX.items()},
    **{name: _call(f"xp.{other}") for name, other in _XP.items()},
    **{name: _full_call(f"lax.{other}") for name, other in _LAX.items()},
    "neg": lambda t, o, a: f"(-{t[0]})",
    "not": lambda t, o, a: f"(~{t[0]})",
    "div": _divide,
    "select": _select,
    "compare": lambda t, o, a: f"({t[0]} {_COMPARE[a['direction']]} {t[1]})",
    "convert": lambda t, o, a: f"{o[0].full}.astype({dtype_text(a['dtype'])})",
    "bitcast_convert": lambda t, o, a: f"lax.bitcast_convert_type({o[0].full}, {dtype_text(a['dtype'])})",
}


def _slice(texts: list[str], operands: Sequence[Text], a: Mapping[str, Any]) -> str:
    assert isinstance(operands[0].type, TensorType)
    parts = []
    for start, limit, stride, n in zip(
        a["start"], a["limit"], a["strides"], operands[0].type.shape, strict=True
    ):
        begin, end = "" if start == 0 else str(start), "" if limit == n and n is not None else str(limit)
        parts.append(f"{begin}:{end}" + (f":{stride}" if stride != 1 else ""))
    return f"{texts[0]}[{', '.join(parts)}]"


def _pad(texts: list[str], operands: Sequence[Text], a: Mapping[str, Any]) -> str:
    entries = [
        f"({low}, {high}, {inner})"
        for low, high, inner in zip(a["low"], a["high"], a["interior"], strict=True)
    ]
    return f"lax.pad({texts[0]}, {texts[1]}, [{', '.join(entries)}])"


def _dot(texts: list[str], operands: Sequence[Text], a: Mapping[str, Any]) -> str:
    (left, right), (left_batch, right_batch) = a["contracting"], a["batch"]
    x, y = operands
    batches = tuple(range(len(left_batch)))
    is_plain = not batches and left == (x.rank - 1,) and right == (0,) and y.rank <= 2
    same = batches == tuple(left_batch) == tuple(right_batch)
    is_batched = (
        same and x.rank == y.rank == len(batches) + 2 and left == (x.rank - 1,) and right == (y.rank - 2,)
    )
    assert isinstance(x.type, TensorType)
    if (is_plain or is_batched) and a["dtype"] == x.type.dtype:
        return f"({texts[0]} @ {texts[1]})"
    numbers = f"(({left}, {right}), ({left_batch}, {right_batch}))"
    kind = dtype_text(a["dtype"])
    return f"lax.dot_general({texts[0]}, {texts[1]}, {numbers}, preferred_element_type={kind})"


def _conv(texts: list[str], operands: Sequence[Text], a: Mapping[str, Any]) -> str:
    rank = operands[0].rank
    options = []
    if any(d != 1 for d in a["lhs_dilation"]):
        options.append(f"lhs_dilation={tuple(a['lhs_dilation'])}")
    if any(d != 1 for d in a["rhs_dilation"]):
        options.append(f"rhs_dilation={tuple(a['rhs_dilation'])}")
    specs = [tuple(a[name]) for name in ("lhs_spec", "rhs_spec", "out_spec")]
    if specs != [tuple(range(rank))] * 3:
        options.append(f"dimension_numbers=lax.ConvDimensionNumbers({', '.join(map(str, specs))})")
    for name in ("feature_group_count", "batch_group_count"):
        if a[name] != 1:
            options.append(f"{name}={a[name]}")
    words = [*texts, str(tuple(a["window_strides"])), str(tuple(map(tuple, a["padding"]))), *options]
    return f"lax.conv_general_dilated({', '.join(words)})"


_GATHER: Final = ("offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims")
_SCATTER: Final = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")


def _gather(texts: list[str], operands: Sequence[Text], a: Mapping[str, Any]) -> str:
    names = ", ".join(f"{n}={tuple(a[n])}" for n in (*_GATHER, "start_indices_batching_dims"))
    fill = f", fill_value={number(a['fill_value'])}" if a["mode"] == "fill" else ""
    sizes = shape_text(a["slice_sizes"])
    return (
        f"lax.gather({texts[0]}, {texts[1]}, lax.GatherDimensionNumbers({names}), {sizes}, "
        f'mode="{a["mode"]}"{fill})'
    )


def _scatter(texts: list[str], operands: Sequence[Text], a: Mapping[str, Any]) -> str:
    both = ("operand_batching_dims", "scatter_indices_batching_dims")
    names = ", ".join(f"{n}={tuple(a[n])}" for n in (*_SCATTER, *both))
    function = "scatter" if a["kind"] == "set" else f"scatter_{a['kind']}"
    return f'lax.{function}({", ".join(texts)}, lax.ScatterDimensionNumbers({names}), mode="{a["mode"]}")'


def _cumulative(name: str) -> Callable[..., str]:
    return lambda t, o, a: f"lax.{name}({t[0]}, axis={a['axis']}, reverse={a['reverse']})"


def _bitwise(name: str, of_bools: str) -> Callable[..., str]:
    """A reduction of bits, of booleans under NumPy's name."""

    def rule(texts: list[str], operands: Sequence[Text], a: Mapping[str, Any]) -> str:
        type_ = operands[0].type
        if isinstance(type_, TensorType) and type_.dtype == np.dtype(bool):
            return f"xp.{of_bools}({texts[0]}, axis={tuple(a['axes'])})"
        return f"lax.reduce_{name}({texts[0]}, {tuple(a['axes'])})"

    return rule


_OTHERS: Final[Mapping[str, Callable[..., str]]] = {
    "iota": lambda t, o, a: (
        f"lax.broadcasted_iota({dtype_text(a['dtype'])}, {shape_text(a['shape'])}, {a['axis']})"
    ),
    "dim": lambda t, o, a: f"{t[0]}.shape[{a['axis']}]",
    "size_constant": lambda t, o, a: str(a["value"]),
    "size_max": lambda t, o, a: f"max({t[0]}, {t[1]})",
    "size_to_array": lambda t, o, a: f"xp.asarray({t[0]}, dtype={dtype_text(a['dtype'])})",
    "broadcast_in_dim": lambda t, o, a: (
        f"lax.broadcast_in_dim({t[0]}, {shape_text(a['shape'])}, {tuple(a['dimensions'])})"
    ),
    "reshape": lambda t, o, a: f"xp.reshape({t[0]}, {shape_text(a['shape'])})",
    "transpose": lambda t, o, a: f"xp.transpose({t[0]}, {tuple(a['permutation'])})",
    "slice": _slice,
    "pad": _pad,
    "concatenate": lambda t, o, a: f"xp.concat([{', '.join(t)}], axis={a['axis']})",
    "reverse": lambda t, o, a: f"xp.flip({t[0]}, axis={tuple(a['axes'])})",
    "dynamic_slice": lambda t, o, a: (
        f"lax.dynamic_slice({t[0]}, ({', '.join(t[1:])},), {shape_text(a['slice_sizes'])}, "
        "allow_negative_indices=False)"
    ),
    "dynamic_update_slice": lambda t, o, a: (
        f"lax.dynamic_update_slice({t[0]}, {t[1]}, ({', '.join(t[2:])},), allow_negative_indices=False)"
    ),
    "gather": _gather,
    "scatter": _scatter,
    **{
        name: (lambda t, o, a, f=function: f"xp.{f}({t[0]}, axis={tuple(a['axes'])})")
        for name, function in _REDUCE.items()
    },
    "reduce_sum": lambda t, o, a: f"lax.reduce_sum({t[0]}, {tuple(a['axes'])})",
    "reduce_and": _bitwise("and", "all"),
    "reduce_or": _bitwise("or", "any"),
    "reduce_prod": lambda t, o, a: f"lax.reduce_prod({t[0]}, {tuple(a['axes'])})",
    "argmax": lambda t, o, a: f"lax.argmax({t[0]}, {a['axis']}, {dtype_text(a['index_dtype'])})",
    "argmin": lambda t, o, a: f"lax.argmin({t[0]}, {a['axis']}, {dtype_text(a['index_dtype'])})",
    **{name: _cumulative(name) for name in ("cumsum", "cumprod", "cummax", "cummin")},
    "dot_general": _dot,
    "conv_general": _conv,
    "random_bits": lambda t, o, a: f"lax.random_bits({t[0]}, {a['width']}, {shape_text(a['shape'])})",
    "top_k": lambda t, o, a: f"lax.top_k({t[0]}, {a['k']})",
    "sort": lambda t, o, a: (
        f"lax.sort(({', '.join(t)},), dimension={a['axis']}, num_keys={a['num_keys']}, "
        f"is_stable={a['is_stable']})"
    ),
    "optimization_barrier": lambda t, o, a: f"lax.optimization_barrier(({', '.join(t)},))",
    "checkpoint_name": lambda t, o, a: t[0],
}
