"""The named ops of linalg that lowering emits: fills and convolutions.

Input: values. Output: the op, its region being filled by the bindings.
Idea: the functions that the bindings have for them work out in Python what each op's loops and maps are, for
each op anew, and take 80 ms to import.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialects import mlir
from ..ir.aliases import Attribute, Value


def filled(scalar: Value, init: Value) -> Value:
    """A tensor like `init`, all of whose elements are `scalar`, of their type."""
    return _named("fill", [scalar], init, {})


def convolved(
    name: str, image: Value, kernel: Value, init: Value, strides: Sequence[int], dilations: Sequence[int]
) -> Value:
    """The convolution of linalg called `name` of an image, whose results are added to `init`."""
    numbers = {"strides": strides, "dilations": dilations}
    attributes = {
        key: mlir.ir.DenseElementsAttr.get(np.array(values, np.int64)) for key, values in numbers.items()
    }
    return _named(name, [image, kernel], init, attributes)


def _named(name: str, inputs: Sequence[Value], init: Value, attributes: dict[str, Attribute]) -> Value:
    ir = mlir.ir
    segments = ir.DenseI32ArrayAttr.get([len(inputs), 1])
    operation = ir.Operation.create(
        f"linalg.{name}",
        results=[init.type],
        operands=[*inputs, init],
        attributes={**attributes, "operandSegmentSizes": segments},
        regions=1,
    )
    mlir.structured.fill_builtin_region(operation)
    return operation.result
