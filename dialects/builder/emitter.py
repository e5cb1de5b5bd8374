"""Between Python and MLIR ops: `Emitter` appends adze ops to a function, `Reader` decodes them.

The emitter is the builder behind every rule that makes IR: it infers result types, writes attributes and
creates the op at its insertion point with its current location. The reader returns to an engine what a rule
wants: the declaration, the operands and the attributes as Python values, sizes merged in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .. import mlir
from ..codec import Codec
from ..dialect import BY_NAME
from ..errors import VerificationError
from ..generated.builder import Builder
from ..op import DIALECT, Op, stated_sizes
from ..ops.constants import Constant
from ..types import ValueType, require_possible
from .core import Application

_DECLARED: Final = {f"{DIALECT}.{name}": op for name, op in BY_NAME.items()}


class Emitter(Builder[Any]):
    """A builder whose values are MLIR SSA values; `point` and `location` say where ops are made."""

    dialect = BY_NAME

    def __init__(self, codec: Codec, point: mlir.ir.InsertionPoint, location: mlir.ir.Location) -> None:
        self.codec = codec
        self.point = point
        self.location = location
        self.functions: Any = None
        """The engine that a rule asks for a function, if one drives this emitter."""

    def type_of(self, value: mlir.ir.Value) -> ValueType:
        return self.codec.read_type(value.type)

    def constant_of(self, value: mlir.ir.Value) -> np.ndarray | None:
        application = self.defining(value)
        if application is None or application.op is not Constant:
            return None
        array: np.ndarray = Constant.evaluate(**application.attributes)
        return array

    def defining(self, value: mlir.ir.Value) -> Application | None:
        owner = value.owner
        if isinstance(owner, mlir.ir.Block) or len(owner.results) != 1:
            return None
        return Reader(self.codec).read(owner)

    def apply(
        self, op: type[Op], operands: Sequence[mlir.ir.Value], attributes: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        types = [self.codec.read_type(v.type) for v in operands]
        return self.emit(op, operands, types, attributes)[0]

    def emit(
        self,
        op: type[Op],
        operands: Sequence[mlir.ir.Value],
        types: Sequence[ValueType],
        attributes: Mapping[str, Any],
    ) -> tuple[tuple[Any, ...], tuple[ValueType, ...]]:
        """`apply` for callers that know the operand types; returns the result types as well."""
        codec = self.codec
        values = list(operands)
        written: dict[str, mlir.ir.Attribute] = {}
        if op.attributes or attributes:
            result_types = op.result_types(types, attributes)
            require_possible(op.name, result_types)
            written_types = [codec.write_type(t) for t in result_types]
        else:
            result_types, written_types = self._known_results(op, tuple(types))
        for name, attribute in op.attributes.items():
            value = attributes[name]
            if attribute.kind == "sizes":
                values.extend(n for n in value if not isinstance(n, (int, np.integer)))
                value = stated_sizes(value)
            written[name] = codec.write(attribute, value)
        created = mlir.ir.Operation.create(
            f"{DIALECT}.{op.name}",
            results=written_types,
            operands=values,
            attributes=written,
            loc=self.location,
            ip=self.point,
        )
        return tuple(created.results), result_types

    def _known_results(
        self, op: type[Op], types: tuple[ValueType, ...]
    ) -> tuple[tuple[ValueType, ...], list[mlir.ir.Type]]:
        """The result types of an op without attributes, and as MLIR types, once computed."""
        known = self.codec.results.get((op, types))
        if known is None:
            result_types = op.result_types(types, {})
            require_possible(op.name, result_types)
            known = result_types, [self.codec.write_type(t) for t in result_types]
            self.codec.results[op, types] = known
        return known


class Reader:
    """Decodes adze ops of one context."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def declaration(self, name: str) -> type[Op] | None:
        """The declaration of the op called `adze.<name>`, None for an op of another dialect."""
        declared = _DECLARED.get(name)
        if declared is not None:
            return declared
        if name.partition(".")[0] != DIALECT:
            return None
        raise VerificationError(f"there is no op '{name}' in the adze dialect")

    def read(
        self, operation: Any, lookup: Callable[[mlir.ir.Value], Any] | None = None
    ) -> Application | None:
        """Decode an op; operands and sizes go through `lookup`. None for an op of another dialect."""
        op = self.declaration(operation.name)
        if op is None:
            return None
        operands: list[Any] = list(operation.operands)
        if lookup is not None:
            operands = [lookup(v) for v in operands]
        return self.decode(op, operation, operands)

    def read_if(self, operation: Any, is_wanted: Callable[[type[Op]], bool]) -> Application | None:
        """`read` for an op of a wanted class, None for others: they cost a tenth of what decoding does."""
        op = self.declaration(operation.name)
        return self.read(operation) if op is not None and is_wanted(op) else None

    def decode(self, op: type[Op], operation: Any, operands: list[Any]) -> Application:
        """`operation`, of class `op`, with `operands` in the place of its own."""
        attributes: dict[str, Any] = {}
        if not op.attributes:
            return Application(op, tuple(operands), attributes)
        raw = operation.attributes
        for name, attribute in op.attributes.items():
            if name not in raw:
                raise VerificationError(f"op 'adze.{op.name}' lacks its attribute '{name}'")
            attributes[name] = self.codec.read(attribute, raw[name])
        if op.size_attributes:
            self._merge_sizes(op, operands, attributes)
        return Application(op, tuple(operands), attributes)

    @staticmethod
    def _merge_sizes(op: type[Op], operands: list[Any], attributes: dict[str, Any]) -> None:
        """Move trailing size operands into the `sizes` attributes they belong to."""
        names = op.size_attributes
        dynamic = sum(attributes[n].count(None) for n in names)
        if not dynamic:
            return
        if len(operands) < dynamic:
            raise VerificationError(f"op 'adze.{op.name}' lacks operands for its dynamic sizes")
        trailing = iter(operands[-dynamic:])
        del operands[-dynamic:]
        for name in names:
            attributes[name] = tuple(next(trailing) if n is None else n for n in attributes[name])
