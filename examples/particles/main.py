"""Particles under gravity: many simulations at once, batched by `vmap`.

A simulation is a `scan` of leapfrog steps, whose forces are the gradient of an energy. `vmap` runs one
simulation for each set of initial conditions, and `vmap` of `grad` computes how the last state depends on
these conditions.

    python examples/particles/main.py --universes 32 --steps 500
"""

import argparse
from typing import Any

import numpy as np

import adze
from adze import lax
from adze import numpy as xp

SOFTENING = 0.2


def potential(positions: Any) -> Any:
    """The potential energy of unit masses that attract each other."""
    apart = positions[:, None, :] - positions[None, :, :]
    distance = xp.sqrt(xp.sum(apart * apart, axis=-1) + SOFTENING**2)
    pairs = 1.0 / distance
    return -0.5 * (xp.sum(pairs) - positions.shape[0] / SOFTENING) / positions.shape[0]


def energy(state: tuple[Any, Any]) -> Any:
    positions, speeds = state
    return potential(positions) + 0.5 * xp.sum(speeds * speeds)


def simulate(state: tuple[Any, Any], steps: int, step: float) -> tuple[tuple[Any, Any], Any]:
    """Take `steps` leapfrog steps; returns the last state, and the energy after each step."""
    pull = adze.grad(potential)

    def leap(now: tuple[Any, Any], _: Any) -> tuple[tuple[Any, Any], Any]:
        positions, speeds = now
        speeds = speeds - 0.5 * step * pull(positions)
        positions = positions + step * speeds
        speeds = speeds - 0.5 * step * pull(positions)
        return (positions, speeds), energy((positions, speeds))

    return lax.scan(leap, state, None, length=steps)


def universes(count: int, particles: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random initial positions and speeds, with a total momentum of zero."""
    rng = np.random.default_rng(seed)
    positions = rng.standard_normal((count, particles, 2))
    speeds = 0.1 * rng.standard_normal((count, particles, 2))
    return positions, speeds - speeds.mean(axis=1, keepdims=True)


def run(count: int, particles: int, steps: int, step: float = 0.01) -> tuple[Any, np.ndarray]:
    """Simulate all universes in one compiled call; returns the last states and the energies of each step."""
    batched = adze.jit(adze.vmap(lambda state: simulate(state, steps, step)))
    last, energies = batched(universes(count, particles))
    return last, np.asarray(energies)


def sensitivity(count: int, particles: int, steps: int, step: float = 0.01) -> np.ndarray:
    """For each universe: the norm of the final variance's gradient by the initial positions."""

    def variance(positions: Any, speeds: Any) -> Any:
        (last, _), _ = simulate((positions, speeds), steps, step)
        return xp.mean(xp.sum((last - xp.mean(last, axis=0)) ** 2, axis=-1))

    gradients = adze.jit(adze.vmap(adze.grad(variance)))(*universes(count, particles))
    return np.sqrt(np.sum(np.asarray(gradients) ** 2, axis=(1, 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--universes", type=int, default=32)
    parser.add_argument("--particles", type=int, default=8)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    _, energies = run(options.universes, options.particles, options.steps)
    drift = np.abs(energies - energies[:, :1]).max(axis=1)
    print(f"{options.universes} universes of {options.particles} particles, {options.steps} steps")
    print(f"energy drift: median {np.median(drift):.1e}, largest {drift.max():.1e}")
    slopes = sensitivity(min(8, options.universes), options.particles, options.steps)
    print("change of the final variance by the initial positions:", " ".join(f"{v:.2g}" for v in slopes))


if __name__ == "__main__":
    main()
