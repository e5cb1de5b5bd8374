"""Attributes and types between Python and MLIR, for one MLIR context.

`Codec` writes the Python value of a declared attribute as an MLIR attribute, reads it back, and does the
same for types. It caches what it has seen, since the bindings cost a microsecond a touch; a codec lives
as long as its context and is never shared between contexts.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import mlir
from .errors import VerificationError
from .op import Attribute, Op
from .types import SIZE, SizeType, TensorType, ValueType, dtype_from_name, dtype_name, require_possible

DYNAMIC: Final = -(2**63)  # ShapedType::kDynamic

LARGE: Final = 1 << 14
"""So many bytes of elements are read where they lie; fewer are copied, and keep nothing else alive."""


class Codec:
    """Reads and writes types and attributes of one MLIR context."""

    def __init__(self, context: mlir.ir.Context) -> None:
        self.context = context
        self._unknown = mlir.ir.Location.unknown(context)
        self._types: dict[ValueType, mlir.ir.Type] = {}
        self._read_types: dict[mlir.ir.Type, ValueType] = {}
        self._elements: dict[np.dtype, mlir.ir.Type] = {}
        self._written: dict[Any, mlir.ir.Attribute] = {}
        self._read: dict[tuple[str, mlir.ir.Attribute], Any] = {}
        self.results: dict[
            tuple[type[Op], tuple[ValueType, ...]], tuple[tuple[ValueType, ...], list[mlir.ir.Type]]
        ] = {}
        """The result types of ops without attributes, by the types of their operands; emitters fill it."""

    # -- types ---------------------------------------------------------------------------------

    def element_type(self, dtype: np.dtype) -> mlir.ir.Type:
        """The MLIR element type of a dtype, signedness kept."""
        element = self._elements.get(dtype)
        if element is None:
            element = self._elements[dtype] = mlir.ir.Type.parse(dtype_name(dtype), self.context)
        return element

    def write_type(self, type_: ValueType) -> mlir.ir.Type:
        """`TensorType` as a builtin ranked tensor, `SIZE` as `index`."""
        result = self._types.get(type_)
        if result is None:
            if isinstance(type_, SizeType):
                result = mlir.ir.IndexType.get(self.context)
            else:
                require_possible("an argument or a result", [type_])
                shape = [DYNAMIC if n is None else n for n in type_.shape]
                result = mlir.ir.RankedTensorType.get(
                    shape, self.element_type(type_.dtype), loc=self._unknown
                )
            self._types[type_] = result
            self._read_types[result] = type_
        return result

    def read_type(self, type_: mlir.ir.Type) -> ValueType:
        """The inverse of `write_type`; `VerificationError` for a type that adze does not have."""
        decoded = self._read_types.get(type_)
        if decoded is None:
            decoded = self._read_types[type_] = self._decode_type(type_)
        return decoded

    def _decode_type(self, type_: mlir.ir.Type) -> ValueType:
        if isinstance(type_, mlir.ir.IndexType):
            return SIZE
        if not isinstance(type_, mlir.ir.RankedTensorType) or type_.encoding is not None:
            raise VerificationError(f"type {type_} is not a type of adze: expected a ranked tensor or index")
        shape = tuple(None if n == DYNAMIC else n for n in type_.shape)
        return TensorType(shape, dtype_from_name(str(type_.element_type)))

    # -- attributes ----------------------------------------------------------------------------

    def write(self, attribute: Attribute, value: Any) -> mlir.ir.Attribute:
        """The MLIR attribute for a Python value of kind `attribute.kind`."""
        if attribute.kind == "elements":
            return self._write_elements(value)
        key = (attribute.kind, value)
        encoded = self._written.get(key)
        if encoded is None:
            encoded = self._written[key] = self._encode(attribute.kind, value)
        return encoded

    def _encode(self, kind: str, value: Any) -> mlir.ir.Attribute:
        ir, context = mlir.ir, self.context
        match kind:
            case "int":
                return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), value)
            case "ints":
                return ir.DenseI64ArrayAttr.get(list(value), context)
            case "sizes":
                return ir.DenseI64ArrayAttr.get([DYNAMIC if n is None else n for n in value], context)
            case "pairs":
                rows = [ir.DenseI64ArrayAttr.get(list(row), context) for row in value]
                return ir.ArrayAttr.get(rows, context)
            case "bool":
                return ir.BoolAttr.get(value, context)
            case "float":
                return ir.FloatAttr.get(ir.F64Type.get(context), value, loc=self._unknown)
            case "choice" | "text":
                return ir.StringAttr.get(value, context)
            case "dtype":
                return ir.TypeAttr.get(self.element_type(value), context)
            case "types":
                types = [ir.TypeAttr.get(self.write_type(t), context) for t in value]
                return ir.ArrayAttr.get(types, context)
            case "symbol":
                return ir.FlatSymbolRefAttr.get(value, context)
            case "symbols":
                refs = [ir.FlatSymbolRefAttr.get(name, context) for name in value]
                return ir.ArrayAttr.get(refs, context)
            case _:
                raise AssertionError(f"unknown attribute kind {kind}")

    def read(self, attribute: Attribute, value: mlir.ir.Attribute) -> Any:
        """The Python value of an MLIR attribute; `VerificationError` when it is of another kind."""
        key = (attribute.kind, value)
        decoded = self._read.get(key)
        if decoded is None:
            try:
                decoded = self._decode(attribute.kind, value)
            except (ValueError, TypeError, AttributeError):
                raise VerificationError(f"{value} is not an attribute of kind '{attribute.kind}'") from None
            self._read[key] = decoded
        return decoded

    def _decode(self, kind: str, value: mlir.ir.Attribute) -> Any:
        ir = mlir.ir
        match kind:
            case "int":
                return ir.IntegerAttr(value).value
            case "ints":
                return tuple(ir.DenseI64ArrayAttr(value))
            case "sizes":
                return tuple(None if n == DYNAMIC else n for n in ir.DenseI64ArrayAttr(value))
            case "pairs":
                return tuple(tuple(ir.DenseI64ArrayAttr(row)) for row in ir.ArrayAttr(value))
            case "bool":
                return ir.BoolAttr(value).value
            case "float":
                return ir.FloatAttr(value).value
            case "choice" | "text":
                return ir.StringAttr(value).value
            case "dtype":
                return dtype_from_name(str(ir.TypeAttr(value).value))
            case "types":
                return tuple(self.read_type(ir.TypeAttr(t).value) for t in ir.ArrayAttr(value))
            case "symbol":
                return ir.FlatSymbolRefAttr(value).value
            case "symbols":
                return tuple(ir.FlatSymbolRefAttr(ref).value for ref in ir.ArrayAttr(value))
            case "elements":
                array = np.asarray(value)  # a view, which keeps the attribute and its context
                if array.nbytes < LARGE:
                    array = array.copy()
                    array.setflags(write=False)
                return array
            case _:
                raise AssertionError(f"unknown attribute kind {kind}")

    def _write_elements(self, value: np.ndarray) -> mlir.ir.Attribute:
        type_ = self.write_type(TensorType(value.shape, value.dtype))
        with self.context:
            return mlir.ir.DenseElementsAttr.get(np.ascontiguousarray(value), type=type_)
