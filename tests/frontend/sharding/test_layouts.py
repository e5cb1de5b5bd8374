"""How arrays lie as part of their types, on meshes whose axes are explicit: JAX's sharding in types.

Types are those that JAX 0.10.2 prints for the same programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adze
import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp
from adze.frontend.errors import ShardingError, UnsupportedError

P = jax.P
Z = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.fixture(autouse=True)
def mesh() -> Iterator[Any]:
    with jax.set_mesh(jax.make_mesh((4, 2), ("X", "Y"))) as mesh:
        yield mesh


def types(result: Any) -> list[str]:
    return [str(jax.typeof(leaf)) for leaf in jax.tree.leaves(result)]


CASES: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "elements": (lambda z: jnp.sin(z) * 2 + z, ["f32[4@X,2@Y]"]),
    "with one that lies nowhere": (lambda z: z + Z, ["f32[4@X,2@Y]"]),
    "transposed": (lambda z: z.T, ["f32[2@Y,4@X]"]),
    "flat": (lambda z: z.reshape(8), ["f32[8@(X,Y)]"]),
    "summed": (lambda z: (z.sum(0), z.sum(), z.mean(1, keepdims=True)), ["f32[2@Y]", "f32[]", "f32[4@X,1]"]),
    "compared": (lambda z: z > 3, ["bool[4@X,2@Y]"]),
    "one more axis": (lambda z: (z[None], jnp.stack([z, z])), ["f32[1,4@X,2@Y]", "f32[2,4@X,2@Y]"]),
    "a product with a stated result": (lambda z: jnp.dot(z, z.T, out_sharding=P("X", None)), ["f32[4@X,4]"]),
    "a product with free rows": (lambda z: z @ np.ones((2, 5), np.float32), ["f32[4@X,5]"]),
    "einsum": (lambda z: jnp.einsum("ij,ik->jk", z, z, out_sharding=P("Y", None)), ["f32[2@Y,2]"]),
    "summands": (
        lambda z: 2 * jnp.einsum("ij,ik->jk", z, z, out_sharding=P(None, None, unreduced={"X"})),
        ["f32[2,2]{U:X}"],
    ),
    "softmax": (lambda z: jax.nn.softmax(z), ["f32[4@X,2@Y]"]),
    "moved": (lambda z: (jax.reshard(z, P()), jax.device_put(z, P("Y"))), ["f32[4,2]", "f32[4@Y,2]"]),
    "jitted": (lambda z: jax.jit(lambda z: jax.jit(jnp.sin)(z).T)(z), ["f32[2@Y,4@X]"]),
    "gradient": (lambda z: jax.grad(lambda z: (jnp.sin(z) ** 2).sum())(z), ["f32[4@X,2@Y]"]),
    "gradient in jit": (lambda z: jax.jit(jax.grad(lambda z: (z**2).sum()))(z), ["f32[4@X,2@Y]"]),
    "gradient of reduced": (
        lambda z: jax.grad(lambda w: (z @ w).sum())(
            jax.reshard(jnp.ones((2, 3)), P(None, None, reduced={"X"}))
        ),
        ["f32[2,3]{U:X}"],
    ),
    "loop": (lambda z: jax.lax.fori_loop(0, 3, lambda i, c: c * 2, z), ["f32[4@X,2@Y]"]),
    "checkpoint": (lambda z: jax.checkpoint(jnp.sin)(z), ["f32[4@X,2@Y]"]),
    "random": (
        lambda z: jax.random.normal(jax.random.key(0), (8, 4), out_sharding=P("X", "Y")),
        ["f32[8@X,4@Y]"],
    ),
    "made": (lambda z: jnp.ones((4, 2), out_sharding=P("X")), ["f32[4@X,2]"]),
    "mapped to ranks": (
        lambda z: jax.shard_map(lambda z: jax.lax.psum(z, "Y"), out_specs=P("X"))(z),
        ["f32[4@X,1]"],
    ),
    "not checked inside": (
        lambda z: jax.sharding.auto_axes(lambda z: z + z.T.reshape(4, 2))(z, out_sharding=P("X")),
        ["f32[4@X,2]"],
    ),
}


@pytest.mark.parametrize("is_jitted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_results_lie_as_operands_say(case: str, is_jitted: bool) -> None:
    function, expected = CASES[case]
    z = jax.device_put(Z, P("X", "Y"))
    plain = jax.tree.leaves(function(z))
    results = (jax.jit(function) if is_jitted else function)(z)
    assert types(results) == expected
    for result, value in zip(jax.tree.leaves(results), plain, strict=True):
        assert np.allclose(np.asarray(result), np.asarray(value))
        assert (
            tuple(result.sharding.spec)
            == tuple(jax.typeof(result).sharding.spec)[: len(result.sharding.spec)]
        )


DISAGREEMENTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "contracted": (lambda z: z @ z.T, "dot_general: contracted dimensions are divided by ('Y',)"),
    "reshaped": (lambda z: z.reshape(2, 2, 2), "reshape: a dimension that is divided by ('X',)"),
    "two axes": (
        lambda z: z + jax.reshard(z, P("Y")),
        "one dimension is divided by ('X',) and by ('Y',)",
    ),
    "twice": (
        lambda z: jax.reshard(z[:, 0], P("X"))[:, None] * jax.reshard(z[:, 0], P("X"))[None],
        "an axis would divide two dimensions of the result",
    ),
    "summands": (
        lambda z: jnp.cos(jax.reshard(z, P(None, None, unreduced={"X"}))),
        "cos: it is not linear in an operand of which ranks have summands over {'X'}",
    ),
}


@pytest.mark.parametrize("is_jitted", [False, True])
@pytest.mark.parametrize("case", DISAGREEMENTS)
def test_disagreements_name_the_line_and_the_way_out(case: str, is_jitted: bool) -> None:
    function, text = DISAGREEMENTS[case]
    z = jax.device_put(Z, P("X", "Y"))
    with pytest.raises(ShardingError) as caught:
        (jax.jit(function) if is_jitted else function)(z)
    assert text in str(caught.value) and __file__ in str(caught.value) and "out_sharding" in str(caught.value)


def test_functions_ask_how_their_arguments_lie() -> None:
    seen: list[Any] = []

    @jax.jit
    def f(x: Any) -> Any:
        seen.append((str(jax.typeof(x)), x.sharding.spec, jax.typeof(x).sharding.spec))
        return x * 2

    for spec in (P("X", "Y"), P(None, "X"), P("X", "Y")):
        f(jax.device_put(np.ones((4, 8), np.float32), spec))
    assert [s[0] for s in seen] == ["f32[4@X,8@Y]", "f32[4,8@X]"]
    assert seen[0][1] == seen[0][2] == P("X", "Y")
    whole = jax.jit(lambda x: seen.append(jax.typeof(x).sharding.spec) or x)
    whole(np.ones(3, np.float32))
    assert seen[-1] == P(None)
    with pytest.raises(UnsupportedError, match="ranks have summands"):
        _ = jax.reshard(Z, P(unreduced={"X"})).addressable_shards


def test_ranks_know_what_varies() -> None:
    seen: list[str] = []

    def of_rank(x: Any) -> Any:
        y = jax.lax.psum(x, "Y")
        seen.extend([str(jax.typeof(x)), str(jax.typeof(y))])
        assert jax.typeof(y).manual_axis_type.varying == jax.typeof(y).vma == {"X"}
        return y

    jax.shard_map(of_rank, in_specs=P("X", "Y"), out_specs=P("X"))(Z)
    assert seen == ["f32[1,1]{V:(X,Y)}", "f32[1,1]{V:X}"]

    @jax.shard_map(in_specs=(P(None, "X"), P("X", None)), out_specs=P(None, None, unreduced={"X"}))
    def partial(a: Any, b: Any) -> Any:
        return jax.lax.pcast(a @ b, "X", to="unreduced")

    product = partial(Z.T, Z)
    assert types(product) == ["f32[2,2]{U:X}"]
    assert np.allclose(np.asarray(jax.reshard(product, P())), Z.T @ Z)


def test_a_mesh_whose_axes_are_not_explicit_says_nothing(mesh: Any) -> None:
    z = adze.device_put(Z, adze.NamedSharding(mesh.with_types(jax.sharding.AxisType.Auto), P("X", "Y")))
    assert not (z @ z.T).committed
    explicit = jax.sharding.explicit_axes(lambda z: str(jax.typeof(z)))
    with jax.set_mesh(mesh.with_types(jax.sharding.AxisType.Auto)):
        assert explicit(z, in_sharding=P("X")) == "f32[4@X,2]"
        with pytest.raises(ShardingError, match="shard_map without in_specs"):
            jax.jit(jax.shard_map(lambda z: z, out_specs=P()))(Z)
