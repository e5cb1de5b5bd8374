"""optax, equinox, flax and jaxopt as they are on the registry, running on adze.

They are installed without their dependencies into a folder of the test, so JAX is not what they import. The
programs run in a child process, since `adze.compat.install()` comes before any import of JAX.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = (
    *("optax==0.2.8", "equinox==0.13.8", "flax==0.12.8", "jaxopt==0.8.5"),
    *("jaxtyping", "wadler_lindig", "absl-py", "typing_extensions"),
    *("msgpack", "treescope", "PyYAML", "rich", "pygments", "markdown-it-py", "mdurl"),  # which flax imports
)

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
    optax.MultiSteps(optax.adam(6e-2), every_k_schedule=2),
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
checked = eqx.filter_jit(lambda x: eqx.error_if(x, x.sum() < 0, "negative") * 2)
assert jax.vmap(checked)(jnp.ones((2, 2))).tolist() == [[2, 2], [2, 2]]
assert jax.grad(lambda x: checked(x).sum())(jnp.ones(2)).tolist() == [2, 2]
try:
    checked(-jnp.ones(2))
except eqx.EquinoxRuntimeError as error:
    assert "negative" in str(error)
else:
    raise AssertionError("it has not raised")
norm, states = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="b", mode="batch")
mapped = jax.vmap(norm, axis_name="b", in_axes=(0, None), out_axes=(0, None))
out, _ = mapped(jnp.arange(6.0).reshape(2, 3), states)
assert np.allclose(out, [[-1] * 3, [1] * 3], atol=1e-3)
print("trained")
"""

FLAX = """
import flax.linen as nn

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(8, (3, 3))(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
        x = nn.MultiHeadDotProductAttention(2)(x.reshape(x.shape[0], -1, 8))
        x = nn.RNN(nn.GRUCell(8))(nn.Dropout(0.1, deterministic=not train)(nn.LayerNorm()(x)))
        return nn.Dense(1)(x[:, -1])

images = rng.normal(size=(16, 4, 4, 1)).astype(np.float32)
wanted = images[:, :2].mean(axis=(1, 2))
net = Net()
state = jax.jit(lambda key: net.init(key, images, False))(jax.random.PRNGKey(0))
params, statistics = state["params"], state["batch_stats"]
optimiser = optax.adam(1e-2)
memory = optimiser.init(params)

def loss(params, statistics, key):
    variables = {"params": params, "batch_stats": statistics}
    out, new = net.apply(variables, images, True, mutable=["batch_stats"], rngs={"dropout": key})
    return jnp.mean((out - wanted) ** 2), new["batch_stats"]

@jax.jit
def step(params, statistics, memory, key):
    (value, statistics), gradient = jax.value_and_grad(loss, has_aux=True)(params, statistics, key)
    updates, memory = optimiser.update(gradient, memory, params)
    return optax.apply_updates(params, updates), statistics, memory, value

values = []
for key in jax.random.split(jax.random.PRNGKey(1), 40):
    params, statistics, memory, value = step(params, statistics, memory, key)
    values.append(float(value))
assert values[-1] < 0.5 * values[0], values

class Layers(nn.Module):
    @nn.compact
    def __call__(self, x):
        class Layer(nn.Module):
            @nn.compact
            def __call__(self, carry, _):
                return nn.relu(nn.Dense(3)(carry)), None
        stack = nn.scan(Layer, variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
        return stack()(x, None)[0]

one = jnp.ones((2, 3))
out, variables = Layers().init_with_output(jax.random.PRNGKey(0), one)
(dense,) = variables["params"].values()
kernels = np.asarray(dense["Dense_0"]["kernel"])
expected = np.asarray(one)
for kernel in kernels:
    expected = np.maximum(expected @ kernel, 0)
assert np.allclose(out, expected, atol=1e-6)
both = nn.Bidirectional(nn.RNN(nn.LSTMCell(4)), nn.RNN(nn.GRUCell(4)))
assert both.init_with_output(jax.random.PRNGKey(0), jnp.ones((2, 5, 3)))[0].shape == (2, 5, 8)
mapped = nn.vmap(nn.Dense, variable_axes={"params": 0}, split_rngs={"params": True})(3)
assert mapped.init_with_output(jax.random.PRNGKey(0), jnp.ones((2, 5, 3)))[0].shape == (2, 5, 3)
print("trained")
"""

NNX = """
from flax import nnx

class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(8, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)

    def __call__(self, x):
        return nnx.gelu(self.dropout(self.norm(self.linear(x))))

class Model(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 8, rngs=rngs)

        @nnx.split_rngs(splits=3)
        @nnx.vmap(axis_size=3)
        def blocks(rngs):
            return Block(rngs)

        self.blocks = blocks(rngs)
        self.last = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        @nnx.scan
        def through(x, block):
            return block(x), None

        return self.last(through(self.first(x), self.blocks)[0])

model = Model(nnx.Rngs(0))
assert model.blocks.dropout.rngs.key.shape == (3,)
optimiser = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

@nnx.jit
def step(model, optimiser):
    value, gradient = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimiser.update(model, gradient)
    return value

values = [float(step(model, optimiser)) for _ in range(60)]
assert sum(values[-5:]) < 0.5 * sum(values[:5]), values
assert model.blocks.dropout.rngs.count.shape == (3,) and int(model.blocks.dropout.rngs.count[...][0]) == 60
model.eval()
assert jnp.array_equal(model(x), model(x))
print("trained")
"""

JAXOPT = """
import jaxopt

def fun(v):
    return jnp.sum((v - jnp.arange(3.0)) ** 2) + 0.1 * jnp.sum(v**4)

slope = jax.grad(fun)
for solver in (jaxopt.LBFGS, jaxopt.NonlinearCG, jaxopt.GradientDescent):
    found = solver(fun=fun, maxiter=200, tol=1e-4).run(jnp.zeros(3)).params
    assert float(jnp.abs(slope(found)).max()) < 1e-3, solver

def ridge(w, penalty):
    return jnp.mean((x @ w - y[:, 0]) ** 2) + penalty * jnp.sum(w**2)

def solved(penalty):
    solver = jaxopt.LBFGS(fun=ridge, maxiter=300, tol=1e-6, implicit_diff=True)
    return jnp.sum(solver.run(jnp.zeros(4), penalty=penalty).params)

h = 1e-2
difference = (solved(1.0 + h) - solved(1.0 - h)) / (2 * h)
assert abs(float(jax.grad(solved)(1.0)) - float(difference)) < 1e-3
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
@pytest.mark.parametrize(
    "program", [OPTAX, EQUINOX, FLAX, NNX, JAXOPT], ids=["optax", "equinox", "flax", "nnx", "jaxopt"]
)
def test_a_client_trains(program: str, folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(START.format(folder=str(folder)) + program)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "trained" in done.stdout, done.stderr[-3000:]
