"""Dtypes of results are JAX's after `install()`, with 64-bit numbers and without, weak types included.

Each function runs on pairs of values, with JAX and with adze. Integers of 64 bits are left out where JAX has
none.
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
            result = str(jnp.asarray(result).dtype)
        except (TypeError, ValueError, OverflowError):
            result = "error"
        print(result)
"""


@pytest.mark.parametrize("mode", ["narrow", "wide"])
def test_the_dtypes_are_those_of_jax(mode: str) -> None:
    values = VALUES + (OF_64_BITS if mode == "wide" else [])
    cases = [(f, a, b) for f in BINARY for a, b in itertools.combinations_with_replacement(values, 2)]
    cases += [(f, a, "2") for f in UNARY for a in values]
    seen = []
    for library in ("jax", "adze"):
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), library, mode, "", " ".join(values)]
        lines = "\n".join(map(";".join, cases))
        done = subprocess.run(command, check=False, timeout=300, capture_output=True, text=True, input=lines)
        assert done.returncode == 0, done.stderr[-2000:]
        seen.append(
            done.stdout.replace("int64", "int32").split() if mode == "narrow" else done.stdout.split()
        )
    pairs = zip(cases, *seen, strict=True)
    different = [(case, of_jax, own) for case, of_jax, own in pairs if of_jax not in ("error", own)]
    assert different == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_limits_of_float_dtypes_are_those_of_jax(dtype: str) -> None:
    import jax

    import adze

    ours, theirs = adze.numpy.finfo(dtype), jax.numpy.finfo(dtype)
    names = {name for name in dir(theirs) if not name.startswith("_")}
    assert {"precision", "epsneg", "nmant"} <= names and {*dir(ours)} >= names
    for name in names - {"dtype"}:
        assert float(getattr(ours, name)) == float(getattr(theirs, name)), name
