"""Runs the code of JAX's documents with JAX and with adze, and compares what the cells print (README.md).

Input is a checkout of JAX. Output: a line for each document, and one for each cell that JAX runs and adze
does not. A worker runs the cells of one document in a process of its own, with one of the two libraries.
Numbers are compared to three digits; names of dtypes and of devices are not.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import doctest
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

LEFT_OUT: Final = ("changelog", "pallas", "autodidax", "cute", "ffi")
"""Parts of names of documents: about languages of kernels, and about JAX's own insides."""

FENCE: Final = re.compile(
    r"^(\s*)(```+)\s*(?:\{code-cell\}[^\n]*|python3?|py|pycon|ipython3?)[^\n]*\n(.*?)^\s*\2\s*$", re.S | re.M
)
NUMBER: Final = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
KINDS: Final = ("agree", "text differs", "fails", "passes where JAX fails", "fails in JAX")


class TooSlow(BaseException):
    """The time of a cell is up; no `except Exception` of the cell stops it."""


def main() -> int:
    """Run the documents that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sources", type=Path, required=True, help="checkout of JAX")
    parser.add_argument("-k", default="", help="only documents with this text in their path")
    parser.add_argument("--report", type=Path, help="write all cells as JSON")
    parser.add_argument("--worker", nargs=2, metavar=("LIBRARY", "DOCUMENT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return _work(*options.worker, options.report)
    total: collections.Counter[str] = collections.Counter()
    report: dict[str, Any] = {}
    for document in documents(options.sources):
        if options.k not in str(document):
            continue
        cells = {library: _run(library, document, options.sources) for library in ("jax", "adze")}
        counts: collections.Counter[str] = collections.Counter()
        for number, of_jax in enumerate(cells["jax"]):
            own = cells["adze"][number] if number < len(cells["adze"]) else {"status": "crash", "out": ""}
            kind = compared(of_jax, own)
            counts[kind] += 1
            if kind == "fails":
                print(f"  {document.name} cell {number}: {own['status']} {own.get('error', '')[:120]!r}")
        print(f"{document.relative_to(options.sources)}: {dict(counts)}", flush=True)
        total += counts
        report[str(document)] = cells
    print(f"all: { ({kind: total[kind] for kind in KINDS}) }, {total.total()} cells")
    if options.report:
        options.report.write_text(json.dumps(report, indent=1))
    return 0


def documents(sources: Path) -> Iterator[Path]:
    """The documents with code, a notebook only where it is not kept as text beside."""
    for path in sorted((sources / "docs").rglob("*")):
        is_known = path.suffix in (".md", ".rst", ".ipynb") and not any(t in str(path) for t in LEFT_OUT)
        if is_known and not (path.suffix == ".ipynb" and path.with_suffix(".md").exists()):
            yield path


def cells_of(path: Path) -> Iterator[str]:
    """The code of a document, cell by cell; an example of a session is a cell of its own."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        yield from ("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "code")
    elif path.suffix == ".rst":
        yield from _examples(text)
    else:
        for match in FENCE.finditer(text):
            body = textwrap.dedent(match.group(3))
            body = re.sub(r"\A(---\n.*?---\n|(:[\w-]+:[^\n]*\n)+)", "", body, flags=re.S)
            yield from _examples(body) if ">>>" in body else [body]


def _examples(text: str) -> list[str]:
    try:
        return [example.source for example in doctest.DocTestParser().get_examples(text)]
    except ValueError:  # a session whose indentation is no session's
        return []


def _run(library: str, document: Path, sources: Path) -> list[dict[str, Any]]:
    """What the cells of a document did, in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, __file__, "--sources", str(sources), "--report", str(report)]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "MPLBACKEND": "Agg", "TF_CPP_MIN_LOG_LEVEL": "3"}
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [*command, "--worker", library, str(document.resolve())],
                **{"env": environment, "cwd": folder, "capture_output": True, "timeout": 900, "check": False},
            )
        cells: list[dict[str, Any]] = json.loads(report.read_text()) if report.exists() else []
        return cells


def _work(library: str, document: str, report: Path) -> int:
    warnings.simplefilter("ignore")
    if library == "adze":
        import adze.compat

        adze.compat.install()
    importlib.import_module("jax")  # which draws some of NumPy's random numbers
    np.random.seed(0)
    names: dict[str, Any] = {"__name__": "__main__"}
    results: list[dict[str, Any]] = []
    for cell in cells_of(Path(document)):
        if cell.strip():
            results.append(_ran(cell, names))
            report.write_text(json.dumps(results))
    os._exit(0)


def _ran(cell: str, names: dict[str, Any], seconds: int = 90) -> dict[str, Any]:
    """Whether a cell ran, what it printed and what its last expression is."""
    cell = "\n".join("pass" if line.lstrip().startswith(("%", "!")) else line for line in cell.split("\n"))
    shown = io.StringIO()
    result: dict[str, Any] = {"source": cell}
    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(seconds)
    try:
        with contextlib.redirect_stdout(shown):
            tree = ast.parse(cell)
            is_expression = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
            last = tree.body.pop() if is_expression and not cell.rstrip().endswith(";") else None
            exec(compile(tree, "<cell>", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
                if value is not None:
                    print(repr(value))
            if "jax" in sys.modules:
                sys.modules["jax"].effects_barrier()
        result["status"] = "ok"
    except BaseException as error:  # a cell may end the process, or take too long
        result |= {
            "status": type(error).__name__,
            "error": str(error),
            "trace": traceback.format_exc()[-3000:],
        }
        result["classes"] = [kind.__name__ for kind in type(error).__mro__]
    finally:
        signal.alarm(0)
    result["out"] = shown.getvalue()
    return result


def _alarm(*_: Any) -> None:
    raise TooSlow


EXPECTED: Final = frozenset(
    (
        *("TypeError", "ValueError", "IndexError", "AttributeError", "RuntimeError", "ZeroDivisionError"),
        *("FloatingPointError", "KeyError", "NotImplementedError", "AssertionError", "OverflowError"),
    )
)


def compared(of_jax: dict[str, Any], own: dict[str, Any]) -> str:
    """One of `KINDS`: errors agree where they have a class of Python's in common."""
    if own["status"] == of_jax["status"] == "ok":
        return "agree" if same_text(of_jax["out"], own["out"]) else "text differs"
    if of_jax["status"] == "ok":
        return "fails"
    if of_jax["status"] in (
        "ModuleNotFoundError",
        "TooSlow",
        "SyntaxError",
        "NameError",
        "FileNotFoundError",
    ):
        return "fails in JAX"
    if own["status"] == "ok":
        return "passes where JAX fails"
    shared = {*of_jax["classes"]} & {*own.get("classes", ())} & EXPECTED
    return "agree" if shared or of_jax["status"] == own["status"] else "text differs"


def same_text(left: str, right: str) -> bool:
    """Whether two outputs say the same, spaces aside, numbers to three digits."""
    left, right = _normal(left), _normal(right)
    if re.sub(r"\s+", "", NUMBER.sub("#", left)) != re.sub(r"\s+", "", NUMBER.sub("#", right)):
        return False
    pairs = zip(map(float, NUMBER.findall(left)), map(float, NUMBER.findall(right)), strict=True)
    return all(abs(x - y) <= 1e-3 * max(abs(x), abs(y)) + 1e-5 for x, y in pairs)


def _normal(text: str) -> str:
    text = re.sub(r"0x[0-9a-f]+", "0x", re.sub(r", device='[^']*'", "", text)).replace("bf16", "bfloat16")
    for short, name in {"f": "float", "i": "int", "ui": "uint", "c": "complex"}.items():
        text = re.sub(rf"\b{short}(8|16|32|64|128)\b", rf"{name}\1", text)
    return text.replace(", weak_type=True", "")


if __name__ == "__main__":
    sys.exit(main())
