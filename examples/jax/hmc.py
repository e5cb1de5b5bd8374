"""Hamiltonian Monte Carlo for a logistic regression: leapfrog steps in `fori_loop`, chains by `vmap`."""

from functools import partial

from library import jax, run

jnp, lax, random = jax.numpy, jax.lax, jax.random
TRUE = (1.5, -1.0, 0.5)


def log_posterior(x, y, weights):
    logits = x @ weights
    return (
        jnp.sum(jnp.where(y, jax.nn.log_sigmoid(logits), jax.nn.log_sigmoid(-logits)))
        - 0.05 * weights @ weights
    )


def transition(density, position, key, size=0.1, leaps=8):
    """One proposal along a trajectory, accepted by Metropolis' rule."""
    momentum_key, accept_key = random.split(key)
    momentum = random.normal(momentum_key, position.shape)
    slope = jax.grad(density)

    def leap(_, state):
        place, speed = state
        speed = speed + 0.5 * size * slope(place)
        place = place + size * speed
        return place, speed + 0.5 * size * slope(place)

    proposal, speed = lax.fori_loop(0, leaps, leap, (position, momentum))
    gain = density(proposal) - 0.5 * speed @ speed - density(position) + 0.5 * momentum @ momentum
    accepted = jnp.log(random.uniform(accept_key)) < gain
    return jnp.where(accepted, proposal, position), accepted


@partial(jax.jit, static_argnums=3)
def chain(x, y, key, length):
    start, rest = random.split(key)
    step = partial(transition, partial(log_posterior, x, y))

    def body(position, key):
        position, accepted = step(position, key)
        return position, (position, accepted)

    _, history = lax.scan(body, random.normal(start, (len(TRUE),)), random.split(rest, length))
    return history


def main(steps):
    inputs, labels, chains = random.split(random.PRNGKey(0), 3)
    x = random.normal(inputs, (100, len(TRUE)))
    y = random.uniform(labels, (100,)) < jax.nn.sigmoid(x @ jnp.array(TRUE))
    run_chains = jax.vmap(lambda key: chain(x, y, key, steps))
    positions, accepted = run_chains(random.split(chains, 4))
    kept = positions[:, steps // 2 :]
    means = kept.mean(axis=(0, 1))
    return {"acceptance": accepted.mean(), **{f"weight {i}": m for i, m in enumerate(means)}}


if __name__ == "__main__":
    run(main, steps=200)
