"""`FILE.py:FUNC` on the command line: the file is imported, the function is found in it.

The file is run once, as a module named after it, with its folder first on `sys.path`, where `python FILE.py`
would have it too. What it prints goes to standard error: standard output carries the command's result. A
wrong name is bad usage (exit code 2); an error inside the file is a failure (1).
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..dialects.errors import AdzeError
from .reporting import BadUsage


def load_function(text: str) -> Callable[..., Any]:
    """The function that `FILE.py:FUNC` names; FUNC may reach into objects (`model.predict`)."""
    file, separator, name = text.rpartition(":")
    if not separator or not file or not name:
        raise BadUsage(
            f"{text!r} does not name a function: expected a file, a colon and a function, "
            "such as model.py:predict"
        )
    path = Path(file)
    if not path.is_file():
        raise BadUsage(f"there is no file {file!r}")
    found: Any = import_file(path)
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadUsage(
                f"{file} has no function {name!r}: it defines {', '.join(_functions(found)) or 'none'}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise BadUsage(f"{name!r} in {file} is of type {type(found).__name__}, not a function")
    return found


def import_file(path: Path) -> ModuleType:
    """The module that the file makes when it is run."""
    # A file called random.py must not take the place of the module that others import.
    name = path.stem if path.stem not in sys.modules else f"{path.stem}__of_the_command_line"
    specification = importlib.util.spec_from_file_location(name, path.resolve())
    if specification is None or specification.loader is None:
        raise BadUsage(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(path.resolve().parent))
    # Dataclasses and pickles look their module up by name.
    sys.modules[name] = module
    try:
        with user_code():
            specification.loader.exec_module(module)
    except SystemExit as stop:
        raise AdzeError(
            f"{path} ended Python with exit code {stop.code} when it was imported",
            hint='put what only a script does under `if __name__ == "__main__":`',
        ) from stop
    return module


@contextlib.contextmanager
def user_code() -> Iterator[None]:
    """While code of the user runs: what it prints is no part of the command's result."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def _functions(holder: object) -> list[str]:
    """Names of the public functions that `holder` itself defines."""
    home = getattr(holder, "__name__", None)
    return [
        name
        for name, value in vars(holder).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", home) == home
    ]
