"""A variational autoencoder of images of one round spot: its two latent numbers learn where the spot is."""

from library import jax, run

jnp, random = jax.numpy, jax.random
SIZE = 8


def spots(key, count):
    centre = random.uniform(key, (count, 2, 1, 1), minval=2.0, maxval=SIZE - 3.0)
    row, column = jnp.meshgrid(jnp.arange(SIZE), jnp.arange(SIZE), indexing="ij")
    square = (row - centre[:, 0]) ** 2 + (column - centre[:, 1]) ** 2
    return jnp.exp(-square / 3.0).reshape(count, -1)


def dense(key, inputs, outputs):
    return random.normal(key, (inputs, outputs)) * inputs**-0.5, jnp.zeros(outputs)


def initial(key):
    sizes = {"hidden": (SIZE**2, 32), "latent": (32, 4), "back": (2, 32), "image": (32, SIZE**2)}
    keys = random.split(key, len(sizes))
    return {name: dense(k, *size) for k, (name, size) in zip(keys, sizes.items(), strict=True)}


def layer(params, x):
    return x @ params[0] + params[1]


def decoded(params, z):
    return layer(params["image"], jnp.tanh(layer(params["back"], z)))


def evidence(params, key, x):
    """The evidence lower bound of one image, estimated with one sample."""
    mean, log_scale = jnp.split(layer(params["latent"], jnp.tanh(layer(params["hidden"], x))), 2)
    z = mean + jnp.exp(log_scale) * random.normal(key, mean.shape)
    logits = decoded(params, z)
    likelihood = jnp.sum(x * jax.nn.log_sigmoid(logits) + (1 - x) * jax.nn.log_sigmoid(-logits))
    divergence = 0.5 * jnp.sum(jnp.exp(2 * log_scale) + mean**2 - 1 - 2 * log_scale)
    return likelihood - divergence


@jax.jit
def step(params, key):
    data, noise = random.split(key)
    x = spots(data, 64)

    def loss(p):
        return -jax.vmap(evidence, in_axes=(None, 0, 0))(p, random.split(noise, 64), x).mean()

    value, gradient = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient), value


def main(steps):
    params = initial(random.key(0))
    values = []
    for i in range(steps):
        params, value = step(params, random.key(i + 1))
        values.append(float(value))
    image = jax.nn.sigmoid(decoded(params, jnp.zeros(2)))
    return {"first loss": values[0], "last loss": values[-1], "brightest": image.max()}


if __name__ == "__main__":
    run(main, steps=100)
