"""The dynamic sizes of linear values in a backward pass.

A backward pass never has the value of a linear argument, but transpose rules ask for its sizes (zeros, slices
to pad) and the function itself may measure it. Input: the linear function, and the emitter of its backward
pass. Output: zeros of the shape of any linear value, and through them its sizes. Idea: the ops before the
value are emitted once more on zeros; only shapes of the result are used, so the lowering computes none of it.
Zeros of an argument come from its type, or from its shape operand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.errors import UnknownSizeError
from ...dialects.types import SIZE, TensorType
from ..ir.aliases import Operation, Value, ValueMap
from ..ir.construction import clone_operation
from ..ir.functions import body
from ..ir.shape_operands import shape_operands


class LinearSizes:
    """The sizes of the `linear` values of one function, emitted where its backward pass asks for them.

    `values` maps what is not linear to the values of the backward pass. Both grow with that pass.
    """

    def __init__(
        self, source: Operation, reader: Reader, emitter: Emitter, values: ValueMap, linear: Collection[Value]
    ) -> None:
        self.source = source
        self.reader = reader
        self.emitter = emitter
        self.values = values
        self.linear = linear
        self._arguments = list(body(source).arguments)
        self._zeros: ValueMap = {}

    def of(self, value: Value) -> tuple[int | Value, ...]:
        """The sizes of a linear value."""
        return self.emitter.sizes(self._zeros_like(value))

    def is_measured(self, operation: Operation) -> bool:
        """Whether all results of an op are sizes: the sizes of a linear value are not linear in it."""
        return all(self.reader.codec.read_type(r.type) == SIZE for r in operation.results)

    def measure(self, operation: Operation) -> None:
        """Emit an op whose results are sizes of linear values."""
        operands = self._operands_on_zeros(operation)
        clone_operation(operation, operands, self.emitter.point)
        self.values.update((r, operands[r]) for r in operation.results)

    def _zeros_like(self, value: Value) -> Value:
        if value not in self._zeros:
            if value in self._arguments:
                self._zeros[value] = self._zero_argument(value)
            else:
                self._zeros.update(self._zero_results(value.owner))
        return self._zeros[value]

    def _zero_results(self, operation: Operation) -> Mapping[Value, Value]:
        """Zeros like each result: like the operand that has its shape, or else the op applied to zeros."""
        application = self.reader.read(operation)
        assert application is not None
        op, operands, attributes = application
        places = () if op.shape_operands is None else op.shape_operands(**attributes)
        shaped = [operands[place] for place in places]
        if shaped and not any(v in self.linear for v in shaped):
            zeros = [self.emitter.zeros_like(self.values[v]) for v in shaped]
            return dict(zip(operation.results, zeros, strict=True))
        mapped = self._operands_on_zeros(operation)
        clone_operation(operation, mapped, self.emitter.point)
        return {result: mapped[result] for result in operation.results}

    def _operands_on_zeros(self, operation: Operation) -> ValueMap:
        return {v: self._zeros_like(v) if v in self.linear else self.values[v] for v in operation.operands}

    def _zero_argument(self, argument: Value) -> Value:
        kind = self.reader.codec.read_type(argument.type)
        if isinstance(kind, TensorType) and kind.is_static:
            return self.emitter.full(0, tuple(n for n in kind.shape if n is not None), kind.dtype)
        places = shape_operands(self.source)
        place = places[self._arguments.index(argument)] if places else -1
        if place < 0:
            symbol = self.source.attributes["sym_name"].value
            raise UnknownSizeError(
                f"cannot transpose @{symbol}: the shape of a linear argument of type {argument.type} is "
                "dynamic and no other argument has it"
            )
        return self.emitter.zeros_like(self.values[self._arguments[place]])
