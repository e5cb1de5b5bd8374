"""A neural ODE: the right-hand side of an equation is learned from points of a spiral."""

from library import jax, run

jnp, lax, random = jax.numpy, jax.lax, jax.random
TIMES = 20


def right_hand_side(params, y):
    hidden = jnp.tanh((y**3) @ params["w"] + params["b"])
    return hidden @ params["v"]


def runge_kutta(function, y, h):
    k1 = function(y)
    k2 = function(y + 0.5 * h * k1)
    k3 = function(y + 0.5 * h * k2)
    k4 = function(y + h * k3)
    return y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6


def trajectory(function, start, h=0.05):
    def body(y, _):
        y = runge_kutta(function, y, h)
        return y, y

    _, states = lax.scan(body, start, None, length=TIMES)
    return states


def spiral(y):
    return (y**3) @ jnp.array([[-0.1, 2.0], [-2.0, -0.1]])


def initial(key):
    first, second = random.split(key)
    return {
        "w": random.normal(first, (2, 24)) * 0.5,
        "b": jnp.zeros(24),
        "v": random.normal(second, (24, 2)) * 0.1,
    }


def loss(params, starts, targets):
    states = jax.vmap(lambda s: trajectory(lambda y: right_hand_side(params, y), s))(starts)
    return ((states - targets) ** 2).mean()


@jax.jit
def step(params, moment, starts, targets):
    value, gradient = jax.value_and_grad(loss)(params, starts, targets)
    moment = jax.tree.map(lambda m, g: 0.9 * m + g, moment, gradient)
    return jax.tree.map(lambda p, m: p - 0.02 * m, params, moment), moment, value


def main(steps):
    starts = random.uniform(random.PRNGKey(1), (32, 2), minval=-1.5, maxval=1.5)
    targets = jax.vmap(lambda s: trajectory(spiral, s))(starts)
    params = initial(random.PRNGKey(0))
    moment = jax.tree.map(jnp.zeros_like, params)
    values = []
    for _ in range(steps):
        params, moment, value = step(params, moment, starts, targets)
        values.append(float(value))
    return {"first loss": values[0], "last loss": values[-1]}


if __name__ == "__main__":
    run(main, steps=100)
