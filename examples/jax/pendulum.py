"""A double pendulum by `odeint`: its energy is kept, and gradients say how its start decides its end."""

from library import jax, run

jnp = jax.numpy
odeint = __import__(f"{jax.__name__}.experimental.ode", fromlist=["odeint"]).odeint
GRAVITY = 9.81


def kinetic(angles, speeds):
    first, second = speeds
    across = first * second * jnp.cos(angles[0] - angles[1])
    return first**2 + 0.5 * second**2 + across


def potential(angles):
    return -GRAVITY * (2 * jnp.cos(angles[0]) + jnp.cos(angles[1]))


def lagrangian(angles, speeds):
    return kinetic(angles, speeds) - potential(angles)


def motion(state, t):
    """Lagrange's equations, solved for the accelerations."""
    angles, speeds = state
    mass = jax.hessian(lagrangian, 1)(angles, speeds)
    force = jax.grad(lagrangian, 0)(angles, speeds)
    coupling = jax.jacfwd(jax.grad(lagrangian, 1), 0)(angles, speeds)
    return speeds, jnp.linalg.solve(mass, force - coupling @ speeds)


def end(start, until):
    angles, speeds = odeint(motion, (start, jnp.zeros(2)), jnp.array([0.0, 0.5, 1.0]) * until)
    return angles[-1], speeds[-1]


@jax.jit
def height(start, until):
    angles, _ = end(start, until)
    return -2 * jnp.cos(angles[0]) - jnp.cos(angles[1])


def main(steps):
    start, until = jnp.array([1.0, 0.5]), 0.01 * steps
    angles, speeds = jax.jit(end)(start, until)
    lost = kinetic(angles, speeds) + potential(angles) - potential(start)
    slope = jax.jit(jax.grad(height))(start, until)
    return {
        "first angle": angles[0],
        "second angle": angles[1],
        "energy lost": lost,
        "slope by the first angle": slope[0],
        "slope by the second angle": slope[1],
    }


if __name__ == "__main__":
    run(main, steps=50)
