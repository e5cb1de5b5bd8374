"""Programs that are written once, for adze and for JAX on four devices, and what JAX says of them.

JAX decides when it starts how many devices it has, so that its values come from a child process.
"""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import adze
import adze.numpy as xp
from adze import nn
from adze.sharding import PartitionSpec


class Library:
    """adze or JAX, as the cases use it: transforms, `numpy`, `lax`, and meshes of four ranks."""

    def __init__(
        self,
        transforms: Any,
        numpy: Any,
        lax: Any,
        spec: Any,
        make_mesh: Callable[..., Any],
        random: Any = None,
        networks: Any = None,
    ) -> None:
        self.transforms, self.np, self.lax, self.P, self.make_mesh = transforms, numpy, lax, spec, make_mesh
        self.random, self.nn = random, networks

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transforms, name)

    def ranks(self, f: Any, in_specs: Any, out_specs: Any, **options: Any) -> Any:
        """`f` on four ranks along the axis "d"."""
        mesh = self.make_mesh((4,), ("d",))
        return self.transforms.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)

    def grid(self, f: Any, in_specs: Any, out_specs: Any, **options: Any) -> Any:
        """`f` on two times two ranks along "a" and "b"."""
        mesh = self.make_mesh((2, 2), ("a", "b"))
        return self.transforms.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


ADZE: Final = Library(adze, xp, adze.lax, PartitionSpec, adze.make_mesh, adze.random, nn)


@functools.cache
def values_of_jax(module: str) -> dict[str, Any]:
    """What `python -m module` writes, in a process whose JAX has four devices: it calls `write_values`."""
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "JAX_PLATFORMS": "cpu",
    }
    done = subprocess.run(
        [sys.executable, "-m", module],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    values: dict[str, Any] = pickle.loads(done.stdout)
    return values


def write_values(names: list[str], value: Callable[[str, Library], Any]) -> None:
    """Write JAX's values of the cases to the standard output."""
    import jax

    def make_mesh(sizes: tuple[int, ...], names: tuple[str, ...]) -> Any:
        kinds = (jax.sharding.AxisType.Auto,) * len(sizes)
        return jax.make_mesh(sizes, names, axis_types=kinds)

    m = Library(jax, jax.numpy, jax.lax, jax.sharding.PartitionSpec, make_mesh, jax.random, jax.nn)
    everything = {name: jax.tree.map(np.asarray, value(name, m)) for name in names}
    sys.stdout.buffer.write(pickle.dumps(everything))
