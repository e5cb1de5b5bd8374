"""How an op finds its lowering: the context that a lowering function takes, and the table of them.

Input: an op of adze with lowered operands. Output: the lowered values of its results.
Idea: a lowering is a function `(ctx, *operands, **attributes)` in a file of `forms/`, for an op class or for
a family of them; `forms.LOWERINGS` is the table. What belongs to the module is in `Lowering`, what belongs to
one op in its `LoweringContext`: there is no other state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...dialects.errors import MissingRuleError
from ...dialects.op import Op
from ...dialects.ops.shape.rearrange import Reshape
from ...dialects.types import TensorType, ValueType
from ...runtime.targets import Target, TargetKind
from .builder import LinalgBuilder, Operation, Type, Value
from .kernels.executable import Kernels
from .tuning.hints import ModuleHints

if TYPE_CHECKING:
    from iree.compiler import ir

Lowered: TypeAlias = "Value | tuple[Value, ...] | None"
LoweringFunction: TypeAlias = Callable[..., Lowered]
LoweringTable: TypeAlias = dict[type[Op], LoweringFunction]


class ModuleFunctions:
    """The functions of the module that is lowered, by symbol."""

    def __init__(self, module: ir.Module) -> None:
        self._module = module

    def signature(self, symbol: str) -> tuple[list[Type], list[Type]]:
        """The argument and result types of a function."""
        type_ = mlir.ir.FunctionType(self._function(symbol).attributes["function_type"].value)
        return list(type_.inputs), list(type_.results)

    def arguments(self, symbol: str) -> list[Value]:
        """The arguments of a function."""
        return list(self._block(symbol).arguments)

    def operations(self, symbol: str) -> list[Operation]:
        """The ops of a function."""
        return [op.operation for op in self._block(symbol).operations]

    @cached_property
    def scan_count(self) -> int:
        """How many scans the module has, when first asked: before one of them is lowered."""
        blocks = [f.regions[0].blocks[0] for f in self._module.body.operations]
        return sum(o.operation.name == "adze.scan" for block in blocks for o in block.operations)

    def _block(self, symbol: str) -> ir.Block:
        return self._function(symbol).regions[0].blocks[0]

    def _function(self, symbol: str) -> Operation:
        for operation in self._module.body.operations:
            if operation.attributes["sym_name"].value == symbol:
                return operation
        raise AssertionError(f"no function @{symbol}")


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """What a lowering function knows beside operands and attributes.

    `operation` is the op that is lowered, of class `op`; `operand_types` and `result_types` are its declared
    types, unsigned ones included. `uses` counts the uses of the values that lowered values stand for.
    """

    target: Target
    hints: ModuleHints
    builder: LinalgBuilder
    functions: ModuleFunctions
    uses: Mapping[Value, int]
    kernels: Kernels
    imports: dict[str, Type]
    op: type[Op]
    operation: Operation
    operand_types: tuple[ValueType, ...]
    result_types: tuple[ValueType, ...]

    @property
    def operand_tensors(self) -> list[TensorType]:
        """The types of the operands that are tensors."""
        return [t for t in self.operand_types if isinstance(t, TensorType)]

    @property
    def result_tensors(self) -> list[TensorType]:
        """The types of the results that are tensors."""
        return [t for t in self.result_types if isinstance(t, TensorType)]

    @property
    def operand_dtype(self) -> np.dtype:
        """The dtype of the first operand."""
        first = self.operand_types[0]
        assert isinstance(first, TensorType)
        return first.dtype

    @property
    def result_type(self) -> TensorType:
        """The type of the only result."""
        (type_,) = self.result_types
        assert isinstance(type_, TensorType)
        return type_

    @property
    def is_returned(self) -> bool:
        """Whether the function's `return` is the only user, also of what is reshaped: no op is fused with."""
        return all(map(_is_returned, self.operation.results))


def _is_returned(value: Value) -> bool:
    users = [use.owner.operation for use in value.uses]
    return all(
        user.name == "func.return" or (user.name == f"adze.{Reshape.name}" and _is_returned(user.results[0]))
        for user in users
    )


class Lowering:
    """The state of lowering one module for one target by a table of lowerings."""

    def __init__(
        self,
        module: ir.Module,
        target: Target,
        table: LoweringTable,
        hints: ModuleHints | None = None,
        builder: LinalgBuilder | None = None,
    ) -> None:
        self.table = table
        self.target = target
        self.hints = hints or ModuleHints()
        self.builder = builder or LinalgBuilder(module.context, TargetKind(target.kind))
        scalars = self.builder.scalars
        scalars.arithmetic = scalars.arithmetic._replace(
            rounds_at_once=target.rounds_at_once,
            flushes=target.flushes_subnormals,
            multiplies_and_adds=target.multiplies_and_adds,
        )
        self.functions = ModuleFunctions(module)
        self.kernels = Kernels(module)
        self.imports: dict[str, Type] = {}
        """The functions that the lowered program imports, with their types."""
        self.uses: dict[Value, int] = {}

    def lower(
        self,
        op: type[Op],
        operation: Operation,
        operand_types: tuple[ValueType, ...],
        result_types: tuple[ValueType, ...],
        operands: Sequence[Value],
        attributes: Mapping[str, object],
    ) -> tuple[Value, ...]:
        """The lowered results of one op, emitted at the ambient insertion point."""
        function = lowering_of(op, self.table)
        ctx = LoweringContext(
            self.target,
            self.hints,
            self.builder,
            self.functions,
            self.uses,
            self.kernels,
            self.imports,
            op,
            operation,
            operand_types,
            result_types,
        )
        lowered = function(ctx, *operands, **attributes)
        if lowered is None:
            return ()
        return lowered if isinstance(lowered, tuple) else (lowered,)

    def count_uses(self, value: Value, result: Value) -> None:
        """Let `value` stand for `result`: a value that stands for two results, one an operand of the other's
        op, has the uses of both."""
        self.uses[value] = max(self.uses.get(value, 0) - 1, 0) + len(list(result.uses))


def lowering_of(op: type[Op], table: LoweringTable) -> LoweringFunction:
    """The lowering of an op in `table`: its own, or that of its nearest family."""
    for base in op.__mro__:
        if base in table:
            return table[base]
    raise MissingRuleError(f"op 'adze.{op.name}' cannot be lowered: passes/lower/forms has nothing for it")
