"""Policy gradients (Williams 1992) in an environment that is a pure function: a cart is driven to a flag."""

from library import jax, run

jnp, lax, random = jax.numpy, jax.lax, jax.random
LENGTH, COUNT = 24, 64


def environment(state, action):
    """The next state and the reward: actions push left, not at all or right; the flag stands at 1."""
    place, speed = state
    speed = jnp.clip(0.95 * speed + 0.1 * (action - 1), -0.5, 0.5)
    place = jnp.clip(place + speed, -2.0, 2.0)
    return (place, speed), -jnp.abs(place - 1.0)


def initial(key):
    first, second = random.split(key)
    return {"w": random.normal(first, (2, 16)), "b": jnp.zeros(16), "v": random.normal(second, (16, 3)) * 0.1}


def log_policy(params, state):
    return jax.nn.log_softmax(jnp.tanh(jnp.stack(state) @ params["w"] + params["b"]) @ params["v"])


def episode(params, key):
    """The log probabilities of the actions that were drawn, and the rewards."""
    start, rest = random.split(key)

    def body(state, key):
        scores = log_policy(params, state)
        action = random.categorical(key, scores)
        state, reward = environment(state, action)
        return state, (scores[action], reward)

    state = (random.uniform(start, minval=-1.0, maxval=1.0), jnp.zeros(()))
    return lax.scan(body, state, random.split(rest, LENGTH))[1]


def surrogate(params, key):
    scores, rewards = jax.vmap(episode, in_axes=(None, 0))(params, random.split(key, COUNT))
    returns = jnp.cumsum(rewards[:, ::-1], axis=1)[:, ::-1]
    advantage = lax.stop_gradient(returns - returns.mean(axis=0))
    return -(scores * advantage).mean(), rewards.sum(axis=1).mean()


@jax.jit
def step(params, key):
    (_, reward), gradient = jax.value_and_grad(surrogate, has_aux=True)(params, key)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), reward


def main(steps):
    params = initial(random.PRNGKey(0))
    rewards = []
    for i in range(steps):
        params, reward = step(params, random.PRNGKey(i))
        rewards.append(float(reward))
    return {"first reward": rewards[0], "last reward": rewards[-1]}


if __name__ == "__main__":
    run(main, steps=40)
