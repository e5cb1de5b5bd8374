"""One file for several targets: the best variant for this machine is taken, and the others are explained."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adze as api
from adze.runtime.artifact import artifact
from adze.runtime.artifact.manifest import Manifest
from adze.runtime.artifact.variants import Verdict, choose, in_order, verdicts
from adze.runtime.cpu import host_cpu
from adze.runtime.errors import ArtifactError

from .conftest import Adze

MODEL = "def halve(x):\n    return x / 2\n"
HERE, OTHER = (
    ("cpu:aarch64", "cpu:generic") if host_cpu().architecture == "aarch64" else ("cpu:generic", "cpu:aarch64")
)
TARGETS = (HERE, "cpu", OTHER, "cuda:sm_80")


@pytest.fixture(scope="module")
def halve(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from typer.testing import CliRunner

    from adze.cli.main import app

    folder = tmp_path_factory.mktemp("variants")
    (folder / "halve_of_variants.py").write_text(MODEL)
    flags = [word for target in TARGETS for word in ("-t", target)]
    source = f"{folder / 'halve_of_variants.py'}:halve"
    for name in ("halve.vmfb", "again.vmfb"):
        built = CliRunner().invoke(app, ["build", source, "--in", "f32[3]", *flags, "-o", str(folder / name)])
        assert built.exit_code == 0, built.stderr
        assert f"for {', '.join(TARGETS)} in" in built.stdout
    return folder / "halve.vmfb"


def manifest_of(path: Path) -> Manifest:
    return artifact.read(path).manifest


def test_equal_builds_are_equal_bytes(halve: Path) -> None:
    assert halve.read_bytes() == halve.with_name("again.vmfb").read_bytes()


def test_the_best_that_runs_here_is_taken(halve: Path, adze: Adze) -> None:
    ran = adze("run", halve, "--in", "[1, 2, 3]", "--device", "cpu", "--explain")
    assert ran.exit_code == 0, ran.stderr
    assert "[0.5 1.  1.5]" in ran.stdout
    assert ran.stderr.startswith("taken: cpu on local-sync: uses ")
    other = adze("run", halve, "--in", "[1, 2, 3]", "-t", HERE, "--json")
    assert json.loads(other.stdout)["target"] == HERE
    assert api.load(halve, target=HERE).target == HERE
    assert np.array_equal(api.load(halve, "cpu")([2, 4, 6]), [1, 2, 3])


def test_inspect_lists_them(halve: Path, adze: Adze) -> None:
    shown = adze("inspect", halve)
    lines = shown.stdout.splitlines()
    assert any(line.startswith("variant ") and f" {HERE}: " in line for line in lines)
    taken = [line for line in lines if line.startswith("taken here")]
    assert len(taken) == 1 and "1 kernel; " in taken[0]
    assert any(f"{OTHER}: " in line and "and this machine is" in line for line in lines)
    rows = json.loads(adze("inspect", halve, "--json").stdout)["variants"]
    assert [row["target"] for row in rows] == list(TARGETS)
    assert [row["runs_here"] for row in rows][:3] == [True, True, False]


def test_any_host_of_iree_runs_the_first(halve: Path) -> None:
    tool = Path(sys.executable).with_name("iree-run-module")
    command = [tool, f"--module={halve}", "--device=local-sync", "--function=halve", "--input=3xf32=2 4 6"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "3xf32=1 2 3" in ran.stdout


def test_none_that_runs_is_a_reason_for_each(halve: Path) -> None:
    contents = artifact.read(halve)

    def refuse(manifest: Manifest) -> None:
        raise ArtifactError(f"no {manifest.target}")

    with pytest.raises(ArtifactError, match=rf"{HERE}: no {HERE}; cpu: no cpu; .*") as caught:
        choose(contents.manifest, None, None, refuse)
    assert caught.value.message.startswith("no variant of the program can run here: ")
    with pytest.raises(ArtifactError, match=f"has no variant for cpu:znver5: it has {HERE}, cpu, "):
        api.load(halve, target="cpu:znver5")
    with pytest.raises(ArtifactError, match=r"halve.vmfb: .*can run here: .*and this machine is"):
        api.load(halve, target=OTHER)


def test_the_order_of_preference(halve: Path) -> None:
    manifest = manifest_of(halve)
    judged = verdicts(manifest, lambda _: None)
    on_all = [Verdict(v.variant, v.device or "cuda:0", v.reason) for v in judged]
    best = [verdict.variant.target for verdict in in_order(on_all)]
    assert best[0] == "cuda:sm_80" and best[1] == "cpu"


def test_lengths_that_do_not_add_up_are_damage(halve: Path, tmp_path: Path) -> None:
    contents = artifact.read(halve)
    parts = {name: part for name, part in contents.parts.items() if name != "module.cpu"}
    cut = artifact.Contents(contents.module, contents.manifest, b"", parts)
    with pytest.raises(ArtifactError, match="its module for cpu has another length"):
        artifact.read(artifact.save(tmp_path / "cut.vmfb", cut))


def test_a_target_named_twice_is_bad_usage(adze: Adze, halve: Path) -> None:
    source = halve.with_name("halve_of_variants.py")
    twice = adze("build", f"{source}:halve", "-t", "cpu", "-t", "cpu", "-o", halve.with_name("h.vmfb"))
    assert twice.exit_code == 2
    assert "--target: target cpu is named twice" in twice.stderr
