"""A convolutional network that tells horizontal, vertical and diagonal bars in noisy images apart."""

from library import jax, run

jnp, lax, random = jax.numpy, jax.lax, jax.random


def images(key, count):
    """Images of 12 x 12 with one bar each, and which of the three kinds it is."""
    kinds, places, noise = random.split(key, 3)
    label = random.randint(kinds, (count,), 0, 3)
    place = random.randint(places, (count, 1, 1), 2, 10)
    row, column = jnp.mgrid[:12, :12]
    distances = jnp.stack(
        [jnp.abs(row - place), jnp.abs(column - place), jnp.abs(row - column) + 0 * place], axis=1
    )
    distance = jnp.take_along_axis(distances, label[:, None, None, None], axis=1)
    bar = jnp.where(distance <= 1, 1.0, 0.0)
    return bar + 0.3 * random.normal(noise, bar.shape), label


def initial(key):
    first, second, third = random.split(key, 3)
    return {
        "first": random.normal(first, (8, 1, 3, 3)) * 0.3,
        "second": random.normal(second, (8, 8, 3, 3)) * 0.1,
        "head": {"w": random.normal(third, (8 * 9, 3)) * 0.1, "b": jnp.zeros(3)},
    }


def pooled(x):
    window = (1, 1, 2, 2)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")


def logits(params, x):
    for name in ("first", "second"):
        x = lax.conv_general_dilated(
            x, params[name], (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")
        )
        x = pooled(jax.nn.relu(x))
    return x.reshape(x.shape[0], -1) @ params["head"]["w"] + params["head"]["b"]


def loss(params, x, label):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits(params, x)), label[:, None], axis=1)
    return -chosen.mean()


@jax.jit
def step(params, velocity, key):
    x, label = images(key, 64)
    value, gradient = jax.value_and_grad(loss)(params, x, label)
    velocity = jax.tree.map(lambda v, g: 0.9 * v - 0.05 * g, velocity, gradient)
    return jax.tree.map(jnp.add, params, velocity), velocity, value


def main(steps):
    params = initial(random.PRNGKey(0))
    velocity = jax.tree.map(jnp.zeros_like, params)
    values = []
    for i in range(steps):
        params, velocity, value = step(params, velocity, random.PRNGKey(i + 1))
        values.append(float(value))
    x, label = images(random.PRNGKey(1000), 256)
    right = logits(params, x).argmax(axis=1) == label
    return {"first loss": values[0], "last loss": values[-1], "accuracy": right.mean()}


if __name__ == "__main__":
    run(main, steps=40)
