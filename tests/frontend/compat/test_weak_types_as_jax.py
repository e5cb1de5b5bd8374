"""Weak types of results are JAX's after `install()`: of transforms, of functions that move elements, of sums.

Each expression runs with JAX and with adze in a process of its own; dtypes, weak types and numbers agree.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("jax", reason="the oracle of weak types")

EXPRESSIONS = """
jax.grad(lambda x: x * x)(2.0)
jax.grad(lambda x: x * x)(np.float32(2))
jax.grad(lambda x, y: x * y, argnums=(0, 1))(2.0, y)
[jax.grad(lambda x, y: x * y)(2.0, y), y]
jax.value_and_grad(lambda x: x * x)(2.0)
jax.grad(lambda p: p["w"] * p["b"])({"w": 2.0, "b": y})
jax.grad(lambda x: jnp.sum(half * x).astype("float32"))(2.0) * half
jax.jit(jax.grad(lambda x: x * x))(2.0)
jax.jvp(lambda x: x * x, (2.0,), (1.0,))
jax.vjp(lambda x: x * x, 2.0)[1](1.0)
jax.vjp(lambda x, z: x * 2, 2.0, 3.0)[1](1.0)
jax.linearize(jnp.sin, 2.0)[1](1.0)
jax.hessian(lambda x: x**3)(2.0)
jax.jacrev(lambda x: x * jnp.ones(2))(2.0)
jax.jacfwd(lambda x: x * jnp.ones(2))(2.0)
jax.vmap(lambda x: (1, 1.0, x))(jnp.arange(3))
jax.vmap(lambda x: x * 2)(jnp.full(3, 2.0)) * half[0]
jax.vmap(lambda i: jax.lax.psum(1, "i"), axis_name="i")(jnp.arange(3))
jax.checkpoint(lambda x: x * x)(2.0)
jax.eval_shape(lambda x: (x + 1, jnp.ones(2) * x), 2.0)
jax.device_put({"a": 1, "b": [2.0, jnp.ones(2)], "c": jnp.array(2.0)})
jax.jit(lambda x: x * half)(jax.device_put(2.0))
jax.typeof(2.0).weak_type
jnp.full((2,), 3)
jnp.full((2,), 3.0) * half
jnp.full((2,), 3.0, "float32")
jnp.full((2,), np.float32(3))
jnp.full_like(jnp.array(2.0), y)
jnp.full_like(y, 2.0)
jnp.zeros_like(2)
jnp.ones_like(jnp.array(2.0), dtype="float32")
jnp.stack([1, 2.0])
jnp.stack([jnp.array(1.0), y])
jnp.concatenate([jnp.full(2, 1.0), jnp.full(2, 2)])
jnp.arange(3) * 1.0
jax.jit(lambda n: n * 1.0)(jnp.arange(3)) * half[0]
jnp.array([True]) * 0.5
jnp.arange(3) / 2
jnp.arange(3) / 2.0
jnp.arange(3) * 1j
jnp.sum(jnp.full(2, 1.0)) * half
jnp.mean(jnp.full(2, 1.0))
jnp.max(jnp.array(2.0))
jax.lax.add(1, 2)
jax.lax.max(1.0, 2.0)
jax.lax.full_like(jnp.array(2.0), 3)
jax.lax.stop_gradient(jnp.array(2.0))
jax.nn.relu(-2)
jax.scipy.special.expit(2)
jax.scipy.special.gammaln(jnp.array(3))
jax.lax.round(jnp.float32([0.5, 1.5, 2.5, -0.5, -2.5, 1e9, np.inf, np.nan]))
jnp.reciprocal(jnp.array([2, 4]))
jnp.append(jnp.array([1, 2]), 3.5) * half[0]
jnp.append(jnp.array([1, 2]), 3)
jnp.stack([jnp.array(1), 2.5])
jnp.concatenate([jnp.array([True]), jnp.full(1, 2)])
jax.nn.identity(2)
jax.lax.full_like(x=jnp.arange(2), fill_value=2.7)
jax.lax.broadcast_in_dim(operand=2, shape=(2,), broadcast_dimensions=())
jax.nn.log_sigmoid(2)
jax.nn.hard_tanh(2)
jnp.convolve(jnp.arange(3), jnp.arange(2))
jnp.correlate(jnp.arange(3), jnp.arange(2), "full")
jnp.array([True]) / 2
jnp.arctan2(jnp.array([True]), 1)
0.5 ** jnp.array([True])
jnp.array([True]) ** 2
jnp.array([True]) // jnp.array([True])
jnp.square(jnp.array([True]))
jnp.gcd(2, jnp.array(4))
jnp.bitwise_count(3)
jnp.imag(2)
jnp.ldexp(jnp.array([True]), jnp.array([3], "uint8"))
jax.scipy.special.logit(0)
jax.scipy.stats.norm.cdf(0.5)
jax.scipy.stats.cauchy.pdf(1)
jax.scipy.stats.bernoulli.pmf(jnp.arange(2), 0.3)
jax.scipy.stats.truncnorm.pdf(1, 0, 2)
jnp.hypot(jnp.arange(3), 0.5)
jnp.hypot(2, 0.5)
jnp.logaddexp2(0.5, jnp.arange(3))
jnp.heaviside(jnp.arange(3), 0.5)
jnp.heaviside(0.5, jnp.arange(3))
jnp.float_power(0.5, jnp.arange(3))
jnp.gcd(jnp.array([True]), 2)
jnp.pad(jnp.arange(2), 1, constant_values=2.5)
jnp.linspace(0, 1, 3, retstep=True)
jax.lax.betainc(1.0, 2.0, 0.5)
jax.lax.reshape(1, (1,))
jax.lax.pow(2.5, jnp.int32(2))
jax.lax.pow(jnp.float16([2.5]), jnp.int8([2]))
jnp.cumsum(jnp.array([0, 2, 0, 3]), dtype=bool)
jnp.cumprod(jnp.array([0.5, 2.0, 0.0]), dtype=bool)
jnp.cumulative_sum(jnp.array([100, 100], "int8"))
jnp.cumulative_prod(jnp.array([3, 5], "int8"))
jnp.arange(4).at[3].divide(2)
jnp.arange(4).at[jnp.array([1, 1])].divide(2)
jnp.bincount(jnp.arange(3), weights=jnp.arange(3))
jnp.bincount(jnp.array([True, False, True]))
jnp.conj(jnp.array([True]))
jnp.polyder(jnp.arange(3))
jnp.interp(jnp.float16([1.5, np.nan]), jnp.arange(3), jnp.float16([1, 2, 4]))
jnp.convolve(jnp.arange(3), jnp.ones(2, "float16"))
jnp.quantile(jnp.float16([1, 2]), jnp.float32([0.25]))
jnp.fft.fft(jnp.zeros(0))
jnp.array([True, False]).view("uint8")
jax.lax.reduce_max(jnp.array([True, False]), (0,))
jax.lax.reduce_min(jnp.array([[True, False]]), (1,))
jnp.fft.ifft(jnp.zeros((2, 0, 3)), axis=1)
str(jax.eval_shape(lambda x: x, y))
str(jax.ShapeDtypeStruct((2,), "int32"))
str(jax.jit(lambda k, x: (k, {"a": x})).lower(jax.random.key(0), y).out_tree)
jax.scipy.linalg.solve_triangular(jnp.eye(2, dtype="float32"), jnp.arange(2))
jax.scipy.linalg.cho_solve((jnp.eye(2, dtype="float32"), True), jnp.arange(2))
jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(jnp.eye(2, dtype="float32")), jnp.arange(2))
jnp.linalg.lstsq(jnp.eye(2, dtype="float32"), jnp.arange(2))[0]
jax.scipy.linalg.solve_triangular(jnp.eye(2, dtype=int), jnp.ones(2, "complex64"))
""".strip().splitlines()

PROGRAM = """
    import sys
    if sys.argv[1] == "adze":
        import adze.compat
        adze.compat.install()
    import jax
    import jax.numpy as jnp
    import numpy as np
    jax.config.update("jax_enable_x64", sys.argv[2] == "wide")
    y, half = jnp.float32(3), jnp.ones(2, "bfloat16")

    def shown(leaf):
        if not hasattr(leaf, "dtype"):
            return str(leaf)
        numbers = () if isinstance(leaf, jax.ShapeDtypeStruct) else np.ravel(np.asarray(leaf, "complex128"))
        return f"{leaf.dtype.name}{list(leaf.shape)} {leaf.weak_type} {[f'{n:.4g}' for n in numbers]}"

    for line in sys.stdin.read().splitlines():
        leaves = jax.tree.leaves(eval(line), is_leaf=lambda x: isinstance(x, jax.ShapeDtypeStruct))
        print("; ".join(map(shown, leaves)))
"""


@pytest.mark.parametrize("mode", ["narrow", "wide"])
def test_weak_types_are_those_of_jax(mode: str) -> None:
    seen = []
    for library in ("jax", "adze"):
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), library, mode]
        lines = "\n".join(EXPRESSIONS)
        done = subprocess.run(command, check=False, timeout=600, capture_output=True, text=True, input=lines)
        assert done.returncode == 0, done.stderr[-2000:]
        seen.append(done.stdout.splitlines())
    assert len(seen[0]) == len(EXPRESSIONS)
    pairs = zip(EXPRESSIONS, *seen, strict=True)
    assert [(text, of_jax, own) for text, of_jax, own in pairs if of_jax != own] == []
