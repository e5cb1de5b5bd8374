"""`python -m tests.refresh_oracles [module ...]`: computes the frozen values of the tests again.

Run it from the root of the checkout when a case is added or changed, and look at what `git diff --stat` says.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Final

MODULES: Final = (
    "tests.frontend.library.random.test_documented_agreement",
    "tests.frontend.control.test_control_flow",
    "tests.frontend.library.test_attention",
    "tests.frontend.library.test_same_source",
    "tests.frontend.sharding.test_values_of_jax",
)
"""The test modules with an `ORACLE`."""


def main(modules: Sequence[str]) -> None:
    for name in modules:
        oracle = importlib.import_module(name).ORACLE
        oracle.write()
        print(f"{oracle.path.name}: {len(oracle.sources)} values, {oracle.path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:] or MODULES)
