"""optax and equinox as they are on the registry, running on adze.

They are installed without their dependencies into a folder of the test, so JAX is not what they import. The
programs run in a child process, since `adze.compat.install()` comes before any import of JAX.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("optax==0.2.8", "equinox==0.13.8", "jaxtyping", "wadler_lindig", "absl-py", "typing_extensions")

START = """
import sys
sys.path.append({folder!r})
import adze.compat
adze.compat.install()
import jax, jax.numpy as jnp, optax, numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype(np.float32)
y = x[:, :1] * x[:, 1:2]
"""

OPTAX = """
def loss(p):
    return jnp.mean((jnp.tanh(x @ p["w"]) @ p["v"] - y) ** 2)

start = {"w": rng.normal(size=(4, 16)).astype(np.float32) * 0.5, "v": jnp.zeros((16, 1))}
for optimiser in (
    optax.sgd(0.1, momentum=0.9),
    optax.adam(3e-2),
    optax.adamw(optax.cosine_decay_schedule(3e-2, 60)),
    optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.scale_by_adam(),
        optax.scale_by_schedule(optax.warmup_cosine_decay_schedule(0.0, 3e-2, 5, 60)),
        optax.scale(-1.0),
    ),
):
    params, state = start, optimiser.init(start)

    @jax.jit
    def step(params, state):
        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = optimiser.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    values = []
    for _ in range(40):
        params, state, value = step(params, state)
        assert value.dtype == np.float32
        values.append(float(value))
    assert values[-1] < 0.8 * values[0], values
labels = optax.softmax_cross_entropy_with_integer_labels(x, np.arange(64) % 4)
assert np.allclose(labels, optax.softmax_cross_entropy(x, jax.nn.one_hot(np.arange(64) % 4, 4)), atol=1e-5)
print("trained")
"""

EQUINOX = """
import equinox as eqx

class Net(eqx.Module):
    layers: list
    scale: jax.Array

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Linear(4, 8, key=keys[0]),
            jax.nn.relu,
            eqx.nn.LayerNorm(8),
            eqx.nn.Linear(8, 1, key=keys[1]),
        ]
        self.scale = jnp.ones(())

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale

key = jax.random.PRNGKey(0)
for model in (Net(key), eqx.nn.MLP(4, 1, 16, 2, key=key)):
    optimiser = optax.adam(1e-2)
    state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state):
        value, gradient = eqx.filter_value_and_grad(lambda m: jnp.mean((jax.vmap(m)(x) - y) ** 2))(model)
        updates, state = optimiser.update(gradient, state, eqx.filter(model, eqx.is_inexact_array))
        return eqx.apply_updates(model, updates), state, value

    values = []
    for _ in range(60):
        model, state, value = step(model, state)
        assert value.dtype == np.float32
        values.append(float(value))
    assert values[-1] < 0.6 * values[0], values
image = jnp.ones((1, 8, 8))
assert eqx.nn.Conv2d(1, 4, 3, key=key)(image).shape == (4, 6, 6)
assert eqx.nn.MaxPool2d(2, 2)(image).shape == (1, 4, 4)
assert eqx.nn.MultiheadAttention(2, 4, key=key)(*[jnp.ones((3, 4))] * 3).shape == (3, 4)
assert eqx.nn.GRUCell(2, 3, key=key)(jnp.ones(2), jnp.zeros(3)).shape == (3,)
norm, states = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="b", mode="batch")
mapped = jax.vmap(norm, axis_name="b", in_axes=(0, None), out_axes=(0, None))
out, _ = mapped(jnp.arange(6.0).reshape(2, 3), states)
assert np.allclose(out, [[-1] * 3, [1] * 3], atol=1e-3)
print("trained")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clients, from the registry that pip knows."""
    target = tmp_path_factory.mktemp("clients")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(target),
        *PACKAGES,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        pytest.skip(f"the registry is not reachable: {done.stderr[-300:]}")
    return target


@pytest.mark.thorough
@pytest.mark.parametrize("program", [OPTAX, EQUINOX], ids=["optax", "equinox"])
def test_a_client_trains(program: str, folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(START.format(folder=str(folder)) + program)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "trained" in done.stdout, done.stderr[-3000:]
