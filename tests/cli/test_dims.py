"""Named dimensions with bounds, and programs for some of their sizes, on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import adze as api

from .conftest import Adze

MODEL = """\
from adze import numpy as np

def f(x, scale):
    return np.cumsum(x, axis=1) * scale
"""
SPECS = ("--in", "f32[batch,3]", "--in", "f32[]", "--dim", "batch: 8..64, %8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from adze.cli.main import app

    folder = tmp_path_factory.mktemp("dims")
    (folder / "model_of_dims.py").write_text(MODEL)
    command = ["build", f"{folder / 'model_of_dims.py'}:f", *SPECS, "--specialize", "batch=8,64", "--keep-ir"]
    done = CliRunner().invoke(app, [*command, "-o", str(folder / "f.vmfb")])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[:3] == [
        "f(x: f32[batch,3], scale: f32[]) -> (result: f32[batch,3])",
        "f.batch_8(x: f32[8,3], scale: f32[]) -> (result: f32[8,3])",
        "f.batch_64(x: f32[64,3], scale: f32[]) -> (result: f32[64,3])",
    ]
    return folder / "f.vmfb"


def test_a_call_takes_the_program_for_its_size(built: Path, adze: Adze) -> None:
    program = api.load(built)
    exported = program.manifest.function("f")
    for size, name in ((8, "f.batch_8"), (16, "f"), (64, "f.batch_64")):
        x = np.arange(3.0 * size, dtype=np.float32).reshape(size, 3)
        assert exported.for_shapes([x.shape, ()]) == name
        for result in (program(x, 2.0), program["f"](x, 2.0)):
            np.testing.assert_array_equal(result, x.cumsum(axis=1) * 2)
    np.save(built.with_name("x.npy"), np.ones((8, 3), np.float32))
    ran = adze("run", built, "--in", built.with_name("x.npy"), "--in", "1.0", "--explain")
    assert ran.exit_code == 0, ran.stderr
    assert "taken: f.batch_8, which is built for these sizes\n" in ran.stderr
    assert "dim            batch: 8..64, %8, of f\n" in adze("inspect", built).stdout


def test_sizes_out_of_bounds_are_named(built: Path) -> None:
    program = api.load(built)
    for size in (0, 4, 12, 72):
        with pytest.raises(api.AdzeError) as caught:
            program(np.ones((size, 3), np.float32), 1.0)
        assert caught.value.message == (
            f"f(): argument 'x' has size {size} along axis 0, which is dim 'batch': expected 8..64, %8"
        )


def test_verified_and_transformed_within_its_bounds(built: Path, adze: Adze) -> None:
    verified = adze("verify", built, "--samples", "2")
    assert verified.exit_code == 0, verified.output
    specs = api.load(built).differentiable().specs[0]
    assert specs[0].shape[0].bounds == api.load(built).manifest.signatures[0].bounds["batch"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--specialize", "batch=12"),
            "--specialize: f cannot be specialized for batch=12: expected 8..64, %8",
        ),
        (("--specialize", "batch"), "--specialize: 'batch' is not NAME=N,..."),
        (("--specialize", "batch=a"), "--specialize: 'batch=a' is not NAME=N,..."),
        (("--specialize", "n=8"), "--specialize: f has no dimension 'n': it has batch"),
        (("--specialize", "batch=8,8"), "--specialize: 'batch=8,8' names a dimension or a size twice"),
        (("--specialize", f"batch={','.join(map(str, range(65)))}"), "--specialize: 65 programs, at most 64"),
        (("--dim", "n: 1..2"), "--dim: no argument has a dimension 'n': there is batch"),
        (("--dim", "batch: 1..2"), "--dim: 'batch' is described twice"),
        (("--dim", "n"), "--dim: cannot read the dimension 'n': expected a name and its sizes"),
        (("--dim", "n: 3..1"), "--dim: the dimension 'n: 3..1' has no size: 3..1"),
        (("--dim", "n: 1..7, %8"), "--dim: the dimension 'n: 1..7, %8' has no size: 1..7, %8"),
        (("--dim", f"n: 1..{2**63}"), "has no size"),
        (("--dim", f"n: 1..{'9' * 5000}"), "--dim: cannot read the dimension"),
    ],
)
def test_what_means_nothing_is_bad_usage(
    adze: Adze, built: Path, options: tuple[str, ...], message: str
) -> None:
    source = built.with_name("model_of_dims.py")
    failed = adze("build", f"{source}:f", *SPECS, *options, "-o", built.with_name("x.vmfb"))
    assert failed.exit_code == 2, failed.stderr
    assert message in failed.stderr
