"""The pass `direct-collectives`: what it writes is what NCCL has, and computes what was there before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects import mlir
from adze.dialects.builder.emitter import Reader
from adze.dialects.codec import Codec
from adze.dialects.errors import MissingRuleError
from adze.frontend.staging.modules import clone_module
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.ir.functions import functions
from adze.passes.partition.direct import DirectCollectives
from adze.passes.pipeline import OPTIMIZE, run_pipeline
from adze.sharding import PartitionSpec as P

from .ranks import collectives

DIRECT = DirectCollectives("cuda:sm_80+nccl")
RANKS = 4
SUMMED = ("int8", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64")

COLLECTIVES: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: lax.psum(x, "m"),
    "max": lambda x: lax.pmax(x, "m"),
    "min": lambda x: lax.pmin(x, "m"),
    "gather 0": lambda x: lax.all_gather(x, "m", axis=0, tiled=True),
    "gather 1": lambda x: lax.all_gather(x, "m", axis=1, tiled=True),
    "gather a new axis": lambda x: lax.all_gather(x, "m", axis=2),
    "scatter 0": lambda x: lax.psum_scatter(x, "m", scatter_dimension=0, tiled=True),
    "scatter 2": lambda x: lax.psum_scatter(x, "m", scatter_dimension=2, tiled=True),
    "exchange 0 0": lambda x: lax.all_to_all(x, "m", split_axis=0, concat_axis=0, tiled=True),
    "exchange 0 1": lambda x: lax.all_to_all(x, "m", split_axis=0, concat_axis=1, tiled=True),
    "exchange 2 0": lambda x: lax.all_to_all(x, "m", split_axis=2, concat_axis=0, tiled=True),
    "exchange 2 2": lambda x: lax.all_to_all(x, "m", split_axis=2, concat_axis=2, tiled=True),
    "ring": lambda x: lax.ppermute(x, "m", [(i, (i + 1) % 2) for i in range(2)]),
    "one sends": lambda x: lax.ppermute(x, "m", [(1, 0)]),
}
DTYPES = (*SUMMED, "int16", "uint16", "float16", "bfloat16", "complex64", "complex128")


def mapped(name: str, axis: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """The traced program of one rank of 2 x 2, with a collective along an axis of the mesh."""
    with adze.distributed.planned(RANKS):
        mesh = adze.make_mesh((2, 2), ("m", "n") if axis == "first" else ("n", "m"))
        of_rank = COLLECTIVES[name]
        function = adze.shard_map(of_rank, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
        program = adze.trace(function, adze.ShapeDtype(shape, dtype)).program
        run_pipeline(program.module, OPTIMIZE)
        return program


def on_ranks(module: Any, symbol: str, x: np.ndarray) -> list[np.ndarray]:
    def rank() -> np.ndarray:
        own = (x * x.dtype.type(adze.distributed.process_index() + 1)).astype(x.dtype)
        return np.asarray(evaluate(module, symbol, [own])[0])

    return adze.distributed.run(rank, RANKS)


@pytest.mark.parametrize("name", COLLECTIVES)
def test_it_computes_what_was_there_before(name: str) -> None:
    for number, dtype in enumerate(DTYPES):
        kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
        if name in ("max", "min") and kind.kind == "c":
            continue
        x = (np.arange(24).reshape(4, 3, 2) % 11 - (0 if kind.kind == "u" else 5)).astype(kind)
        program = mapped(name, "first" if number % 2 else "last", x.shape, kind)
        want = on_ranks(program.module, program.symbol, x)
        direct = clone_module(program.module)
        DIRECT.run(direct)
        verify(direct)
        for one, other in zip(want, on_ranks(direct, program.symbol, x), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        for operation in written(direct):
            check_has_nccl_like_it(operation)


def written(module: mlir.ir.Module) -> list[tuple[str, dict[str, Any], str]]:
    """The collectives of a module: name, attributes, and the dtype that they exchange."""
    codec = Codec(module.context)
    reader, found = Reader(codec), []
    for function in functions(module).values():
        for operation in function.regions[0].blocks[0].operations:
            application = reader.read(operation.operation)
            if application is not None and f"{application.op.name}" in collectives(module):
                kind: Any = codec.read_type(operation.operands[0].type)
                found.append((application.op.name, application.attributes, kind.dtype.name))
    assert found
    return found


def check_has_nccl_like_it(operation: tuple[str, dict[str, Any], str]) -> None:
    name, attributes, dtype = operation
    axes = [attributes[key] for key in ("dim", "split", "concat") if key in attributes]
    assert not any(axes), operation
    assert not dtype.startswith("complex"), operation
    if name in ("all_reduce", "reduce_scatter"):
        assert dtype in SUMMED, operation
        assert attributes.get("kind", "sum") == "sum" or not dtype.startswith("float"), operation


def test_a_maximum_keeps_nan() -> None:
    program = mapped("max", "first", (3,), np.float32)
    direct = clone_module(program.module)
    DIRECT.run(direct)
    x = np.array([1, np.nan, -np.inf], np.float32)
    for each in on_ranks(direct, program.symbol, x):
        np.testing.assert_array_equal(np.isnan(each), [False, True, False])


def test_other_targets_are_left_alone() -> None:
    program = mapped("exchange 2 0", "first", (4, 3, 2), np.float16)
    before = str(program.module)
    assert not DirectCollectives("cuda").run(program.module)
    assert str(program.module) == before


def test_an_array_of_unknown_size_is_refused() -> None:
    program = mapped("sum", "first", (4, 3, 2), np.float32)
    text = str(program.module).replace("tensor<4x3x2xf32>", "tensor<?x3x2xf32>")
    with program.module.context:
        module = mlir.ir.Module.parse(text)
    with pytest.raises(MissingRuleError, match="devices exchange arrays of known sizes") as caught:
        DIRECT.run(module)
    assert "without +nccl" in str(caught.value)
