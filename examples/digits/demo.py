"""Trains two digit classifiers, builds them, runs them in three ways and compares the results.

Input: the images of `dataset.py`.
Output: the files of `train.py` in `output/` (weights and a plot of the losses), the built artifacts in the
same folder, and a table with the test accuracy, artifact size, compile time and time per batch of each
network. The exit code is 1 if an accuracy is below 0.97, if two routes disagree, or if running an artifact
imports the compiler.

The three routes are `adze.load` in a separate process, `iree-run-module`, and the eager function, which NumPy
evaluates.

    make demo            # or: python examples/digits/demo.py
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dataset
import model
import numpy as np
import train
from networks import NETWORKS
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

HERE = Path(__file__).resolve().parent
BATCH = 60
REQUIRED_ACCURACY = 0.97
# For probabilities of float32 networks whose sums are computed in different orders.
ROUTE_TOLERANCE = 1e-5

Floats = NDArray[np.float32]
Advance = Callable[[], None]


class DemoFailure(Exception):
    """A check of the demo failed."""


@dataclass(frozen=True)
class Report:
    """The table row of one network."""

    network: str
    accuracy: float
    artifact_bytes: int
    compile_seconds: float
    batch_seconds: float
    largest_difference: float


def main() -> int:
    console = Console()
    digits = dataset.load()
    batches = len(digits.test_images) // BATCH
    try:
        with tempfile.TemporaryDirectory() as folder, train.progress_bar(console=console) as progress:
            train.train_all(digits, progress)
            # Progress steps of one network: the build, each batch twice, and the eager run.
            reports = [show_one(name, Path(folder), digits, progress, 2 * batches + 2) for name in NETWORKS]
    except DemoFailure as failure:
        console.print(f"[red]demo failed:[/red] {failure}")
        return 1
    console.print(as_table(reports))
    for report in reports:
        console.print(f"{report.network}: test accuracy: {report.accuracy:.3f}", highlight=False)
    console.print(f"weights, artifacts and loss.png: {train.OUTPUT}", highlight=False, soft_wrap=True)
    return 0


def show_one(network: str, folder: Path, digits: dataset.Digits, progress: Progress, steps: int) -> Report:
    """Build one network, run it on the three routes, and check their results."""
    task = progress.add_task(f"run {network}", total=steps, note="")
    artifact = train.OUTPUT / f"{network}.vmfb"
    compile_seconds = build(network, folder, artifact)
    progress.advance(task)

    loaded, batch_seconds = run_with_adze_load(
        artifact, digits.test_images, folder, lambda: progress.advance(task)
    )
    console_tool = run_with_iree_tool(artifact, digits.test_images, folder, lambda: progress.advance(task))
    eager = run_eagerly(network, digits.test_images)
    progress.advance(task)

    others = {"iree-run-module": console_tool, "eager NumPy": eager}
    differences = {route: float(np.abs(loaded - other).max()) for route, other in others.items()}
    for route, difference in differences.items():
        # `not <=` instead of `>`, so that NaN fails as well.
        if not difference <= ROUTE_TOLERANCE:
            raise DemoFailure(f"{network}: adze.load and {route} differ by {difference:.2e}")
    accuracy = float((loaded.argmax(-1) == digits.test_labels).mean())
    if accuracy < REQUIRED_ACCURACY:
        raise DemoFailure(f"{network}: test accuracy {accuracy:.3f} is below {REQUIRED_ACCURACY}")
    size = artifact.stat().st_size
    return Report(network, accuracy, size, compile_seconds, batch_seconds, max(differences.values()))


def build(network: str, folder: Path, artifact: Path) -> float:
    """Run `adze build` with an empty compile cache; returns the seconds of trace and compile."""
    function = f"{HERE / 'model.py'}:predict_{network}"
    command = [tool("adze"), "build", function, "--in", f"f32[{BATCH},8,8]", "-o", str(artifact), "--json"]
    report = json.loads(run_tool(command, ADZE_CACHE_DIR=str(folder / "cache")))
    return float(report["seconds"])


def run_with_adze_load(
    artifact: Path, images: Floats, folder: Path, advance: Advance
) -> tuple[Floats, float]:
    """Route 1: `infer.py` in a separate process; returns probabilities and the least seconds per batch."""
    images_path, out_path = folder / "images.npy", folder / "loaded.npy"
    np.save(images_path, images)
    command = [
        sys.executable,
        str(HERE / "infer.py"),
        str(artifact),
        str(images_path),
        str(BATCH),
        str(out_path),
    ]
    batch_seconds: list[float] = []
    compiler_modules: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if "batch_seconds" in message:
                batch_seconds.append(message["batch_seconds"])
                advance()
            else:
                compiler_modules = message["compiler_modules"]
    if process.returncode != 0:
        raise DemoFailure(f"infer.py ended with exit code {process.returncode}")
    if compiler_modules:
        raise DemoFailure(f"running the artifact imported the compiler: {', '.join(compiler_modules)}")
    return np.load(out_path), min(batch_seconds)


def run_with_iree_tool(artifact: Path, images: Floats, folder: Path, advance: Advance) -> Floats:
    """Route 2: the console script of IREE's runtime, which does not use adze."""
    function = exported_function(artifact)
    results = []
    for start in range(0, len(images), BATCH):
        in_path, out_path = folder / "batch.npy", folder / "probabilities.npy"
        np.save(in_path, images[start : start + BATCH])
        run_tool(
            [
                tool("iree-run-module"),
                f"--module={artifact}",
                "--device=local-sync",
                f"--function={function}",
                f"--input=@{in_path}",
                f"--output=@{out_path}",
            ]
        )
        results.append(np.load(out_path))
        advance()
    return np.concatenate(results)


def exported_function(artifact: Path) -> str:
    """The name of the artifact's function, from its manifest."""
    manifest = json.loads(run_tool([tool("adze"), "inspect", str(artifact), "--json"]))["manifest"]
    return str(manifest["functions"][0]["name"])


def run_eagerly(network: str, images: Floats) -> Floats:
    """Route 3: the same Python function on concrete arrays, evaluated with NumPy."""
    return np.asarray(model.predict(network, images))


def as_table(reports: list[Report]) -> Table:
    table = Table(title="handwritten digits: one .vmfb per network, three ways to run it")
    for heading in (
        "network",
        "test accuracy",
        "artifact",
        "compile",
        f"batch of {BATCH}",
        "routes differ by",
    ):
        table.add_column(heading, justify="right")
    for report in reports:
        table.add_row(
            report.network,
            f"{report.accuracy:.4f}",
            f"{report.artifact_bytes / 1024:.1f} KiB",
            f"{report.compile_seconds:.2f} s",
            f"{report.batch_seconds * 1e6:.0f} us",
            f"{report.largest_difference:.1e}",
        )
    return table


def tool(name: str) -> str:
    """A console script of this Python's environment, independent of PATH."""
    path = Path(sysconfig.get_path("scripts")) / name
    if not path.exists():
        raise DemoFailure(f"{name} is not installed beside {sys.executable}")
    return str(path)


def run_tool(command: list[str], **environment: str) -> str:
    """Run a tool; returns its standard output, or raises an error with its standard error."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    if done.returncode != 0:
        raise DemoFailure(f"{' '.join(command)}\n{done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
