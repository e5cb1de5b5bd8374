"""A Gaussian process: hyperparameters by gradient ascent on the evidence, then predictions with bounds."""

from library import jax, run

jnp, random = jax.numpy, jax.random
cho_factor, cho_solve = jax.scipy.linalg.cho_factor, jax.scipy.linalg.cho_solve


def kernel(params, a, b):
    square = ((a[:, None] - b[None, :]) / jnp.exp(params["log_length"])) ** 2
    return jnp.exp(2 * params["log_amplitude"] - 0.5 * square)


def covariance(params, x):
    return kernel(params, x, x) + jnp.exp(2 * params["log_noise"]) * jnp.eye(x.shape[0])


@jax.jit
def evidence(params, x, y):
    """The logarithm of the probability of the data, with the function integrated out."""
    factor = cho_factor(covariance(params, x), lower=True)
    log_det = 2 * jnp.log(jnp.diag(factor[0])).sum()
    return -0.5 * (y @ cho_solve(factor, y) + log_det + y.size * jnp.log(2 * jnp.pi))


@jax.jit
def predicted(params, x, y, new):
    factor = cho_factor(covariance(params, x), lower=True)
    across = kernel(params, new, x)
    mean = across @ cho_solve(factor, y)
    variance = jnp.diag(kernel(params, new, new) - across @ cho_solve(factor, across.T))
    return mean, jnp.sqrt(variance)


def main(steps):
    places, noise = random.split(random.PRNGKey(0))
    x = random.uniform(places, (24,), minval=-3.0, maxval=3.0)
    y = jnp.sin(2 * x) + 0.1 * random.normal(noise, x.shape)
    params = {"log_length": jnp.array(0.5), "log_amplitude": jnp.array(0.0), "log_noise": jnp.array(-1.0)}
    ascent = jax.jit(jax.value_and_grad(evidence))
    values = []
    for _ in range(steps):
        value, gradient = ascent(params, x, y)
        params = jax.tree.map(lambda p, g: p + 0.01 * jnp.clip(g, -10, 10), params, gradient)
        values.append(float(value))
    mean, deviation = predicted(params, x, y, jnp.linspace(-2.5, 2.5, 21))
    error = jnp.abs(mean - jnp.sin(2 * jnp.linspace(-2.5, 2.5, 21))).max()
    return {
        "first evidence": values[0],
        "last evidence": values[-1],
        "length": jnp.exp(params["log_length"]),
        "largest error": error,
        "largest deviation": deviation.max(),
    }


if __name__ == "__main__":
    run(main, steps=60)
