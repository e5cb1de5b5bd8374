"""Attributes and types of MLIR as Python values: integers, texts, tuples, arrays, and records of dialects.

Input: attributes and types of the bindings. Output: `int`, `bool`, `float`, `str`, tuples and dicts of those,
NumPy arrays; of StableHLO's own attributes the name that an enumeration chose (`"LT"`), or a dict of the
fields of a record (`#stablehlo.gather<offset_dims = [0], ...>`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....dialects import mlir
from ....dialects.types import BOOL, TensorType, dtype_from_name, require_possible
from .narrow import NarrowTensor, held, narrow_type
from .program import TOKEN, ProgramType, StableHLOError, TupleType, static_shape

_ENUMERATION: Final = re.compile(r"#(?:stablehlo|chlo)<\w+ (\w+)>")
_FIELD: Final = re.compile(r"(\w+) = (\[[^\]]*\]|[^,>\]]+)")
_DIMENSIONS: Final = re.compile(r"#stablehlo\.conv<(?:raw\s*)?\[(.*?)\]x\[(.*?)\]->\[(.*?)\]>")
_DENSE: Final = re.compile(r"dense<(.*)>\s*:\s*tensor<", re.DOTALL)
_HEX: Final = re.compile(r'\s*"0x([0-9A-Fa-f]*)"\s*')
_PARTS: Final[dict[np.dtype, np.dtype]] = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
_NUMBER: Final = re.compile(r"0x[0-9A-Fa-f]+|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|true|false")


def type_of(type_: Any, where: str) -> ProgramType:
    """The type, or the `StableHLOError` for one that adze has no arrays of."""
    ir = mlir.ir
    if isinstance(type_, ir.RankedTensorType):
        shape = tuple(None if type_.is_dynamic_dim(i) else int(n) for i, n in enumerate(type_.shape))
        narrow = narrow_type(shape, str(type_.element_type))
        result = narrow or TensorType(shape, _dtype(type_.element_type, where))
        require_possible(where, [result])
        return result
    if isinstance(type_, ir.TupleType):
        return TupleType(tuple(type_of(type_.get_type(i), where) for i in range(type_.num_types)))
    text = str(type_)
    if text == "!stablehlo.token":
        return TOKEN
    if text.startswith("tensor<*"):
        raise StableHLOError(f"an array of unknown rank, {text}, is not possible in adze", where=where)
    raise StableHLOError(f"the type {text} is not possible in adze", where=where)


def _dtype(element: Any, where: str) -> np.dtype:
    text = str(element)
    if text.startswith("!quant."):
        raise StableHLOError(
            f"quantized arrays are not supported: {text}",
            where=where,
            hint="export the program with ordinary floating-point or integer types",
        )
    if text == "index":
        return np.dtype(np.int64)
    try:
        return dtype_from_name(text)
    except Exception:
        raise StableHLOError(
            f"arrays of {text} are not supported",
            where=where,
            hint="bool, integers of 2 to 64 bits, floats of 4 to 64 bits and complex numbers are possible",
        ) from None


def attributes_of(operation: Any, where: str) -> dict[str, Any]:
    """All attributes of an operation of MLIR."""
    names = [name if isinstance(name, str) else name.name for name in operation.attributes]
    return {name: _attribute(operation, name, where) for name in names}


def _attribute(operation: Any, name: str, where: str) -> Any:
    if name == "value" and operation.name == "stablehlo.constant":
        return _elements(operation, where)
    try:
        attribute = operation.attributes[name]
    except TypeError:  # the bindings have no class for it, such as complex numbers
        return None
    return python_value(attribute)


def python_value(attribute: Any) -> Any:
    """An attribute as a Python value; its text where it is of a kind that no rule needs."""
    for kind, convert in _conversions():
        if isinstance(attribute, kind):
            return convert(attribute)
    return _record(str(attribute))


def _conversions() -> tuple[tuple[Any, Callable[[Any], Any]], ...]:
    ir = mlir.ir
    return (
        (ir.BoolAttr, lambda a: bool(a.value)),
        (ir.IntegerAttr, lambda a: int(a.value)),
        (ir.FloatAttr, lambda a: float(a.value)),
        (ir.StringAttr, lambda a: str(a.value)),
        (ir.FlatSymbolRefAttr, lambda a: str(a.value)),
        (ir.DenseI64ArrayAttr, lambda a: tuple(int(x) for x in a)),
        (ir.DenseI32ArrayAttr, lambda a: tuple(int(x) for x in a)),
        (ir.DenseBoolArrayAttr, lambda a: tuple(bool(x) for x in a)),
        (ir.DenseIntElementsAttr, _integers),
        (ir.ArrayAttr, lambda a: tuple(python_value(x) for x in a)),
        (ir.DictAttr, lambda a: {x.name: python_value(x.attr) for x in (a[i] for i in range(len(a)))}),
        (ir.UnitAttr, lambda a: True),
    )


def _integers(attribute: Any) -> Any:
    try:
        return np.array(attribute)
    except (TypeError, ValueError):
        return str(attribute)


def _record(text: str) -> Any:
    """StableHLO's own attributes, which the bindings know by their text alone."""
    enumeration = _ENUMERATION.fullmatch(text)
    if enumeration:
        return enumeration[1]
    dimensions = _DIMENSIONS.fullmatch(text)
    if dimensions:
        return tuple(tuple(entry.strip() for entry in part.split(",")) for part in dimensions.groups())
    if text.startswith(("#stablehlo.", "#chlo.")):
        return {name: _field(value.strip()) for name, value in _FIELD.findall(text)}
    return text


def _field(text: str) -> Any:
    if text.startswith("["):
        inner = text[1:-1].strip()
        return tuple(int(x) for x in inner.split(",")) if inner else ()
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _elements(operation: Any, where: str) -> np.ndarray:
    """The array of a constant; where one number fills it, a view of that number."""
    type_ = type_of(operation.results[0].type, where)
    if not isinstance(type_, TensorType) or not type_.is_static:
        raise StableHLOError("a constant must be an array of a static shape", where=where)
    if isinstance(type_, NarrowTensor):
        return held(_parsed_elements(str(operation), TensorType(type_.shape, type_.numbers), where), type_)
    shape = static_shape(type_)
    try:
        attribute = operation.attributes["value"]
        if attribute.is_splat and type_.dtype.kind in "biu":
            return _filled(int(attribute.get_splat_value().value), shape, type_.dtype)
        if not attribute.is_splat:
            return np.array(attribute).astype(type_.dtype, copy=False).reshape(shape)
    except (AttributeError, TypeError, ValueError):
        pass  # bf16 and complex numbers have no buffer, splats of floats lose the bits of NaN
    return _parsed_elements(str(operation), type_, where)


def _filled(value: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    scalar = np.array(value % 2 if dtype == BOOL else value).astype(dtype)
    return np.broadcast_to(scalar, shape)


def _parsed_elements(text: str, type_: TensorType, where: str) -> np.ndarray:
    """The elements as the text of an op writes them: `[1.5, 0x7F80]`, `(1.0,2.0)`, `"0x.."`."""
    dense = _DENSE.search(text)
    if dense is None:
        raise StableHLOError(
            f"cannot read the constant {text[:80]}",
            where=where,
            hint="print the module with its constants: elided and external elements are not there",
        )
    shape, dtype = static_shape(type_), type_.dtype
    blob = _HEX.fullmatch(dense[1])
    if blob:
        flat = np.frombuffer(bytes.fromhex(blob[1]), dtype)
    else:
        part = _PARTS.get(dtype, dtype)
        flat = np.array([_number(n, part) for n in _NUMBER.findall(dense[1])], part).view(dtype)
    if flat.size == 1:
        return np.broadcast_to(flat.reshape(()), shape)
    if flat.size != int(np.prod(shape)):
        raise StableHLOError(f"a constant of {type_} has {flat.size} elements", where=where)
    return flat.reshape(shape)


def _number(text: str, dtype: np.dtype) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x") and dtype.kind in "fV":
        return np.array(int(text, 16), f"uint{8 * dtype.itemsize}").view(dtype)[()]
    return dtype.type(int(text, 0)) if dtype.kind in "iu" else dtype.type(float(text))
