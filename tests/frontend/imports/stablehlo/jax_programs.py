"""Programs of JAX whose StableHLO text is kept as fixtures, with what JAX computes for them.

`python -m tests.frontend.imports.stablehlo.jax_programs` writes `programs/` again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ....support import CHECKOUT

FOLDER = Path(__file__).parent / "programs"


def refresh() -> None:
    """Write all fixtures."""
    import jax

    from .jax_functions import programs, symbolic

    FOLDER.mkdir(exist_ok=True)
    values: dict[str, np.ndarray] = {}
    for name, (function, arguments) in programs().items():
        (FOLDER / f"{name}.mlir").write_text(jax.jit(function).lower(*arguments).as_text())
        results = jax.tree.leaves(jax.jit(function)(*arguments))
        for kind, arrays in (("in", arguments), ("out", results)):
            for i, array in enumerate(arrays):
                stored = np.asarray(array)
                values[f"{name}.{kind}.{i}"] = (
                    stored.astype(np.float32) if stored.dtype.name == "bfloat16" else stored
                )
    (FOLDER / "symbolic.mlir").write_text(symbolic().replace(f"{CHECKOUT}/", ""))
    np.savez_compressed(FOLDER / "values.npz", **values)


if __name__ == "__main__":
    refresh()
