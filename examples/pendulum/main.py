"""A damped pendulum: friction and length are fitted to noisy angles, with gradients through the integrator.

The integrator is a `while_loop` with an adaptive step. `max_steps` makes it differentiable in reverse mode,
so gradient descent on the integrator's results fits the parameters.

    python examples/pendulum/main.py --steps 150
"""

import argparse
from typing import Any

import numpy as np

import adze
from adze import lax, optim
from adze import numpy as xp

GRAVITY = 9.81


def slope(params: dict[str, Any], state: Any) -> Any:
    """Time derivative of (angle, speed)."""
    angle, speed = state[0], state[1]
    return xp.stack([speed, -params["friction"] * speed - GRAVITY / params["length"] * xp.sin(angle)])


def advanced(params: dict[str, Any], state: Any, duration: float, tolerance: float, max_steps: int) -> Any:
    """The state after `duration`, by Heun's method; the difference to Euler's method estimates the error."""

    def go_on(carry: Any) -> Any:
        return carry[0] < duration - 1e-6

    def attempt(carry: Any) -> Any:
        time, step, now = carry[0], xp.minimum(carry[1], duration - carry[0]), carry[2:]
        first = slope(params, now)
        second = slope(params, now + step * first)
        # The step size is a choice, so it has no derivative.
        error = adze.stop_gradient(xp.max(xp.abs(0.5 * step * (second - first))))
        accepted = error <= tolerance
        wider = adze.stop_gradient(step * xp.clip(0.9 * xp.sqrt(tolerance / (error + 1e-12)), 0.3, 2.0))
        after = xp.where(accepted, now + 0.5 * step * (first + second), now)
        later = xp.where(accepted, time + step, time)
        return xp.concatenate([xp.stack([later, wider]), after])

    # The carry is one array (time, step, angle, speed): carrying four small arrays costs more.
    start = xp.concatenate([np.array([0.0, 0.05], np.float32), state])
    return lax.while_loop(go_on, attempt, start, max_steps=max_steps)[2:]


def angles(
    params: dict[str, Any], count: int, interval: float = 0.2, tolerance: float = 1e-3, max_steps: int = 40
) -> Any:
    """The angles at `count` times after a release at 1.2 rad."""

    def observe(state: Any, _: Any) -> tuple[Any, Any]:
        state = advanced(params, state, interval, tolerance, max_steps)
        return state, state[0]

    return lax.scan(observe, xp.asarray(np.array([1.2, 0.0], np.float32)), None, length=count)[1]


def fit(steps: int, count: int = 20, noise: float = 0.02) -> tuple[dict[str, float], list[float]]:
    """Fit from a wrong initial guess; returns the fitted parameters and the losses."""
    truth = {"friction": np.float32(0.4), "length": np.float32(1.3)}
    measured = np.asarray(adze.jit(lambda p: angles(p, count))(truth))
    measured = measured + noise * np.random.default_rng(0).standard_normal(count).astype(np.float32)
    optimizer = optim.adam(0.03)

    def loss(logs: dict[str, Any], data: Any) -> Any:
        return xp.mean((angles(adze.tree.map(xp.exp, logs), count) - data) ** 2)

    @adze.jit
    def step(logs: dict[str, Any], state: Any, data: Any) -> tuple[Any, Any, Any]:
        value, gradient = adze.value_and_grad(loss)(logs, data)
        updates, state = optimizer.update(gradient, state, logs)
        return optim.apply_updates(logs, updates), state, value

    # The optimizer works on logarithms, so both parameters stay positive.
    logs: dict[str, Any] = {"friction": np.float32(np.log(0.1)), "length": np.float32(0.0)}
    state, losses = optimizer.init(logs), []
    for _ in range(steps):
        logs, state, value = step(logs, state, measured)
        losses.append(float(value))
    return {name: float(np.exp(np.asarray(v))) for name, v in logs.items()}, losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=150)
    options = parser.parse_args()
    fitted, losses = fit(options.steps)
    print("loss:", " ".join(f"{v:.4f}" for v in losses[:: max(1, len(losses) // 10)]))
    print(f"friction {fitted['friction']:.3f} (true 0.4), length {fitted['length']:.3f} (true 1.3)")


if __name__ == "__main__":
    main()
