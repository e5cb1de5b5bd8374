"""The library that an example runs with: `jax` is JAX itself, or adze under JAX's names."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable
from typing import Any

MODULES = {"adze": "adze.compat.jax", "jax": "jax"}


def _chosen() -> str:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--lib", choices=sorted(MODULES), default=os.environ.get("EXAMPLES_LIB", "adze"))
    return parser.parse_known_args()[0].lib


jax = importlib.import_module(MODULES[_chosen()])


def run(main: Callable[[int], Any], steps: int) -> None:
    """Run an example with `--steps` and print what it returns."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", choices=sorted(MODULES))
    parser.add_argument("--steps", type=int, default=steps)
    for name, value in main(parser.parse_args().steps).items():
        print(f"{name}: {float(value):.4f}")
