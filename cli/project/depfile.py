"""Depfiles: what a program was built from, in the format of makefiles, for Make, Ninja and CMake.

Input: a file that was written and what its trace read. Output: one rule, and an empty rule for each
prerequisite, so that a file which vanished is no error and the program is built again. Installed packages
are named by the files of their installation, and not one by one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...runtime.artifact.files import write_atomically
from ..reporting import BadUsage
from .recorder import Seen, is_installed, is_known

if TYPE_CHECKING:
    from collections.abc import Sequence

DepfileOption = Annotated[
    Path | None,
    typer.Option(
        "--depfile",
        metavar="FILE",
        help="Write the files that were read, as a rule for Make, Ninja and CMake.",
        show_default=False,
    ),
]
_DISTRIBUTIONS: Final = ("adze_compiler", "iree_base_compiler", "iree_base_runtime", "numpy")


def write_depfile(file: Path, outputs: Sequence[Path], seen: Seen, entry: Path) -> None:
    """Write the rule of `outputs`, which were built of what was seen."""
    text = depfile_text(outputs, prerequisites(seen, entry))
    write_atomically(file, text.encode(errors="surrogateescape"))


def depfile_text(outputs: Sequence[Path], prerequisites: Iterable[str]) -> str:
    """The rule of `outputs`, as Make reads it."""
    names = [_escaped(path) for path in prerequisites]
    targets = " ".join(_escaped(str(output)) for output in outputs)
    rule = f"{targets}:" + "".join(f" \\\n  {name}" for name in names)
    return "\n".join([rule, *(f"\n{name}:" for name in names)]) + "\n"


def prerequisites(seen: Seen, entry: Path) -> list[str]:
    """The files of the user that were read, the entry first, and what says which packages are installed."""
    modules = {
        os.path.abspath(path)
        for module in list(sys.modules.values())
        if isinstance(path := getattr(module, "__file__", None), str)
    }
    read = {path for path, stamp in seen.files.items() if stamp is not None}
    own = {
        path
        for path in (modules | read | seen.sources.keys())
        if not is_known(path) and not is_installed(path) and os.path.isfile(path)
    }
    first = os.path.abspath(entry)
    return [first, *sorted(own - {first}), *_installations()]


def _installations() -> list[str]:
    found = []
    for folder in sys.path:
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            continue
        for name in names:
            record = os.path.join(folder, name, "RECORD")
            if (
                name.endswith(".dist-info")
                and name.lower().startswith(_DISTRIBUTIONS)
                and os.path.isfile(record)
            ):
                found.append(record)
    return found


def _escaped(path: str) -> str:
    """A path as Make reads it; one that no makefile can hold is bad usage."""
    if "\n" in path or "\r" in path:
        raise BadUsage(f"--depfile: {path!r} cannot stand in a makefile", hint="rename it")
    text = path.replace("\\", "\\\\") if os.sep != "/" else path
    return text.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
