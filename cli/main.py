"""Assembles the `adze` command from the files beside it.

Input: the command line. Output: the exit code: 0 done, 1 failed, 2 bad usage. A command is the function, or a
group of commands the `app`, of the module of its name, which is imported when it is called: `adze --help`
imports none. Where only adze-runtime is installed, the commands are those whose modules are here.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import keyword
import sys
from typing import Any, Final

from .front import make_app
from .streams import STDERR, divert

COMMANDS: Final = {
    "build": "Compile a Python function to one .vmfb, or the artifacts of a project that changed.",
    "check": "Trace functions, verify their IR and check their derivatives, without a compile or a device.",
    "import": "Write a model as a Python function against adze.numpy, and its weights beside it.",
    "run": "Run a .vmfb on arrays and print the results, or write them to files.",
    "launch": "Run a Python script as a job of several ranks.",
    "verify": "Check a .vmfb: its signature, or its results against those of its adze IR.",
    "transform": "Compile a derivative or a batch of a .vmfb that keeps its adze IR.",
    "extract": "Write one module of a .vmfb as a plain IREE module, for C and other hosts of IREE.",
    "bench": "Measure the latency, throughput, memory and kernels of a .vmfb.",
    "profile": "Record the kernels and allocations of calls of a .vmfb, for https://ui.perfetto.dev.",
    "targets": "List the targets of programs, or say for which of them a function compiles.",
    "report": "Write a page with the source, every stage, the graph, cost, memory and kernels of a program.",
    "diff": "Compare two programs, or a program with its source: versions, size, kernels, cost, IR.",
    "ir": "Print the IR of a Python function at one stage.",
    "opt": "Run passes over a file of MLIR.",
    "inspect": "Show the functions, target and versions of a .vmfb, after checking that it is whole.",
    "keygen": "Make a pair of keys to sign programs with.",
    "sign": "Sign a .vmfb, so that who has the public key knows it unchanged.",
    "doctor": "Show versions, devices, the cache and the settings; exit with 1 when something is wrong.",
    "cache": "Look at the compile cache, ask why it has a program or not, or empty it.",
}
"""The commands in the order of the help page, each with the first line of its own."""


def load(name: str) -> Any:
    """The function of a command, or the app of a group of commands."""
    stem = module_of(name)
    module = importlib.import_module(f".{stem}", __package__)
    return getattr(module, "app", None) or getattr(module, stem)


def module_of(name: str) -> str:
    """The module of a command, whose name may be a keyword of Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def version() -> str:
    """The version, and which distribution it is of where that is not all of adze."""
    from ..runtime.distribution import RUNTIME, installed

    versions = installed()
    note = f" ({RUNTIME})" if [*versions] == [RUNTIME] else ""
    return next(iter(versions.values()), "unknown") + note


def available() -> dict[str, str]:
    """The commands whose modules are installed here."""
    return {
        name: line
        for name, line in COMMANDS.items()
        if importlib.util.find_spec(f".{module_of(name)}", __package__) is not None
    }


app = make_app(
    "adze",
    "Compiles Python array functions ahead of time: one .vmfb that runs without Python's frameworks.",
    available(),
    load,
    version,
)


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files need not be text in the terminal's encoding
            stream.reconfigure(errors="backslashreplace")
    code: str | int | None = 1
    try:
        run(sys.argv[1:])
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:  # before a command began
        code = 130
    except OSError as error:  # a page of help that cannot be written
        divert(None)
        print(f"error: cannot write to standard output: {error.strerror or error}", file=sys.stderr)
    sys.exit(code if close_output() else code or 1)


def run(words: list[str]) -> None:
    """Run a command line; a build of a project without the parser, which takes longer than such a build."""
    if words[:1] == ["build"] and "build" in available():
        quick = importlib.import_module(".project.quick", __package__)
        options = quick.project_options(words)
        if options is not None:
            quick.build_project(options)
    app()


def close_output() -> bool:
    """Write what is left of standard output, and lead what the user's code prints at its end elsewhere."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        divert(None)
        if not isinstance(error, BrokenPipeError):
            print(f"error: cannot write to standard output: {error.strerror or error}", file=sys.stderr)
        return False
    divert(STDERR)
    return True
