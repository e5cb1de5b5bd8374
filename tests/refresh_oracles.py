"""`python -m tests.refresh_oracles`: computes the frozen values of the tests again.

Run it from the root of the checkout when a case is added or changed, and look at what `git diff --stat` says.
"""

from __future__ import annotations

import importlib
from typing import Final

MODULES: Final = (
    "tests.frontend.library.random.test_documented_agreement",
    "tests.frontend.control.test_control_flow",
)
"""The test modules with an `ORACLE`."""


def main() -> None:
    for name in MODULES:
        oracle = importlib.import_module(name).ORACLE
        oracle.write()
        print(f"{oracle.path.name}: {len(oracle.sources)} values, {oracle.path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
