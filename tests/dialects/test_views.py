"""Walking adze IR with the bindings yields the op classes that come from the declarations."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adze.dialects import mlir, views
from adze.dialects.builder.emitter import Emitter
from adze.dialects.codec import Codec
from adze.dialects.dialect import OPS
from adze.dialects.types import TensorType

F32 = np.dtype(np.float32)


@pytest.fixture
def block() -> Iterator[Any]:
    """The body of a function of a vector and a matrix, with a few ops in it."""
    views.register()
    context = mlir.ir.Context()
    context.allow_unregistered_dialects = True
    location = mlir.ir.Location.unknown(context)
    codec = Codec(context)
    types = [codec.write_type(TensorType(shape, F32)) for shape in ((3,), (None, 3))]
    with context, location:
        module = mlir.ir.Module.create()
        with mlir.ir.InsertionPoint(module.body):
            function = mlir.func.FuncOp("f", mlir.ir.FunctionType.get(types, []))
            body = function.add_entry_block()
        b = Emitter(codec, mlir.ir.InsertionPoint(body), location)
        x, matrix = body.arguments
        n = b.dim(matrix, axis=0)
        wide = b.broadcast_in_dim(x, shape=(n, 3), dimensions=(1,))
        b.compare(wide, matrix, direction="LT")
        b.and_(b.compare(wide, wide, direction="EQ"), b.compare(wide, wide, direction="NE"))
        with mlir.ir.InsertionPoint(body):
            mlir.func.ReturnOp([])
    yield body
    del module  # the block does not keep it alive


def test_walking_yields_registered_classes(block: Any) -> None:
    names = [type(op).__name__ for op in block.operations][:-1]
    assert names == ["Dim", "BroadcastInDim", "Compare", "Compare", "Compare", "And"]


def test_accessors_give_operands_and_python_values(block: Any) -> None:
    _, broadcast, compare, *_ = block.operations
    assert broadcast.x == block.arguments[0]
    assert broadcast.shape == (None, 3)
    assert broadcast.dimensions == (1,)
    assert compare.x == broadcast.result
    assert compare.direction == "LT"
    assert compare.declaration.name == "compare"


def test_views_keep_the_members_of_the_bindings(block: Any) -> None:
    for op in block.operations:
        assert op.operation.name == op.name
        assert len(op.operands) == len(op.operation.operands)


def test_every_op_has_a_class() -> None:
    dialect = views.register()
    assert dialect is views.register()
    assert dialect.DIALECT_NAMESPACE == "adze"
    assert len({views._view_class(op).OPERATION_NAME for op in OPS}) == len(OPS)
