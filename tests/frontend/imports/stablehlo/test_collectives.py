"""Programs for many ranks, over named axes: values of the interpreter tests of openxla/stablehlo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.imports import StableHLOError

P = adze.sharding.PartitionSpec
ADD = "({\n^bb0(%a: tensor<i64>, %b: tensor<i64>):\n%s = stablehlo.add %a, %b : tensor<i64>\n"
ADD += "stablehlo.return %s : tensor<i64>\n})"
PAIR = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"


def program(op: str, attributes: str, types: str, region: str = "", ranks: str = "") -> Any:
    """One collective of one argument."""
    operand, _, result = types.partition(" -> ")
    body = f'%r = "stablehlo.{op}"(%x) {region} {{{attributes}}} : ({operand}) -> {result}'
    main = f"func.func public @main(%x: {operand}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"
    return adze.from_stablehlo(f"module @m attributes {{{ranks}}} {{\n{main}\n}}")


def ids(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.int64).reshape(shape)


CASES = {
    "all_reduce": (
        program("all_reduce", PAIR, "tensor<4xi64> -> tensor<4xi64>", ADD),
        ids(2, 4),
        [[6, 8, 10, 12], [6, 8, 10, 12]],
    ),
    "all_gather": (
        program("all_gather", f"all_gather_dim = 1 : i64, {PAIR}", "tensor<2x2xi64> -> tensor<2x4xi64>"),
        ids(2, 2, 2),
        [[[1, 2, 5, 6], [3, 4, 7, 8]]] * 2,
    ),
    "all_to_all": (
        program(
            "all_to_all",
            f"split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, {PAIR}",
            "tensor<2x4xi64> -> tensor<4x2xi64>",
        ),
        ids(2, 2, 4),
        [[[1, 2], [5, 6], [9, 10], [13, 14]], [[3, 4], [7, 8], [11, 12], [15, 16]]],
    ),
    "reduce_scatter": (
        program(
            "reduce_scatter",
            f"scatter_dimension = 1 : i64, {PAIR}",
            "tensor<2x4xi64> -> tensor<2x2xi64>",
            ADD,
        ),
        ids(2, 2, 4),
        [[[10, 12], [18, 20]], [[14, 16], [22, 24]]],
    ),
    "collective_broadcast": (
        program(
            "collective_broadcast",
            "replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>",
            "tensor<1x2xi64> -> tensor<1x2xi64>",
        ),
        ids(4, 1, 2),
        [[[0, 0]], [[5, 6]], [[5, 6]], [[0, 0]]],
    ),
    "collective_permute": (
        program(
            "collective_permute",
            "source_target_pairs = dense<[[0, 1], [1, 2], [3, 3], [4, 4]]> : tensor<4x2xi64>",
            "tensor<2x2xi64> -> tensor<2x2xi64>",
        ),
        ids(5, 2, 2),
        [[[0, 0], [0, 0]], [[1, 2], [3, 4]], [[5, 6], [7, 8]], [[13, 14], [15, 16]], [[17, 18], [19, 20]]],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_collectives_are_those_of_named_axes(case: str) -> None:
    function, x, expected = CASES[case]
    np.testing.assert_array_equal(np.asarray(adze.vmap(function, axis_name="i")(x)), expected)
    mesh = adze.make_mesh((len(x),), ("i",))
    on_mesh = adze.shard_map(lambda v: function(v[0])[None], mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    np.testing.assert_array_equal(
        np.asarray(adze.jit(on_mesh)(x) if case == "all_reduce" else on_mesh(x)), expected
    )


def test_groups_are_axes_of_a_mesh() -> None:
    """Of six ranks, two by three: the rows, the columns, and all; other groups are an error."""

    def call(groups: Any, x: np.ndarray) -> np.ndarray:
        table = np.asarray(groups)
        dense = f"replica_groups = dense<{table.tolist()}> : tensor<{table.shape[0]}x{table.shape[1]}xi64>"
        function = program("all_reduce", dense, "tensor<4xi64> -> tensor<4xi64>", ADD)
        return np.asarray(adze.vmap(adze.vmap(function, axis_name="j"), axis_name="i")(x))

    x = ids(2, 3, 4)
    np.testing.assert_array_equal(call([[0, 1, 2], [3, 4, 5]], x)[:, 0], x.sum(1))
    np.testing.assert_array_equal(call([[0, 3], [1, 4], [2, 5]], x)[1], x.sum(0))
    np.testing.assert_array_equal(call([[0, 1, 2, 3, 4, 5]], x)[1, 2], x.sum((0, 1)))
    np.testing.assert_array_equal(call([[0], [1], [2], [3], [4], [5]], x), x)
    with pytest.raises(StableHLOError, match="are no axes of"):
        call([[0, 1], [2, 3], [4, 5]], x)
    with pytest.raises(StableHLOError, match="do not divide 6 ranks"):
        call([[0, 1]], x)
    with pytest.raises(StableHLOError, match=r"all_gather: its groups \[\[0, 1\]\] do not divide 1 ranks"):
        CASES["all_gather"][0](x[0, 0].reshape(2, 2))


def test_a_program_says_for_how_many_ranks_it_is() -> None:
    text = (
        "module @m attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 3 : i32} {\n"
        "func.func public @main(%x: tensor<f32>) -> (tensor<f32>, tensor<ui32>, tensor<ui32>) {\n"
        '%s = "stablehlo.all_reduce"(%x) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n'
        "%m = stablehlo.multiply %a, %b : tensor<f32>\nstablehlo.return %m : tensor<f32>\n}) "
        "{replica_groups = dense<0> : tensor<1x1xi64>, "
        "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<f32>) -> tensor<f32>\n"
        "%p = stablehlo.partition_id : tensor<ui32>\n%r = stablehlo.replica_id : tensor<ui32>\n"
        "return %s, %p, %r : tensor<f32>, tensor<ui32>, tensor<ui32>\n}\n}"
    )
    function = adze.from_stablehlo(text)
    x = np.float32([2, 3, 5])
    product, partition, replica = adze.vmap(function, axis_name="i")(x)
    np.testing.assert_array_equal(np.asarray(product), [30, 30, 30])
    np.testing.assert_array_equal(np.asarray(partition), [0, 1, 2])
    np.testing.assert_array_equal(np.asarray(replica), [0, 0, 0])
    gradient = adze.grad(lambda v: xp.sum(adze.vmap(function, axis_name="i")(v)[0]))(x)
    np.testing.assert_allclose(np.asarray(gradient), [45, 30, 18])
    for call in (lambda: function(x[0]), lambda: adze.vmap(function, axis_name="i")(x[:2])):
        with pytest.raises(StableHLOError, match="the program is for 3 ranks, bound axes are"):
            call()
