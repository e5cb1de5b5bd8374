"""`FILE.py:FUNC` on the command line: the file is imported, the function is found in it.

The file is run once, as a module named after it, with its folder first on `sys.path`, where `python FILE.py`
would have it too. What it prints goes to standard error: standard output carries the command's result. A
wrong name is bad usage (exit code 2); an error inside the file is a failure (1).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import typer

from ..dialects.errors import AdzeError
from .arguments import readable_file
from .reporting import BadUsage, user_line_of
from .streams import STDERR, STDOUT, divert


def load_function(text: str) -> Callable[..., Any]:
    """The function that `FILE.py:FUNC` names; FUNC may reach into objects (`model.predict`)."""
    function: Callable[..., Any]
    (function,) = load_objects([text], program=False)
    return function


def load_objects(texts: Sequence[str], *, program: bool = True) -> list[Any]:
    """The functions that texts like `FILE.py:FUNC` name, or programs where allowed; a file is run once."""
    modules: dict[Path, ModuleType] = {}
    return [_load(text, modules, program) for text in texts]


MODEL_SUFFIXES: Final = (".onnx", ".mlir", ".mlirbc", ".stablehlo")
"""How files of models end, which `frontend/imports` loads: a test compares."""


def is_model(text: str) -> bool:
    """Whether the command line names a model's file, which is a function by itself."""
    return text.lower().endswith(MODEL_SUFFIXES)


def function_name(text: str) -> str:
    """What a function is called in a program: FUNC of FILE.py:FUNC, or the name of a model's file."""
    if is_model(text):
        return re.sub(r"\W", "_", Path(text).name.partition(".")[0]) or "model"
    return text.rpartition(":")[2].rpartition(".")[2]


def _load(text: str, modules: dict[Path, ModuleType], program: bool) -> Any:
    if is_model(text):
        from ..frontend.imports.loading import load_model

        return load_model(readable_file(Path(text)))
    file, separator, name = text.rpartition(":")
    if not separator or not file or not name:
        raise BadUsage(
            f"{text!r} does not name a function: expected a file, a colon and a function, "
            "such as model.py:predict, or the file of a model, such as model.onnx"
        )
    path = readable_file(Path(file))
    if path.resolve() not in modules:
        modules[path.resolve()] = import_file(path)
    value: Any = modules[path.resolve()]
    for part in name.split("."):
        if not _has(value, part, file):
            raise BadUsage(
                f"{file} has no function {name!r}: it defines {', '.join(_functions(value)) or 'none'}"
            )
        value = getattr(value, part)
    if not callable(value) and not (program and type(value).__name__ == "Program"):
        raise BadUsage(f"{name!r} in {file} is of type {type(value).__name__}, not a function")
    return value


def source_file(text: str) -> Path:
    """The file in `FILE.py:FUNC`, or that of a model."""
    return Path(text) if is_model(text) else Path(text.rpartition(":")[0])


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
    hint = 'put what only a script does under `if __name__ == "__main__":`'
    with user_code(f"{path} was imported", hint):
        try:
            specification.loader.exec_module(module)
        except (SyntaxError, ValueError) as error:
            if "null bytes" not in str(error):
                raise
            raise AdzeError(f"{path} is no Python source: {error}") from None
    return module


@contextlib.contextmanager
def user_code(doing: str, hint: str | None = None) -> Iterator[None]:
    """While code of the user runs, `doing` being what for: "model.py was imported".

    What it prints is no part of the command's result, and where it ends Python (`sys.exit(0)`), the command
    has failed. Ctrl-C still is Ctrl-C.
    """
    with output_to_errors():
        try:
            yield
        except KeyboardInterrupt:
            raise
        except (SystemExit, typer.Exit, typer.Abort) as stop:
            code = getattr(stop, "code", getattr(stop, "exit_code", 1))
            raise AdzeError(
                f"the code ended Python with exit code {code or 0} while {doing}",
                where=user_line_of(stop),
                hint=hint,
            ) from stop
        except BaseException as error:
            if isinstance(error, Exception) and not isinstance(error, BrokenPipeError):
                raise
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            raise AdzeError(f"{text} was raised while {doing}", where=user_line_of(error)) from error


@contextlib.contextmanager
def output_to_errors() -> Iterator[None]:
    """What is written to standard output meanwhile goes to standard error: by Python, by C, by processes."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stdout.flush()
    try:
        saved = os.dup(STDOUT)
    except OSError:
        saved = None  # the command was started without one
    try:
        divert(STDERR)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        with contextlib.suppress(AttributeError, ValueError, OSError):
            sys.__stdout__.flush()  # type: ignore[union-attr]
        if saved is not None:
            os.dup2(saved, STDOUT)
            os.close(saved)


def _has(holder: object, name: str, file: str) -> bool:
    with user_code(f"{name!r} was looked up in {file}"):  # a property, or a module's __getattr__
        return hasattr(holder, name)


def _functions(holder: object) -> list[str]:
    """Names of the public functions that `holder` itself defines."""
    home = getattr(holder, "__name__", None)
    return [
        name
        for name, value in getattr(holder, "__dict__", {}).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", home) == home
    ]
