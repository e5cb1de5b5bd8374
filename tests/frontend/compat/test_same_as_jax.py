"""Expressions of programs written for JAX print after `install()` what they print with JAX.

Each expression runs in a process with JAX and in one with adze. Texts are compared, numbers to four digits;
integers are int64 in adze, so the width of integers is not.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from typing import Final

import pytest

pytest.importorskip("jax", reason="the oracle of texts")

NARROW: Final = """
jnp.arange(3.0)
[jnp.ones((2, 2)), jnp.array([True]), jnp.ones(1, jnp.bfloat16), jnp.zeros((0, 2))]
jnp.sin(1.0)
jnp.arange(150.0) / 8
jax.jit(lambda x: str(x) and x)(jnp.ones(2))
seen(lambda x: jax.jit(lambda x: x * 2)(x))
seen(lambda x: x * 1.0)
jax.ShapeDtypeStruct((2, 3), jnp.float32)
jax.ShapeDtypeStruct((2, 3), jnp.float32).update(shape=(1,))
len(jax.ShapeDtypeStruct((2, 3), jnp.float32))
jax.eval_shape(lambda x: x + 1, jnp.ones(2))
(x.device.platform, x.devices() == {jax.devices()[0]}, x.device == jax.devices()[0])
(jax.jit(lambda x: x, device=jax.devices()[0])(x) + 1).device
x / np.sqrt(3)
np.float64(2) * x
jnp.array(host), jnp.asarray(host + 1j), jnp.array([host, host]), jnp.array(host, dtype=jnp.float16)
x * host, jnp.sin(host), jnp.zeros(3).at[:].set(host), jnp.where(host > 0, host, 0), jnp.stack([host])
jax.jit(lambda x: x * 2)(host + 0.1), jax.jit(lambda d: d["a"][0] * 2)({"a": (host, 1)})
jax.jit(lambda x: x).lower(host).compile()(host), jax.device_put(host)
jax.grad(lambda x, y: (x**2 * y).sum())(host + 1, host + 2), jax.vmap(jnp.sin)(host)
jax.jvp(jnp.sin, (host,), (host,)), jax.vjp(jnp.sin, host)[1](host)
jax.lax.scan(lambda c, x: (c + x, c * x), jnp.float32(0), host + 0.5)
jax.lax.cond(True, lambda x: x, lambda x: x + 1, host), jax.lax.fori_loop(0, 2, lambda i, x: x + i, host)
jax.make_jaxpr(lambda x: x + 1)(host)
jax.jit(lambda x: x @ jnp.asarray(np.eye(3)) / np.sqrt(x.shape[0]))(x)
jax.lax.scan(lambda c, _: (c * np.sqrt(0.5), None), jnp.float32(1), None, 3)[0]
jnp.array([np.sqrt(2), 1.0])
jax.random.uniform(jax.random.key(0), minval=-np.sqrt(2), maxval=np.sqrt(2))
jnp.zeros(2, float), jnp.arange(2).astype(float), jnp.ones(1, complex), jnp.arange(3, dtype=float)
jax.random.normal(jax.random.key(0), (1,), float)
jax.lax.full((1,), 2, float)
jnp.arange(3).at[0].set(2.5)
jnp.arange(3).at[1].add(jnp.float32(2.7))
jnp.arange(3.0).at[0].set(2 + 0j)
jax.pure_callback(np.float64, jax.ShapeDtypeStruct((), jnp.float32), jnp.float32(1))
jnp.zeros(2, "float64"), jnp.ones(1, jnp.complex128), x.astype(np.float64), jnp.float64(2), jnp.complex128(2)
jnp.sum(x, dtype=np.float64), jnp.arange(0, 1, 0.5, np.float64), jnp.asarray(host, dtype=host.dtype)
jax.lax.convert_element_type(x, "float64"), jax.lax.full((2,), 1.5, np.float64), jnp.frombuffer(host)
jax.random.uniform(jax.random.key(0), (2,), dtype=np.float64), jax.nn.one_hot(0, 2, dtype=np.float64)
jax.dtypes.canonicalize_dtype(np.float64), jnp.result_type(np.float64), jnp.result_type(host, x)
jax.jit(lambda x: x * 2)(np.float64(2)).dtype, jax.jit(lambda x: x * 2)(np.complex128(2)).dtype
float(jax.grad(lambda x: jnp.log(1.0 + jnp.exp(x)))(100.0)), jax.jit(jnp.exp)(100.0), jnp.square(1e30)
x * 1e39, jnp.array(-1e300), x < 1e40, jnp.where(x > 1, x, -1e50), jnp.full(2, 1e60) * x[0]
jax.lax.while_loop(lambda x: x < 1e40, lambda x: x * 10.0, 1.0), bool(jnp.array(0.1) == 0.1)
[jax.vmap(counted, [0, None, None])(x, jnp.float32(i), 2) for i in range(3)], len(traces)
[jax.value_and_grad(counted)(x[i], 2.0, 3) for i in range(3)], len(traces)
error(lambda: jax.vmap(jax.jit(lambda x, n: x if n > 0 else -x), (0, None))(x, 1))
jax.vmap(jax.jit(lambda x: x - jax.lax.pmean(x, "i")), axis_name="i")(x)
jax.grad(jax.jit(lambda d, n: (d["a"] * n, n * d["a"])), has_aux=True)({"a": x[1]}, 2.0)
kept(lambda held: jax.vmap(lambda k: held.append(jnp.arange(2.0) * 2) or k)(x)) + 1
kept(lambda held: jax.grad(lambda k, n: held.append(n * 2) or (n * k).sum())(x, x)) * x
jax.jit(jnp.sin)(kept(lambda held: jax.vmap(lambda k, n: held.append(n * 2) or k, (0, None))(x, 0.5)))
jax.grad(lambda y: (y * kept(lambda held: jax.vmap(lambda k: held.append(jnp.ones(3)) or k)(x))).sum())(x)
repr(kept(lambda held: jax.vmap(lambda k: held.append(jnp.ones(3) + 1) or k)(x)).tolist())
error(lambda: kept(lambda h: jax.jit(lambda k: h.append(jnp.ones(3)) or k)(x)) + 1)
x.aval.shape, x.aval.dtype, jnp.array(1.0).aval.weak_type, jax.jit(lambda x: x * x.aval.ndim)(x)
(lambda jaxpr: len({jaxpr, *jaxpr.eqns, *jaxpr.invars}))(jax.make_jaxpr(jnp.sin)(x).jaxpr)
error(lambda: jax.tree.map(lambda x: x + 1, {1: 7, "y": 42}), ValueError)
jax.tree.map(lambda x: x + 1, {(1, "b"): 7, (0, "y"): 42}), jax.tree.leaves({2: 1, 1.5: 2, True: 3})
np.allclose(x, x), np.array_equal(x, x)
type(np.stack([x, x])).__name__, np.concatenate([x, x]).flags.writeable
np.polynomial.polynomial.polyval(x, [1, 2])
np.copyto(host, x), host
jax.lax.fori_loop(jnp.int32(0), 3, lambda i, c: c + i, jnp.int16(1))
jax.lax.fori_loop(np.int64(0), jnp.int32(3), lambda i, c: c + i, jnp.int16(1))
jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda i, c: c + i, jnp.int16(1)))(jnp.int32(3))
error(lambda: jax.jit(lambda n: jax.lax.fori_loop(n, n + 3, lambda i, c: c + i, jnp.int16(1)))(jnp.int32(3)))
error(lambda: jax.jit(lambda x: x[x > 0])(x), jax.errors.NonConcreteBooleanIndexError)
error(lambda: jax.jit(lambda x, n: x[:n])(x, 2), IndexError)
error(lambda: jax.grad(jax.custom_vjp(lambda x: x))(1.0), AttributeError)
error(lambda: jax.grad(jax.custom_jvp(lambda x: x))(1.0), AttributeError)
error(lambda: jax.grad(with_rules)(1.0), ValueError)
jnp.array([np.float32(1), 2.0]), jnp.array([np.int8(1), 2]), jnp.array([[1, np.float32(2)]])
x.at[:2].get(out_sharding=None), x.reshape(1, 3, out_sharding=None)
jnp.apply_along_axis(func1d=jnp.sum, axis=0, arr=x)
jax.experimental.pjit.pjit(jnp.abs)(x)
jax.experimental.shard_map.shard_map(jnp.abs, mesh, (P("d"),), P("d"), check_rep=False)(x)
jax.grad(lambda p: p[0] * p[1], allow_int=True)((2.0, 3))[1].dtype == jax.dtypes.float0
jax.vjp(lambda x, n: x * n, 2.0, jnp.arange(2))[1](jnp.ones(2))[1].shape
jax.jvp(lambda x, n: (x * n, n), (x, jnp.arange(3)), (x, zeros))[1][1].dtype == jax.dtypes.float0
jax.jit(lambda p: updated(p, jax.grad(lambda p: p[0] * p[1], allow_int=True)(p)))((x[1], jnp.int32(3)))
jnp.array(0.5), jnp.asarray(2), jnp.array(True), jnp.array(0.5, jnp.float32), jnp.array([0.5])
half * jnp.array(0.5), jnp.array(0.5) * 2, jnp.int8(1) + jnp.asarray(2)
doubled(1.0), doubled(2), doubled(jnp.array(1.0)), doubled(jnp.float32(1)), doubled(True), doubled(1j)
half * doubled(1.0), half * doubled(doubled(1.0)), jnp.int8(1) * doubled(1)
jax.jit(lambda: (1, 2.0, True))(), jax.jit(lambda a, b: (a + b, a))(jnp.array(1), half)
steps({"n": jnp.array(0), "w": jnp.array(0.5), "h": half})
jnp.array(3.0).reshape(1), -jnp.array(3.0), jnp.array(3.0).astype(jnp.float16)
jax.lax.scan(lambda c, x: (c * x, None), jnp.int8(2), jnp.broadcast_to(2, (3,)))[0]
(jax.config.read("jax_enable_x64"), jax.config.values["jax_enable_x64"])
inside(jax.enable_x64(True), lambda: (jnp.ones(2), jnp.sin(1.0)))
inside(jax.enable_x64(True), lambda: inside(jax.enable_x64(False), lambda: jnp.ones(2)))
inside(jax.numpy_rank_promotion("allow"), lambda: x + jnp.ones((2, 3)))
inside(jax.numpy_dtype_promotion("strict"), lambda: x + 1)
inside(jax.transfer_guard("allow"), lambda: x + 1)
inside(jax.default_device(jax.devices("cpu")[0]), lambda: x + 1)
error(lambda: inside(jax.debug_key_reuse(True), lambda: jax.jit(twice)(key)), jax.errors.KeyReuseError)
inside(jax.debug_key_reuse(False), lambda: jax.jit(twice)(key))
[jax.vmap(jax.grad(f))(x - 1) for f in (jnp.abs, abs, jnp.fabs, jax.lax.abs)]
[jnp.expand_dims(x, axes).shape for axes in (range(0), range(2), [0, 2], (), -1)]
jax.grad(jax.grad(lambda x: jnp.abs(x) ** 2))(x[0]), jax.hessian(lambda x: (abs(x) * abs(x)).sum())(x)
1 / jax.jit(jnp.abs)(jnp.array([-0.0, 0.0, -2.0, -jnp.inf, jnp.nan])), jax.jit(abs)(jnp.int32(-3))
key, str(key), keys, keys[1:], keys[..., 0], keys[None], keys.reshape(-1, 3), keys.at[0].set(key)
key.dtype, key.shape, keys.ndim, keys.size, keys.itemsize, keys.nbytes, jax.typeof(keys), len(keys)
isinstance(key, jax.Array), [jnp.issubdtype(key.dtype, k) for k in (jax.dtypes.prng_key, np.number)]
key == keys[0], keys != keys[1], [k.shape for k in keys], jax.random.key_impl(key)
jax.random.key_data(keys), jax.random.wrap_key_data(jax.random.PRNGKey(3)), jax.random.fold_in(key, 2)
jnp.stack([key, key]), jnp.where(keys == keys[1], key, keys), jnp.broadcast_to(key, 2), jnp.zeros_like(key)
jnp.concatenate([keys, keys[:1]]), jnp.take(keys, jnp.array([2, 0]), axis=0), jnp.asarray([key])
jax.lax.dynamic_index_in_dim(keys, 1, keepdims=False), jax.lax.select(jnp.bool_(True), key, keys[0])
jax.vmap(jax.random.uniform)(keys), jax.vmap(jax.random.key)(jnp.arange(2)), jax.jit(jax.random.split)(key)
jax.jit(lambda k: seen_as.append(repr(k)) or k)(keys), seen_as, jax.eval_shape(jax.random.split, key)
jax.lax.scan(lambda c, k: (c + jax.random.uniform(k), jax.random.fold_in(k, 1)), jnp.float32(0), keys)
jax.lax.cond(True, lambda k: k, jax.random.clone, key)
jax.lax.fori_loop(0, 3, lambda i, k: jax.random.fold_in(k, i), key)
[error(f, TypeError) for f in (lambda: key + 1, lambda: np.asarray(key), lambda: hash(key))]
jax.random.split(jax.random.PRNGKey(0)).shape
jax.tree.map(lambda k: jax.random.split(k, 3), {"a": key})["a"].shape
"""

WIDE: Final = """
jnp.sin(1.0), jnp.exp(1), jnp.add(1.0, 2), jnp.multiply(2, 1j)
jnp.sin(1.0) * jnp.ones(2, jnp.float32)
jax.jit(lambda x: x * 2)(1.5) * x
jax.value_and_grad(lambda x: x**3)(2.0)[0] * x
jax.lax.while_loop(lambda x: abs(x * x - 2) > 1e-12, lambda x: (x + 2 / x) / 2, 1.0)
jax.lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(3.0))[0]
jax.lax.fori_loop(0, 3, lambda i, c: c + 0.1, 0.0)
jax.vmap(lambda x: x * 1.5)(jnp.arange(3)) + 0 * x
jnp.where(jnp.array([True, False]), 1.0, 0)
jnp.select([jnp.array([True, False])], [1.0], 0.0)
jax.nn.sigmoid(0.5), jax.nn.one_hot(jnp.array([1]), 3)
jnp.hanning(3), jnp.kaiser(3, 2.0), jnp.fft.fftfreq(4), jnp.interp(0.5, jnp.arange(2), jnp.arange(2))
jnp.histogram(jnp.arange(3), 2)[1]
jax.random.rademacher(jax.random.key(0), (4,)), jax.random.choice(jax.random.key(0), 50, (4,))
jax.random.permutation(jax.random.key(0), 4), jax.random.categorical(jax.random.key(0), jnp.zeros(3))
jax.scipy.stats.norm.logpdf(1) * x, jax.scipy.special.gammaln(2.5)
jnp.mean(jnp.arange(3)), jnp.float_power(2, 3) + 0 * x[0], jnp.result_type(1.0, 2)
x / np.sqrt(3)
jnp.zeros(2, float)
"""

PROGRAM: Final = """
    import sys, warnings
    warnings.simplefilter("ignore")
    if sys.argv[1] == "adze":
        import adze.compat
        adze.compat.install()
    import jax
    import jax.dtypes, jax.errors
    import jax.experimental.pjit, jax.experimental.shard_map
    from jax.sharding import Mesh, PartitionSpec as P
    import jax.numpy as jnp
    import jax.scipy.special, jax.scipy.stats
    import numpy as np
    jax.config.update("jax_enable_x64", sys.argv[2] == "wide")
    x, host, key = jnp.arange(3.0), np.zeros(3), jax.random.key(7)
    mesh = Mesh(np.array(jax.devices()), ("d",))
    keys, seen_as = jax.random.split(key, 3), []
    with_rules = jax.custom_vjp(lambda x: x)
    with_rules.defvjp(lambda x: (x, None), lambda _, g: (jnp.ones(3),))

    def seen(function):
        found = []
        jax.jit(lambda x: found.append(repr(x)) or function(x))(x)
        return found

    def error(function, kind=TypeError):
        try:
            return function()
        except kind:
            return kind.__name__ if kind.__module__ == "builtins" else "the class of JAX"

    def inside(context, function):
        with context:
            return function()

    traces = []
    counted = jax.jit(lambda x, n, k: traces.append(k) or x * n * k, static_argnames="k")

    def kept(run):
        held = []
        run(held)
        return held[0]

    zeros = np.zeros(3, jax.dtypes.float0)

    def updated(params, steps):
        return [p if s.dtype == jax.dtypes.float0 else p - s for p, s in zip(params, steps)]

    half, doubled = jnp.ones(2, jnp.bfloat16), jax.jit(lambda x: x * 2)

    def steps(state):
        step = jax.jit(lambda s: {"n": s["n"] + 1, "w": s["w"] * 0.5, "h": s["h"] * s["w"]})
        for _ in range(3):
            state = step(state)
        return state, step._cache_size()

    def twice(key):
        return jax.random.normal(key), jax.random.normal(key)

    for expression in sys.argv[3:]:
        print(repr(eval(expression)), end="@@")
"""


@pytest.mark.parametrize(("mode", "expressions"), [("narrow", NARROW), ("wide", WIDE)])
def test_texts_are_those_of_jax(mode: str, expressions: str) -> None:
    lines = expressions.strip().splitlines()
    texts = []
    for library in ("jax", "adze"):
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), library, mode, *lines]
        done = subprocess.run(command, check=False, timeout=300, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        texts.append(done.stdout.split("@@"))
    for expression, of_jax, own in zip(lines, *texts, strict=False):
        assert same(of_jax) == same(own), expression


def same(text: str) -> str:
    """A text without what may differ."""
    text = re.sub(r"uint64|uint32", "uint", re.sub(r"\bint64|\bint32", "int", text))
    text = re.sub(r"-?\d+\.\d*(?:e[-+]\d+)?", lambda m: f"{float(m.group()):.4g}", text)
    return re.sub(r"\s+", " ", text)
