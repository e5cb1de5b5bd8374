"""Functions of JAX that are exported as StableHLO text, and their arguments, for `jax_programs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax import lax


def _normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + sum(shape)).normal(size=shape).astype(np.float32)


def _all_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.mgrid[0:n, 0:n].reshape(2, -1).astype(np.int32) - n // 2
    return pairs[0], pairs[1]


def _positive(n: int) -> np.ndarray:
    a = _normal(n, n)
    return (a @ a.T + n * np.eye(n)).astype(np.float32)


def mlp(w1, b1, w2, b2, x):  # type: ignore[no-untyped-def]
    return jax.nn.softmax(jax.nn.gelu(x @ w1 + b1) @ w2 + b2)


def layer_norm(x):  # type: ignore[no-untyped-def]
    m = x.mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5)


def transformer(x, wq, wk, wv, wo, w1, w2):  # type: ignore[no-untyped-def]
    h = layer_norm(x)
    q, k, v = ((h @ w).reshape(8, 2, 4).transpose(1, 0, 2) for w in (wq, wk, wv))
    s = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), q @ k.transpose(0, 2, 1) / 2.0, -1e9)
    x = x + (jax.nn.softmax(s) @ v).transpose(1, 0, 2).reshape(8, 8) @ wo
    return x + jax.nn.silu(layer_norm(x) @ w1) @ w2


def cnn(x, k1, k2, w):  # type: ignore[no-untyped-def]
    layouts = ("NHWC", "HWIO", "NHWC")
    h = jax.nn.relu(lax.conv_general_dilated(x, k1, (1, 1), "SAME", dimension_numbers=layouts))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    h = jax.nn.relu(lax.conv_general_dilated(h, k2, (2, 2), "SAME", dimension_numbers=layouts))
    return h.mean((1, 2)) @ w


def rnn(h0, xs, w, u):  # type: ignore[no-untyped-def]
    return lax.scan(lambda h, x: (jnp.tanh(h @ w + x @ u),) * 2, h0, xs)[1]


def orders(x):  # type: ignore[no-untyped-def]
    pairs = lax.sort((jnp.round(x), -x, x), num_keys=2, dimension=0)
    return (jnp.sort(x), jnp.argsort(-x), jnp.sort(x, descending=True), *lax.top_k(x, 3), *pairs)


def newton(x):  # type: ignore[no-untyped-def]
    return lax.while_loop(lambda s: jnp.abs(s * s - x) > 1e-4, lambda s: (s + x / s) / 2, x)


def branches(i, x):  # type: ignore[no-untyped-def]
    chosen = lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 2], x)
    return lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, chosen)


def bits(x, i):  # type: ignore[no-untyped-def]
    return (
        lax.bitcast_convert_type(x, jnp.uint32) >> 3,
        lax.population_count(i),
        lax.clz(i),
        (i << 2) ^ (i & 5) | ~i,
        jnp.sign(i) * (i // 3) + i % 7,
    )


def special(x):  # type: ignore[no-untyped-def]
    y = jnp.abs(x) + 0.5
    inner = jnp.tanh(x) * 0.9
    return (
        *(lax.erf(x), lax.erfc(x), lax.erf_inv(inner), lax.lgamma(y), lax.digamma(y)),
        *(jnp.arctan2(x, y), jnp.arcsinh(x), jnp.arccosh(y + 1), jnp.arctanh(inner)),
        *(jnp.cbrt(x), jnp.expm1(x), jnp.log1p(y), lax.logistic(x), jnp.sinh(x), jnp.arcsin(inner)),
    )


def complexes(x):  # type: ignore[no-untyped-def]
    z = x[0] + 1j * x[1]
    return jnp.abs(z), jnp.angle(z), jnp.exp(z) * jnp.conj(z), jnp.fft.rfft(x), jnp.fft.ifft(z).real


def indexed(t, i):  # type: ignore[no-untyped-def]
    return t[i].sum(1), t.at[i[:, 0]].add(1.0), t.at[1, 2].set(5.0), t.at[i[:, 0], i[:, 1]].mul(2.0)


def extremes(x):  # type: ignore[no-untyped-def]
    return jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.max(x), jnp.any(x > 2), jnp.all(x < 9), jnp.prod(x)


def running(x):  # type: ignore[no-untyped-def]
    return jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 0), lax.associative_scan(jnp.add, x)


def dense(a, b):  # type: ignore[no-untyped-def]
    low = jnp.linalg.cholesky(a)
    return jnp.linalg.solve(a, b), low, lax.linalg.triangular_solve(low, b, left_side=True, lower=True)


def _of_four_bits(x, y):  # type: ignore[no-untyped-def]
    n, one = y & 3, y | 1
    results = [x + y, x - y, x * y, x & y, x | y, x ^ y, ~x, lax.neg(x), lax.sign(x), lax.max(x, y)]
    results += [lax.div(x, one), lax.rem(x, one), lax.shift_left(x, n), lax.shift_right_logical(x, n)]
    results += [lax.shift_right_arithmetic(x, n), lax.clz(x), lax.sort(x * y)]
    results += [lax.cumsum(x), jnp.where(x > y, x, y), lax.rev(x, (0,)), lax.concatenate([x, y], 0)]
    results += [lax.reduce(x.reshape(16, 16), x.dtype.type(0), lax.add, (0,)), x[jnp.array([3, 2])]]
    return [r.astype(jnp.int32) for r in results] + [x < y, x.astype(jnp.float32)]


def few_bits(i, j, f, g):  # type: ignore[no-untyped-def]
    """Integers of 4 and 2 bits, floats of 8 bits and less."""
    integers = _of_four_bits(i.astype(jnp.int4), j.astype(jnp.int4))
    unsigned = _of_four_bits(i.astype(jnp.uint4), j.astype(jnp.uint4))
    two = (i.astype(jnp.int2) + j.astype(jnp.int2)).astype(jnp.int32)
    floats = []
    for name in (
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3",
        "float8_e3m4",
        "float8_e5m2fnuz",
        "float4_e2m1fn",
    ):
        dtype = getattr(jnp, name)
        x, y = f.astype(dtype), g.astype(dtype)
        wide = [lax.max(x, y), -x, x[::-1], jnp.where(x > y, x, y), f.astype(jnp.bfloat16).astype(dtype)]
        floats += [r.astype(jnp.float32) for r in wide] + [x < y]
    x, y = f.astype(jnp.float8_e4m3fn), g.astype(jnp.float8_e4m3fn)
    floats += [(x + y).astype(jnp.float32), (x * y).astype(jnp.float32)]
    floats.append(lax.dot(x.reshape(8, 8), y.reshape(8, 8), preferred_element_type=jnp.float32))
    bits = lax.bitcast_convert_type(lax.bitcast_convert_type(i.astype(jnp.int8), jnp.int4), jnp.int8)
    return [*integers, *unsigned, two, *floats, bits, f.astype(jnp.int4).astype(jnp.int32)]


def general(a):  # type: ignore[no-untyped-def]
    """LAPACK's calls for general matrices; what is not unique is multiplied out."""
    w, u, v = lax.linalg.eig(a, compute_left_eigenvectors=True)
    left = jnp.abs(jnp.conj(u).T @ a - w[:, None] * jnp.conj(u).T).max() < 1e-4
    h, q = jax.scipy.linalg.hessenberg(a, calc_q=True)
    t, z = lax.linalg.schur(a.astype(jnp.complex64))
    _, singular, _ = lax.linalg.svd(a, algorithm=lax.linalg.SvdAlgorithm.QR)
    pivoted, r, order = jax.scipy.linalg.qr(a, pivoting=True)
    packed, d, e, _ = lax.linalg.tridiagonal(a + a.T)
    return (
        jnp.sort(w.real),
        (v * w) @ jnp.linalg.inv(v),
        left,
        jnp.abs(h),
        q @ h @ q.T,
        z @ t @ jnp.conj(z).T,
        singular,
        pivoted @ r,
        order,
        jnp.abs(r),
        packed,
        d,
        e,
        *lax.approx_max_k(a, 2),
    )


def factors(a):  # type: ignore[no-untyped-def]
    q, r = jnp.linalg.qr(a)
    return (
        q @ r,
        jnp.abs(r),
        jnp.linalg.eigvalsh(a @ a.T),
        jnp.linalg.svd(a, compute_uv=False),
        jnp.linalg.det(a),
    )


def pooled_grad(x):  # type: ignore[no-untyped-def]
    def pool(v):  # type: ignore[no-untyped-def]
        return lax.reduce_window(v, -jnp.inf, lax.max, (2, 3), (2, 2), "SAME")

    return jax.grad(lambda v: (pool(v) ** 2).sum())(x)


def narrow(x, i):  # type: ignore[no-untyped-def]
    h = x.astype(jnp.bfloat16) * 1.5 + jnp.array([0.1, 0.2, 0.3], jnp.bfloat16)
    return h, x.astype(jnp.float16), i.astype(jnp.int8), lax.reduce_precision(x, 5, 3), x > 0


def mapped(x):  # type: ignore[no-untyped-def]
    return jax.vmap(lambda v: lax.fori_loop(0, 5, lambda k, s: s * 0.5 + v[k], 0.0))(x)


def drawn(seed):  # type: ignore[no-untyped-def]
    key = jax.random.key(seed)
    return jax.random.normal(key, (5,)), jax.random.randint(key, (4,), 0, 100), jax.random.bits(key, (3,))


@jax.custom_jvp
def clipped(x):  # type: ignore[no-untyped-def]
    return jnp.clip(x, -1, 1)


@clipped.defjvp
def _rule(p, t):  # type: ignore[no-untyped-def]
    return clipped(*p), t[0]


def programs() -> dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]]:
    """Each function by its name, with what it is called with."""
    weights = (_normal(4, 32), _normal(32), _normal(32, 5), _normal(5), _normal(6, 4))
    image = (_normal(2, 8, 8, 3), _normal(3, 3, 3, 4), _normal(3, 3, 4, 8), _normal(8, 5))
    integers = np.array([0, 1, -1, 7, 1 << 30, -(1 << 31)], np.int32)
    table, rows = _normal(10, 8), np.array([[1, 2], [3, 7]], np.int32)
    return {
        "mlp": (mlp, weights),
        "mlp_grad": (jax.grad(lambda *a: mlp(*a)[:, 0].sum(), argnums=(0, 2)), weights),
        "transformer": (
            transformer,
            (*(_normal(8, 8, seed=i) for i in range(5)), _normal(8, 16), _normal(16, 8)),
        ),
        "cnn": (cnn, image),
        "cnn_grad": (jax.grad(lambda *a: (cnn(*a) ** 2).sum(), argnums=(1, 2)), image),
        "rnn": (rnn, (_normal(2, 8), _normal(5, 2, 4), _normal(8, 8) * 0.3, _normal(4, 8))),
        "rnn_grad": (
            jax.grad(lambda *a: rnn(*a).sum(), argnums=2),
            (_normal(2, 8), _normal(5, 2, 4), _normal(8, 8) * 0.3, _normal(4, 8)),
        ),
        "orders": (orders, (_normal(5, 6),)),
        "newton": (newton, (np.float32(7),)),
        "branches": (branches, (np.int32(1), _normal(3))),
        "bits": (bits, (_normal(4), integers)),
        "special": (special, (_normal(7),)),
        "complexes": (complexes, (_normal(2, 8),)),
        "indexed": (indexed, (table, rows)),
        "extremes": (extremes, (_normal(4, 5),)),
        "running": (running, (_normal(4, 5),)),
        "dense": (dense, (_positive(5), _normal(5, 2))),
        "few_bits": (
            few_bits,
            (*_all_pairs(16), _normal(64) * np.float32(3), _normal(64, seed=1) * np.float32(0.2)),
        ),
        "general": (general, (_normal(3, 3, seed=4),)),
        "factors": (factors, (_normal(4, 4),)),
        "pooled_grad": (pooled_grad, (_normal(5, 6),)),
        "narrow": (narrow, (_normal(3), np.array([1, 200, -3], np.int32))),
        "mapped": (mapped, (_normal(3, 5),)),
        "drawn": (drawn, (np.uint32(5),)),
        "clipped": (lambda x: jax.vmap(jax.grad(clipped))(x) + clipped(x), (_normal(6) * 2,)),
    }


def symbolic() -> str:
    """The text of a function of any number of rows."""

    def scores(x, w):  # type: ignore[no-untyped-def]
        rows = jnp.concatenate([x, x * 2]) @ w
        return jax.nn.softmax(rows).reshape(-1), jnp.broadcast_to(jnp.arange(x.shape[0]), (3, x.shape[0]))

    shape = jax.export.symbolic_shape("n, 4")
    specs = (jax.ShapeDtypeStruct(shape, jnp.float32), jax.ShapeDtypeStruct((4, 3), jnp.float32))
    text: str = jax.export.export(jax.jit(scores))(*specs).mlir_module()
    return text
