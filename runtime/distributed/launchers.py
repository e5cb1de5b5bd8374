"""Starting a job of several processes: which launcher of MPI is here, and what it needs to be told.

Input: a number of ranks and a command. Output: the command line and the environment of the launcher. Idea:
the launcher of the package `openmpi` lies beside this Python, and is the one whose library mpi4py loads
there; where it is not installed, that of the machine is taken.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ...dialects.communicator import DistributedError
from ...dialects.dataclass import dataclass

NAMES: Final = ("mpirun", "mpiexec")
INSTALL: Final = "pip install 'adze-compiler[mpi]' brings mpi4py and Open MPI"


@dataclass(frozen=True)
class Launcher:
    """A launcher: its path, and whether it is Open MPI's, which has options of its own."""

    path: str
    is_open_mpi: bool

    def command(self, ranks: int, words: Sequence[str]) -> list[str]:
        """The command line that starts `words` in so many processes, also where cores are fewer."""
        own = ["--oversubscribe", "--bind-to", "none"] if self.is_open_mpi else []
        return [self.path, *own, "-n", str(ranks), *words]

    def environment(self, ranks: int) -> dict[str, str]:
        """What this process's environment has, and what Open MPI wants to be told: that root may start jobs,
        and that ranks that wait leave their core to others, where there are more ranks than cores."""
        own: dict[str, str] = {}
        if self.is_open_mpi and ranks > (os.cpu_count() or 1):
            own["OMPI_MCA_mpi_yield_when_idle"] = "1"
        if self.is_open_mpi and os.geteuid() == 0:
            own |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return own | os.environ


def find_launcher(beside: Path | None = None, path: str | None = None) -> Launcher:
    """The launcher beside this Python, or else of the search path.

    Raises `DistributedError`, which says what to install, where there is none.
    """
    if find_spec("mpi4py") is None:
        raise DistributedError("the ranks of a job need mpi4py, which is not installed", hint=INSTALL)
    folder = Path(sys.executable).parent if beside is None else beside
    for name in NAMES:
        found = shutil.which(name, path=str(folder)) or shutil.which(name, path=path)
        if found is not None:
            return Launcher(found, _is_open_mpi(found))
    raise DistributedError(
        f"no {' or '.join(NAMES)} beside {folder.name}/{Path(sys.executable).name} or on the search path",
        hint=f"{INSTALL}; on a supercomputer, load its MPI",
    )


def _is_open_mpi(path: str) -> bool:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=60)
    text = done.stdout + done.stderr
    return any(word in text for word in ("Open MPI", "OpenRTE", "PRRTE", "prterun"))
