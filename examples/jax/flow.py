"""A normalising flow (Dinh et al. 2017: affine coupling) that learns the density of two crescents."""

from library import jax, run

jnp, random = jax.numpy, jax.random
LAYERS = 4


def crescents(key, count):
    which, angle, noise = random.split(key, 3)
    upper = random.bernoulli(which, 0.5, (count,))
    t = random.uniform(angle, (count,), maxval=jnp.pi)
    x = jnp.where(upper, jnp.cos(t), 1 - jnp.cos(t))
    y = jnp.where(upper, jnp.sin(t), 0.5 - jnp.sin(t))
    return jnp.stack([x, y], axis=1) + 0.05 * random.normal(noise, (count, 2))


def initial(key):
    def layer(key):
        a, b = random.split(key)
        return {
            "w": random.normal(a, (1, 16)),
            "b": jnp.zeros(16),
            "v": random.normal(b, (16, 2)) * 0.05,
        }

    return jax.vmap(layer)(random.split(key, LAYERS))


def coupled(carry, layer):
    """One coupling: the second coordinate is scaled and shifted by functions of the first; they swap."""
    (fixed, moved), log_det = carry
    hidden = jnp.tanh(fixed[None] @ layer["w"] + layer["b"])
    log_scale, shift = hidden @ layer["v"]
    return ((moved * jnp.exp(log_scale) + shift, fixed), log_det + log_scale), None


def log_density(params, point):
    start = ((point[0], point[1]), jnp.zeros(()))
    ((x, y), log_det), _ = jax.lax.scan(coupled, start, params)
    return log_det - 0.5 * (x**2 + y**2) - jnp.log(2 * jnp.pi)


def loss(params, points):
    return -jax.vmap(log_density, in_axes=(None, 0))(params, points).mean()


@jax.jit
def step(params, key):
    value, gradient = jax.value_and_grad(loss)(params, crescents(key, 256))
    return jax.tree.map(lambda p, g: p - 0.05 * jnp.clip(g, -1, 1), params, gradient), value


def main(steps):
    params = initial(random.PRNGKey(3))
    values = []
    for i in range(steps):
        params, value = step(params, random.PRNGKey(i))
        values.append(float(value))
    inside, outside = (log_density(params, jnp.array(p)) for p in ([0.0, 1.0], [3.0, 3.0]))
    return {"first loss": values[0], "last loss": values[-1], "inside over outside": inside - outside}


if __name__ == "__main__":
    run(main, steps=100)
