"""The two distributions that adze is installed as, and which of them is here.

`adze-compiler` is all of adze. `adze-runtime` is the part that loads and runs programs, the same files of the
same version: pip does not know that they share them, so an environment should have one of the two.
"""

from __future__ import annotations

from typing import Final

COMPILER: Final = "adze-compiler"
RUNTIME: Final = "adze-runtime"


def installed() -> dict[str, str]:
    """The version of each of the two distributions that is installed here."""
    import importlib.metadata  # slow to import, and seldom needed

    versions = {}
    for name in (COMPILER, RUNTIME):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def version() -> str:
    """The version of adze; `unknown` where its files were copied here without their metadata."""
    return next(iter(installed().values()), "unknown")


def conflict(versions: dict[str, str]) -> str | None:
    """What is wrong where both are installed: to uninstall either takes files of the other away."""
    if len(versions) < 2:
        return None
    files = "the same files" if len(set(versions.values())) == 1 else "files of the same names and not alike"
    return (
        f"{COMPILER} {versions[COMPILER]} and {RUNTIME} {versions[RUNTIME]} are both installed and hold "
        f"{files}: pip uninstall both, then pip install one of them"
    )
