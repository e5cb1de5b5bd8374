"""Counts what files that import JAX ask for and adze lacks: names, keywords, arguments (README.md).

Input: a folder of Python files and notebooks, which are parsed and not run. Output: how many files ask for
nothing that adze lacks and JAX has, and what the others ask for, by the number of files.
"""

from __future__ import annotations

import argparse
import ast
import collections
import importlib
import inspect
import json
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Uses = dict[str, list[str]]
"""What each file asks for: `jax.numpy.sum`, `jax.numpy.sum(axis=)`, `jax.numpy.sum(2 arguments)`."""


def main() -> int:
    """Count for the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sources", type=Path, required=True, help="folder of files that import JAX")
    parser.add_argument("--worker", choices=("jax", "adze"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    uses = {str(path): sorted(uses_of(text)) for path, text in texts(options.sources)}
    uses = {path: names for path, names in uses.items() if names}
    if options.worker:
        print(json.dumps(lacking(options.worker, uses)))
        return 0
    command = [sys.executable, __file__, "--sources", str(options.sources), "--worker"]
    answers = {
        library: subprocess.run([*command, library], stdout=subprocess.PIPE, check=True).stdout
        for library in ("jax", "adze")
    }
    lacks = {library: set(json.loads(answer)) for library, answer in answers.items()}
    missing = lacks["adze"] - lacks["jax"]
    wanted = collections.Counter(use for names in uses.values() for use in names if use in missing)
    complete = sum(not missing & {*names} for names in uses.values())
    print(f"{complete} of {len(uses)} files ask for nothing that adze lacks")
    for use, count in wanted.most_common():
        print(f"{count:5} {use}")
    return 0


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """The Python files below a folder, and the code of its notebooks."""
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.ipynb")]):
        try:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".ipynb":
                cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
                lines = "\n".join("".join(c["source"]) for c in cells).split("\n")
                text = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
            yield path, text
        except (ValueError, KeyError):  # no text, no notebook
            continue


def uses_of(text: str) -> set[str]:
    """What one file asks for."""
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except SyntaxError:
        return set()
    aliases, uses = {}, set()
    for node in nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "jax":
                    aliases[name.asname or "jax"] = name.name if name.asname else "jax"
                    uses.add(name.name)
        elif (
            isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "jax"
        ):
            for name in node.names:
                aliases[name.asname or name.name] = f"{node.module}.{name.name}"
                uses |= {f"{node.module}.{name.name}"} - {f"{node.module}.*"}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            uses.add(_dotted(node, aliases))
        elif isinstance(node, ast.Call) and (name_ := _dotted(node.func, aliases)):
            uses |= {f"{name_}({k.arg}=)" for k in node.keywords if k.arg}
            if not any(isinstance(a, ast.Starred) for a in node.args):
                uses.add(f"{name_}({len(node.args)} arguments)")
    return uses - {""}


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    is_of_jax = isinstance(node, ast.Name) and node.id in aliases
    return ".".join([aliases[node.id], *reversed(parts)]) if is_of_jax and isinstance(node, ast.Name) else ""


def lacking(library: str, uses: Uses) -> list[str]:
    """What a library lacks of all that is asked for; attributes of what is no module are not looked up."""
    warnings.simplefilter("ignore")
    if library == "adze":
        import adze.compat

        adze.compat.install()
    return [use for use in sorted({use for names in uses.values() for use in names}) if not _has(use)]


def _has(use: str) -> bool:
    name, _, call = use.rstrip(")").partition("(")
    try:
        found, is_member = _found(name)
    except (ImportError, AttributeError):
        return bool(call)  # the name itself is counted
    if not call or not is_member:
        return True
    try:
        parameters = [*inspect.signature(found).parameters.values()]
    except (TypeError, ValueError):
        return True
    kinds = [p.kind for p in parameters]
    if call.endswith("="):
        named = {p.name for p in parameters if p.kind is not inspect.Parameter.POSITIONAL_ONLY}
        return inspect.Parameter.VAR_KEYWORD in kinds or call[:-1] in named
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = int(call.split()[0])
    return inspect.Parameter.VAR_POSITIONAL in kinds or sum(kind in positional for kind in kinds) >= count


def _found(name: str) -> tuple[Any, bool]:
    """What a dotted name means, and whether it is a member of a module and not an attribute of one."""
    first, *rest = name.split(".")
    found, path = importlib.import_module(first), first
    for part in rest:
        if not isinstance(found, types.ModuleType):
            return found, False
        path += f".{part}"
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(path)
    return found, True


if __name__ == "__main__":
    sys.exit(main())
