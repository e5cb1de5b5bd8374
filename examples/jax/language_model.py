"""A transformer of one block that learns to write a text, character by character."""

from functools import partial

from library import jax, run

jnp, random = jax.numpy, jax.random

TEXT = """A compiler reads what a person wrote and writes what a machine can do. Between the two it keeps a
promise: whatever the program meant before a pass, it means after it. A pass that breaks the promise is worse
than no pass at all, for the numbers still come out, and they are wrong. So the compiler checks itself, and
the person checks the compiler, and both of them sleep better. The gradient of a program is a program too. It
walks back through everything that the first one did, and asks of every step how much the end depends on it.
"""
LETTERS = sorted(set(TEXT))
CONTEXT, WIDTH, HEADS = 32, 32, 4


def initial(key):
    shapes = {
        "letters": (len(LETTERS), WIDTH),
        "places": (CONTEXT, WIDTH),
        "qkv": (WIDTH, 3 * WIDTH),
        "out": (WIDTH, WIDTH),
        "up": (WIDTH, 4 * WIDTH),
        "down": (4 * WIDTH, WIDTH),
    }
    keys = random.split(key, len(shapes))
    return {n: random.normal(k, s) * s[0] ** -0.5 for k, (n, s) in zip(keys, shapes.items(), strict=True)}


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(params, x):
    q, k, v = jnp.split((x @ params["qkv"]).reshape(CONTEXT, HEADS, -1), 3, axis=-1)
    scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones((CONTEXT, CONTEXT), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("hqk,khd->qhd", weights, v).reshape(CONTEXT, WIDTH) @ params["out"]


def logits(params, tokens):
    x = params["letters"][tokens] + params["places"]
    x = x + attention(params, normalised(x))
    x = x + jax.nn.gelu(normalised(x) @ params["up"]) @ params["down"]
    return normalised(x) @ params["letters"].T


def loss(params, batch):
    scores = jax.nn.log_softmax(jax.vmap(partial(logits, params))(batch[:, :-1]))
    return -jnp.take_along_axis(scores, batch[:, 1:, None], axis=-1).mean()


@jax.jit
def step(params, moments, tokens, i, key):
    starts = random.randint(key, (16,), 0, tokens.shape[0] - CONTEXT - 1)
    batch = tokens[starts[:, None] + jnp.arange(CONTEXT + 1)]
    value, gradient = jax.value_and_grad(loss)(params, batch)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradient)
    second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g**2, moments[1], gradient)

    def moved(p, m, s):
        return p - 3e-3 * (m / (1 - 0.9**i)) / (jnp.sqrt(s / (1 - 0.99**i)) + 1e-8)

    return jax.tree.map(moved, params, first, second), (first, second), value


def main(steps):
    tokens = jnp.array([LETTERS.index(c) for c in TEXT])
    params = initial(random.PRNGKey(0))
    moments = (jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params))
    values = []
    for i in range(steps):
        params, moments, value = step(params, moments, tokens, i + 1.0, random.PRNGKey(i))
        values.append(float(value))
    return {"first loss": values[0], "last loss": values[-1]}


if __name__ == "__main__":
    run(main, steps=60)
