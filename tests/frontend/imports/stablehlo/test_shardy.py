"""Programs that JAX exports with a body for one rank of a mesh: what all ranks compute, on one device."""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze.imports import StableHLOError

MESH = 'sdy.mesh @mesh = <["i"=2, "j"=2]> {stablehlo.mesh = {axes = [{name = "i", size = 2 : i64}]}}'
SUM = (
    '%{r} = "stablehlo.all_reduce"(%{x}) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,'
    " replica_groups = dense<{groups}> : tensor<2x2xi64>, use_global_device_ids}}> ({{\n"
    "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = stablehlo.add %p, %q : tensor<f32>\n"
    "%t = sdy.sharding_constraint %s <@mesh, []> : tensor<f32>\n"
    "stablehlo.return %t : tensor<f32>\n}}) : (tensor<{n}xf32>) -> tensor<{n}xf32>\n"
)


def module(body: str, shardings: str, mesh: str = MESH) -> str:
    """A function of f32[4,6], whose blocks are f32[2,3], returning f32[6]."""
    return (
        "module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
        f"  {mesh}\n"
        "  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<6xf32>) {\n"
        f"    %0 = sdy.manual_computation(%arg0) {shardings} (%arg1: tensor<2x3xf32>) {{\n"
        f"{body}"
        "      sdy.return %3 : tensor<3xf32>\n"
        "    } : (tensor<4x6xf32>) -> tensor<6xf32>\n"
        "    %1 = call @twice(%0) : (tensor<6xf32>) -> tensor<6xf32>\n"
        "    return %1 : tensor<6xf32>\n  }\n"
        "  func.func private @twice(%arg0: tensor<6xf32>) -> tensor<6xf32> {\n"
        "    %0 = stablehlo.add %arg0, %arg0 : tensor<6xf32>\n    return %0 : tensor<6xf32>\n  }\n}\n"
    )


SHARDINGS = 'in_shardings=[<@mesh, [{"i"}, {"j"}]>] out_shardings=[<@mesh, [{"j"}]>] manual_axes={"i", "j"}'
COLUMNS = "%cst = stablehlo.constant dense<0.0> : tensor<f32>\n"
COLUMNS += (
    "%2 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : "
    "(tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>\n"
)
X = np.arange(24, dtype=np.float32).reshape(4, 6)


def test_a_sum_over_an_axis_of_the_mesh() -> None:
    function = adze.from_stablehlo(
        module(COLUMNS + SUM.format(r=3, x=2, groups="[[0, 2], [1, 3]]", n=3), SHARDINGS)
    )
    for call in (function, adze.jit(function)):
        np.testing.assert_array_equal(np.asarray(call(X)), 2 * X.sum(0))
    gradient = adze.grad(lambda x: (function(x) ** 2).sum())(X)
    np.testing.assert_allclose(np.asarray(gradient), np.broadcast_to(8 * X.sum(0), X.shape))


def test_ranks_know_their_place() -> None:
    body = COLUMNS + (
        "%id = stablehlo.partition_id : tensor<ui32>\n"
        "%f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>\n"
        "%b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<3xf32>\n"
        "%3 = stablehlo.add %2, %b : tensor<3xf32>\n"
    )
    result = adze.from_stablehlo(module(body, SHARDINGS))(X)  # of ranks (0, j), which come first
    np.testing.assert_array_equal(np.asarray(result), 2 * (X[:2].sum(0) + np.float32([0, 0, 0, 1, 1, 1])))


def test_axes_that_are_not_manual_divide_nothing() -> None:
    shardings = 'in_shardings=[<@mesh, [{"i", ?}, {?}]>] out_shardings=[<@mesh, [{?}]>] manual_axes={"i"}'
    body = COLUMNS.replace("2x3", "2x6").replace("<3x", "<6x")
    body += SUM.format(r=3, x=2, groups="[[0, 2], [1, 3]]", n=6)
    text = module(body, shardings).replace("%arg1: tensor<2x3xf32>", "%arg1: tensor<2x6xf32>")
    text = text.replace("sdy.return %3 : tensor<3xf32>", "sdy.return %3 : tensor<6xf32>")
    np.testing.assert_array_equal(np.asarray(adze.from_stablehlo(text)(X)), 2 * X.sum(0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("@mesh, [{", "@other, [{"), r"expected one mesh that the module declares, got \['mesh', 'other'\]"),
        (("manual_axes=", "manual="), r"expected manual_axes\n  at <text>:4"),
        (("sdy.return", "sdy.other"), r"its body returns nothing\n  at <text>:4"),
        (('{"i"}, {"j"}', '{"i":(1)2}, {"j"}'), "parts of the axes of a mesh are not supported"),
        (('{"i"}, {"j"}', '{"i"}, {"i"}'), r"the axes \['i', 'i'\] are not distinct axes of the mesh"),
        (('{"i"}, {"j"}', '{"i"}'), "a sharding of 1 dimensions is that of an array of 2"),
        (('"j"=2]>', '"j"=2], device_ids=[3, 2, 1, 0]>'), "numbers its devices by itself"),
        (('["i"=2, "j"=2]', '["i"=100000, "j"=100000]'), "has more than 4096 ranks"),
        (("%3 =", "%3 = sdy.reshard"), "sdy.reshard: a program that is divided"),
        (("stablehlo.reduce(", "stablehlo.nothing("), r"\n  at <text>:6:6"),
    ],
)
def test_mistakes(change: tuple[str, str], message: str) -> None:
    text = module(COLUMNS + "%3 = stablehlo.negate %2 : tensor<3xf32>\n", SHARDINGS)
    assert change[0] in text
    with pytest.raises(StableHLOError, match=message):
        adze.from_stablehlo(text.replace(*change, 1))(X)


def test_places_in_lifted_bodies_are_those_of_the_text() -> None:
    body = COLUMNS + "%3 = stablehlo.custom_call @magic(%2) : (tensor<3xf32>) -> tensor<3xf32>\n"
    with pytest.raises(StableHLOError, match=r"nothing is known of @magic\n  at <text>:7:6"):
        adze.from_stablehlo(module(body, SHARDINGS))(X)
    text = module(COLUMNS + "%3 = stablehlo.negate %2 : tensor<3xf32>\n", SHARDINGS)
    text = text.replace("%0 = stablehlo.add %arg0, %arg0", "%0 = stablehlo.custom_call @magic(%arg0)")
    text = text.replace(
        "(%arg0) : tensor<6xf32>\n    return", "(%arg0) : (tensor<6xf32>) -> tensor<6xf32>\n    return"
    )
    with pytest.raises(StableHLOError, match=r"nothing is known of @magic\n  at <text>:14:10"):
        adze.from_stablehlo(text)(X)
