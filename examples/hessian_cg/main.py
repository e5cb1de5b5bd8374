"""Newton's method without the Hessian matrix: conjugate gradients on Hessian-vector products.

`jvp` of `grad` multiplies the Hessian by a vector at the cost of a few gradients. The solver is a
`while_loop` in the same compiled function. The task is to minimise Rosenbrock's function in many
dimensions.

    python examples/hessian_cg/main.py --dimensions 200
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import adze
from adze import lax
from adze import numpy as xp


def rosenbrock(x: Any) -> Any:
    """Rosenbrock's function: a curved valley with the minimum 0 at (1, ..., 1)."""
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def hessian_product(f: Callable[[Any], Any], x: Any, v: Any) -> Any:
    """The Hessian of `f` at `x`, multiplied by `v`."""
    return adze.jvp(adze.grad(f), (x,), (v,))[1]


def conjugate_gradients(multiply: Callable[[Any], Any], b: Any, tolerance: float, limit: int) -> Any:
    """Solve `multiply(x) = b`; stops early where the curvature is negative (Steihaug 1983)."""

    def go_on(state: Any) -> Any:
        _, residual, _, step, stuck = state
        return (xp.vdot(residual, residual) > tolerance * xp.vdot(b, b)) & (step < limit) & ~stuck

    def advance(state: Any) -> Any:
        x, residual, direction, step, _ = state
        image = multiply(direction)
        curvature = xp.vdot(direction, image)
        stuck = curvature <= 0
        length = xp.where(stuck, 0.0, xp.vdot(residual, residual) / xp.where(stuck, 1.0, curvature))
        rest = residual - length * image
        direction_next = rest + xp.vdot(rest, rest) / xp.vdot(residual, residual) * direction
        return x + length * direction, rest, direction_next, step + 1, stuck

    # If the curvature is negative along the first direction already, the step follows the gradient.
    x, _, _, steps, stuck = lax.while_loop(go_on, advance, (0.0 * b, b, b, np.int32(0), False))
    return xp.where(stuck & (steps == 1), b, x), steps


def newton_step(x: Any) -> tuple[Any, Any, Any]:
    """One step with backtracking; returns the next point, its value, and the solver's number of products."""
    gradient = adze.grad(rosenbrock)(x)
    direction, products = conjugate_gradients(
        lambda v: hessian_product(rosenbrock, x, v), -gradient, 1e-10, 200
    )
    slope, value = xp.vdot(gradient, direction), rosenbrock(x)

    def too_long(t: Any) -> Any:
        return (rosenbrock(x + t * direction) > value + 1e-4 * t * slope) & (t > 1e-8)

    t = lax.while_loop(too_long, lambda t: t / 2, xp.ones((), x.dtype))
    return x + t * direction, rosenbrock(x + t * direction), products


def minimise(dimensions: int, tolerance: float = 1e-18) -> tuple[np.ndarray, list[tuple[float, int]]]:
    """Minimise from a distant point; returns the point, and the value and solver steps of each step."""
    x = np.full(dimensions, -1.2)
    step = adze.jit(newton_step)
    history: list[tuple[float, int]] = []
    while (not history or history[-1][0] > tolerance) and len(history) < 10 * dimensions + 100:
        x, value, products = step(x)
        history.append((float(value), int(products)))
    return np.asarray(x), history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimensions", type=int, default=50)
    options = parser.parse_args()
    x, history = minimise(options.dimensions)
    for count, (value, products) in enumerate(history):
        if count % max(1, len(history) // 10) == 0 or count == len(history) - 1:
            print(f"step {count:4d}: value {value:10.3e} after {products} Hessian-vector products")
    print(f"largest distance to the minimum: {np.abs(x - 1).max():.1e}")


if __name__ == "__main__":
    main()
