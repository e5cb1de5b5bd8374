"""Dtypes of results are JAX's after `install()`, with 64-bit numbers and without, weak types included.

Each function runs on pairs of values, with JAX and with adze.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("jax", reason="the oracle of dtypes")

VALUES = [
    'ones("bool")',
    'ones("int8")',
    'ones("uint8")',
    'ones("int32")',
    'ones("float16")',
    'ones("bfloat16")',
    'ones("float32")',
    'ones("complex64")',
    "2",
    "2.0",
    "2j",
    "jnp.array(2)",
    "jnp.array(2.0)",
    "jnp.sin(1.0)",
    "jax.jit(lambda&x:&x+1)(1.0)",
    "np.float32(2)",
]
OF_64_BITS = ['ones("int64")', 'ones("float64")', "np.float64(2)", "np.int64(2)"]

BINARY = """
a + b
a / b
jnp.where(True, a, b)
jnp.stack([jnp.ravel(a)[0], jnp.ravel(b)[0]])
""".strip().splitlines()

UNARY = """
jnp.exp(a)
jnp.mean(a)
jnp.sum(a)
jnp.linalg.norm(a)
jnp.linspace(0, jnp.ravel(a)[0], 3)
jax.vmap(lambda x: x * 0.5)(jnp.ravel(a))
jax.jit(lambda x: x * 2)(a)
""".strip().splitlines()

OF_NONE = """
jnp.arange(3)
jnp.array([1, 2])
jnp.array(range(3))
jnp.asarray(np.arange(3))
jnp.zeros(2, int)
jnp.ones(2, "uint64")
jnp.int64(3)
jnp.eye(2, dtype=jnp.int64)
jnp.indices((2, 2))
jnp.mgrid[0:2]
jnp.tril_indices(2)[0]
jnp.vander(jnp.ones(2, bool))
jnp.argmax(jnp.ones(3))
jnp.argsort(jnp.ones(3))
jnp.lexsort((jnp.ones(3),))
jnp.nonzero(jnp.ones(3))[0]
jnp.nonzero(jnp.ones(3), size=2)[0]
jnp.unique(jnp.ones(3), return_index=True)[1]
jnp.unique(jnp.ones(3), return_counts=True, size=2)[1]
jnp.count_nonzero(jnp.ones(3))
jnp.bincount(jnp.ones(3, "int32"))
jnp.sum(jnp.ones(3, "int8"))
jnp.prod(jnp.ones(3, "uint8"))
jnp.cumsum(jnp.ones(3, "int8"))
jnp.linalg.matrix_rank(jnp.eye(2))
jnp.promote_types("uint32", "int32")
jnp.promote_types(int, "int8")
jnp.result_type(int)
jnp.diagonal(jnp.arange(9).reshape(3, 3), 1)
jax.jit(lambda x: x + 1)(np.arange(3))
jax.jit(lambda x: x + 1)(np.int64(3))
jax.jit(lambda: np.arange(3) * jnp.int8(2))()
jax.eval_shape(lambda x: x + 1, jax.ShapeDtypeStruct((2,), np.int64))
jax.vmap(lambda x: x)(np.arange(3))
jax.lax.fori_loop(0, 3, lambda i, n: n + i, 0)
jax.lax.scan(lambda c, i: (c + i, i), 0, np.arange(3))[1]
jax.lax.iota(int, 3)
jax.lax.argmax(jnp.ones(3), 0, int)
jax.random.randint(jax.random.key(0), (2,), 0, 9, jnp.int64)
jax.random.uniform(jax.random.key(0), minval=np.float64(1), maxval=2)
jnp.ones(2, "bfloat16") * np.sqrt(2)
jax.dtypes.canonicalize_dtype("uint64")
jnp.dtype(jnp.iinfo(int).dtype)
jnp.float_power(jnp.ones(2, "float16"), 2)
jnp.float_power(2, jnp.ones(2, "int8"))
jax.nn.relu6(jnp.ones(2, "int8"))
jax.nn.softplus(jnp.ones(2, "int32"))
jnp.interp(jnp.ones(2, "int32"), jnp.ones(2, "int32"), jnp.ones(2, "int32"))
jnp.trapezoid(jnp.ones(2, "int32"))
jnp.unwrap(jnp.ones(2, "int32"))
jnp.rint(jnp.ones(2, "int32"))
jnp.angle(jnp.ones(2, "int32"))
jnp.positive(jnp.ones(2, bool))
jnp.tri(2)
jnp.searchsorted(jnp.ones(3), 2.0)
jnp.digitize(jnp.ones(2), jnp.ones(3))
jnp.argpartition(jnp.ones(3), 1)
jnp.ravel_multi_index((jnp.ones(2, "int32"), jnp.ones(2, "int32")), (3, 3))
jnp.histogram(jnp.ones(2, "float32"), weights=jnp.ones(2, "int32"))[0]
jnp.histogram2d(jnp.ones(2), jnp.ones(2), 2)[0]
jax.random.multivariate_normal(jax.random.key(0), jnp.ones(2, "float32"), jnp.eye(2, dtype="float32"))
jax.random.binomial(jax.random.key(0), 5, 0.4, (2,))
jax.random.geometric(jax.random.key(0), 0.3, (2,))
jnp.finfo("bfloat16").max * jnp.ones(2, "float16")
jax.random.gamma(jax.random.key(0), jnp.ones(2, "float16"))
jax.random.uniform(jax.random.key(0), (2,), minval=jnp.float16(0), maxval=2.0)
jax.random.weibull_min(jax.random.key(0), jnp.ones(2, "bfloat16"), 2.0)
jax.random.multinomial(jax.random.key(0), 5, jnp.ones(2, "float32") / 2)
jax.random.multivariate_normal(jax.random.key(0), jnp.ones(2, "float16"), jnp.eye(2, dtype="float32"))
jnp.average(jnp.arange(1, 3), weights=jnp.arange(1, 3))
jnp.poly(jnp.arange(3))
jnp.roots(jnp.arange(1, 4))
jnp.spacing(jnp.arange(3))
jnp.var(jnp.ones(2, "int8"), dtype="int8")
jax.image.resize(jnp.arange(4).reshape(2, 2), (4, 4), "linear")
""".strip().splitlines()

BEYOND_32_BITS = """
jnp.asarray(2**31)
jnp.asarray([1, 2**31])
jnp.ones(2, int) + 2**31
jax.jit(abs)(-(2**32))
""".strip().splitlines()

PROGRAM = """
    import sys, warnings
    warnings.simplefilter("ignore")
    if sys.argv[1] == "adze":
        import adze.compat
        adze.compat.install()
    import jax
    import jax.numpy as jnp
    import numpy as np
    jax.config.update("jax_enable_x64", sys.argv[2] == "wide")

    def ones(dtype):
        return jnp.ones(2, dtype)

    values = {text: eval(text.replace("&", " ")) for text in sys.argv[4].split()}
    for line in sys.stdin.read().splitlines():
        function, a, b = line.split(";")
        try:
            result = eval(function, {**globals(), "a": values[a], "b": values[b]})
            result = str(result if isinstance(result, np.dtype) else jnp.asarray(result).dtype)
        except (TypeError, ValueError, OverflowError):
            result = "error"
        print(result)
"""


@pytest.mark.parametrize("mode", ["narrow", "wide"])
def test_the_dtypes_are_those_of_jax(mode: str) -> None:
    values = VALUES + OF_64_BITS
    cases = [(f, a, b) for f in BINARY for a, b in itertools.combinations_with_replacement(values, 2)]
    cases += [(f, a, "2") for f in UNARY for a in values]
    cases += [(f, "2", "2") for f in OF_NONE + BEYOND_32_BITS]
    seen = []
    for library in ("jax", "adze"):
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), library, mode, "", " ".join(values)]
        lines = "\n".join(map(";".join, cases))
        done = subprocess.run(command, check=False, timeout=600, capture_output=True, text=True, input=lines)
        assert done.returncode == 0, done.stderr[-2000:]
        seen.append(done.stdout.split())
    pairs = zip(cases, *seen, strict=True)
    different = [(case, of_jax, own) for case, of_jax, own in pairs if of_jax not in ("error", own)]
    assert different == []
    wanted = ["error" if mode == "narrow" else "int64"] * len(BEYOND_32_BITS)
    assert [row[-len(wanted) :] for row in seen] == [wanted, wanted]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_limits_of_float_dtypes_are_those_of_jax(dtype: str) -> None:
    import jax

    import adze

    ours, theirs = adze.numpy.finfo(dtype), jax.numpy.finfo(dtype)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    assert {"precision", "epsneg", "nmant"} <= names and {*dir(ours)} >= names
    for name in names - {"dtype"}:
        assert float(getattr(ours, name)) == float(getattr(theirs, name)), name
