"""The conversion: every op of adze becomes linalg, tensor, arith, math and scf; adze is illegal afterwards.

Input: adze IR with a plan. Output: its lowered ops; loops and branches call their bodies, and the code of
long scalar functions is shared. MLIR's dialect conversion applies one pattern an op: decode it, call its
lowering (`lowering.py`), replace it. An op without a pattern, or one that a lowering leaves behind, fails the
conversion by name.

Unsigned element types are erased to signless ones here and in no pass of their own: lowerings ask for the
declared types of operands and results, and adze IR in which `ui8` is written `i8` would say something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.dialect import OPS
from ...dialects.errors import AdzeError
from ...dialects.op import DIALECT, Op
from ...dialects.registration import registered_dialect
from ...dialects.types import TensorType, ValueType
from ..base import Pass
from ..ir.aliases import Operation, Value
from ..ir.functions import functions
from ..ir.marks import BARRIER
from .forms import LOWERINGS, OF_TYPES_ALONE
from .lowering import Lowering
from .plan import hints_of, target_of


@dataclass(frozen=True)
class Convert(Pass):
    """Rewrite every op of adze to linalg on tensors by its lowering; adze is illegal afterwards."""

    name = "convert"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        Conversion(module, Lowering(module, target_of(module), LOWERINGS, hints_of(module))).run()


class Conversion:
    """One run of the dialect conversion, with what its patterns share."""

    def __init__(self, module: mlir.ir.Module, lowering: Lowering) -> None:
        self.module = module
        self.context = module.context
        self.codec = Codec(self.context)
        self.reader = Reader(self.codec)
        self.lowering = lowering
        self.builder = self.lowering.builder
        self.declared: dict[mlir.ir.Value, ValueType] = {}
        self._unsigned: dict[mlir.ir.Type, TensorType | None] = {}
        self._copied: dict[tuple[object, ...], Operation] = {}
        """The lowered elementwise ops that others are copies of, by op and types of operands."""
        self.failure: AdzeError | None = None

    def run(self) -> None:
        with self.context, mlir.ir.Location.unknown():
            self.builder.scalars.share_in(self.module)
            functions(self.module)  # refuses a module that holds anything else
            self._erase_signedness()
            rewrite = mlir.rewrite
            converter = rewrite.TypeConverter()
            keep = [_identity]
            converter.add_conversion(keep[0])  # the bindings do not keep the callback alive
            patterns = rewrite.RewritePatternSet(self.context)
            keep_patterns: list[Callable[..., bool]] = []
            for op in OPS:
                pattern = self._pattern(op)
                keep_patterns.append(pattern)
                patterns.add_conversion(f"{DIALECT}.{op.name}", pattern, converter)
            legality = rewrite.ConversionTarget(self.context)
            legality.add_illegal_dialect(registered_dialect())
            try:
                rewrite.apply_partial_conversion(self.module.operation, legality, patterns.freeze())
            except mlir.ir.MLIRError:
                if self.failure is not None:
                    raise self.failure from None
                raise
            self._declare_imports()

    def _declare_imports(self) -> None:
        """Declare the functions that lowered ops call and that the module does not have."""
        with mlir.ir.InsertionPoint.at_block_begin(self.module.body):
            for symbol, type_ in self.lowering.imports.items():
                mlir.func.FuncOp(symbol, type_, visibility="private")

    def _erase_signedness(self) -> None:
        """Give every unsigned value its signless type, remembering what it was declared to be."""
        for function in functions(self.module).values():
            for block in function.regions[0].blocks:
                for argument in block.arguments:
                    self._erase(argument)
                for operation in block.operations:
                    for result in operation.results:
                        self._erase(result)
            self._erase_signature(function)

    def _erase(self, value: Value) -> None:
        type_ = value.type
        if type_ not in self._unsigned:
            self._unsigned[type_] = self._read_unsigned(type_)
        declared = self._unsigned[type_]
        if declared is not None:
            self.declared[value] = declared
            value.set_type(self._erased(declared))

    def _read_unsigned(self, type_: mlir.ir.Type) -> TensorType | None:
        """An array of unsigned integers, None for other types."""
        if not isinstance(type_, mlir.ir.RankedTensorType):
            return None  # a size, or what a check of sizes asks
        declared = self.codec.read_type(type_)
        return declared if isinstance(declared, TensorType) and declared.dtype.kind == "u" else None

    def _erased(self, declared: TensorType) -> mlir.ir.Type:
        return self.builder.tensor_type(declared.shape, declared.dtype)

    def _erase_signature(self, function: Operation) -> None:
        block = function.regions[0].blocks[0]
        terminator = block.operations[len(block.operations) - 1]
        type_ = mlir.ir.FunctionType.get(
            [a.type for a in block.arguments], [v.type for v in terminator.operands]
        )
        function.attributes["function_type"] = mlir.ir.TypeAttr.get(type_)

    def _type(self, value: mlir.ir.Value) -> ValueType:
        declared = self.declared.get(value) if self.declared else None
        return declared or self.codec.read_type(value.type)

    def _pattern(self, op: type[Op]) -> Callable[..., bool]:
        def pattern(
            operation: Operation, adaptor: Any, converter: mlir.rewrite.TypeConverter, rewriter: Any
        ) -> bool:
            if self.failure is not None:
                return True
            try:
                self._convert(op, operation, adaptor, rewriter)
            except AdzeError as error:
                self.failure = error
                return True
            return False

        return pattern

    def _convert(self, op: type[Op], operation: Operation, adaptor: Any, rewriter: Any) -> None:
        taken = list(adaptor.operands)
        key = self._key(op, operation, taken)
        earlier = None if key is None else self._copied.get(key)
        if earlier is not None:
            value = self.builder.copy_of(earlier, taken, rewriter.ip, operation.location)
            self.lowering.count_uses(value, operation.results[0])
            rewriter.replace_op(operation, [value])
            return
        originals = list(operation.operands)
        results = list(operation.results)
        operand_types = tuple([self._type(v) for v in originals])
        result_types = tuple([self._type(v) for v in results])
        converted = [self.builder.size(v) for v in taken]
        application = self.reader.decode(op, operation, converted)
        with rewriter.ip, operation.location:
            operands = [self.builder.as_known(v) for v in application.operands]
            lowered = self.lowering.lower(
                op, operation, operand_types, result_types, operands, application.attributes
            )
            values = [self._as_declared(v, t) for v, t in zip(lowered, result_types, strict=True)]
            if BARRIER in operation.attributes:
                values = [self.builder.materialise(v) for v in values]
        for result, value in zip(results, values, strict=True):
            self.lowering.count_uses(value, result)
        if key is not None and self.builder.is_of(values[0], taken):
            self._copied[key] = values[0].owner
        rewriter.replace_op(operation, values)

    def _key(self, op: type[Op], operation: Operation, operands: list[Value]) -> tuple[object, ...] | None:
        """What decides how an elementwise op is lowered, None where there is more than its types."""
        builder = self.builder
        if op not in OF_TYPES_ALONE or not builder.repeats_ops or builder.complex_numbers or self.declared:
            return None
        return None if BARRIER in operation.attributes else (op, *[v.type for v in operands])

    def _as_declared(self, value: Value, declared: ValueType) -> mlir.ir.Value:
        """A result in the exact type its users were built for; sizes as `index` values."""
        if not isinstance(declared, TensorType):
            return self.builder.size_value(value)
        expected = self._erased(declared)
        if value.type == expected:
            return value
        shape = self.builder.shape(value)
        cast = mlir.tensor.cast(expected, value)
        return self.builder.bind_shape(cast, shape)


def _identity(type_: mlir.ir.Type) -> mlir.ir.Type:
    return type_
