"""The parts of a GPU's report, each in a process of its own: one that fails takes no other with it.

`python -m tests.gpu.report_parts DEVICE PART FILE [--small]` does one part and writes what it saw to FILE as
JSON. Parts are `facts`, `product float32`, and the names of programs. `attempt` runs that for the report: a
part that raises, crashes, loses the device or does not end is a `Failure` with the reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

import adze
from adze import AdzeError, ShapeDtype
from adze.frontend.report.gpus import PRODUCT_DTYPES, Subject, check_gpu
from adze.frontend.tree import leaves

from .programs import PROGRAMS, TEN, Program

CHECKOUT: Final = Path(__file__).resolve().parents[2]
FACTS: Final = "facts"
PRODUCTS: Final = {f"product {dtype}": dtype for dtype in PRODUCT_DTYPES}
_LONGEST_REASON: Final = 300
_KILLED_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Failure:
    """A part of which there is no result, and why."""

    reason: str


def attempt(device: str, part: str, *, small: bool, seconds: float) -> dict[str, Any] | Failure:
    """What a part saw, from a process that is ended after so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "result.json"
        command = [sys.executable, "-m", "tests.gpu.report_parts", device, part, str(written)]
        command += ["--small"] if small else []
        said = Path(folder) / "stderr"
        with said.open("w") as stderr:
            code = ended(command, seconds, stderr)
        if written.exists():
            return dict(json.loads(written.read_text()))
        if code is None:
            return Failure(f"it had not ended after {seconds:.0f} s")
        return Failure(f"its process ended with {code}: {last_words(said.read_text())}")


def ended(command: Sequence[str], seconds: float, stderr: TextIO | None = None) -> int | None:
    """Run a command for so many seconds; what it returned, None where it had to be killed with its children.

    Nothing waits long for one that a driver keeps: not even a signal ends that.
    """
    process = subprocess.Popen(command, cwd=CHECKOUT, stderr=stderr, start_new_session=True)
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(OSError):  # all of them may have ended
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_KILLED_SECONDS)


def last_words(text: str) -> str:
    """The last line that a process wrote, as one cell of a table."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return in_a_cell(lines[-1] if lines else "it said nothing")


def in_a_cell(text: str) -> str:
    """A text that breaks no row of a table."""
    return " ".join(text.replace("|", "/").split())[:_LONGEST_REASON]


def main(device: str, part: str, file: str, *options: str) -> None:
    """Do one part; what adze says of a failure is the last line of this process."""
    try:
        result = done(device, part, small="--small" in options)
    except AdzeError as error:
        sys.exit(in_a_cell(f"{type(error).__name__}: {error.message}"))
    Path(file).write_text(json.dumps(result))


def done(device: str, part: str, *, small: bool) -> dict[str, Any]:
    """What a part saw, as values of JSON."""
    if part == FACTS or part in PRODUCTS:
        dtypes = [PRODUCTS[part]] if part in PRODUCTS else []
        return check_gpu(device, dtypes=dtypes, small=small).to_json()
    return ran(TEN[part] if small else PROGRAMS[part], device)


def ran(program: Program, device: str) -> dict[str, Any]:
    """A program with drawn arguments: its time, its work, and what is most different from the CPU's."""
    arguments = drawn(program)
    flat = leaves(arguments)

    def function(*arrays: Any) -> Any:
        return program.function(*rebuilt(arguments, iter(arrays)))

    subject = Subject.of(function, flat, device)
    got = subject.call()
    want = leaves(adze.jit(function, device="cpu")(*flat))
    return {
        "seconds": subject.seconds_or_none(),
        "flops": adze.trace(program.function, *program.specs).cost().flops,
        "bytes": sum(array.nbytes for array in (*flat, *got)),
        "difference": max(difference(a.numpy(), np.asarray(b)) for a, b in zip(got, want, strict=True)),
    }


def difference(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference, in parts of the largest element; infinite where one is not a number."""
    wide = np.complex128 if np.iscomplexobj(want) else np.float64
    a, b = np.atleast_1d(got.astype(wide), want.astype(wide))
    with np.errstate(invalid="ignore"):
        off = np.abs(a - b)
    off[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
    off[np.isnan(off)] = np.inf
    scale = np.max(np.abs(b), initial=0, where=np.isfinite(b))
    return float(np.max(off, initial=0) / max(scale, 1e-30))


def drawn(program: Program) -> tuple[Any, ...]:
    """Arguments of the program's specs: small numbers, and indices into its first argument."""
    random = np.random.default_rng(0)
    first = leaves(program.specs)[0].shape[0]

    def array(spec: ShapeDtype) -> np.ndarray:
        if np.dtype(spec.dtype).kind in "iu":
            return random.integers(0, first, spec.shape).astype(spec.dtype)
        return (random.standard_normal(spec.shape) / 4).astype(spec.dtype)

    return tuple(rebuilt(program.specs, iter([array(spec) for spec in leaves(program.specs)])))


def rebuilt(tree: Any, values: Iterator[Any]) -> Any:
    """The nested tuples of `tree` with other leaves."""
    return tuple(rebuilt(part, values) for part in tree) if isinstance(tree, tuple) else next(values)


if __name__ == "__main__":
    main(*sys.argv[1:])
