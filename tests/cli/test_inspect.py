"""`adze inspect`: what a program says of itself; a damaged one is an error message."""

import hashlib
import json
from pathlib import Path

from .conftest import Adze

SIGNATURE = "add_row(x: f32[n,3], b: f32[3]) -> (sum: f32[n,3], positive: i1[3])"


def test_signature_and_target_are_shown(adze: Adze, program: Path) -> None:
    result = adze("inspect", program)
    assert result.exit_code == 0, result.stderr
    rows = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["function"] == SIGNATURE
    assert rows["target"] == "cpu"
    assert rows["sha256"] == hashlib.sha256(program.read_bytes()).hexdigest()


def test_json_has_the_whole_manifest(adze: Adze, program: Path) -> None:
    result = adze("inspect", program, "--json")
    report = json.loads(result.stdout)
    assert report["bytes"] == program.stat().st_size
    (function,) = report["manifest"]["functions"]
    assert function["inputs"][0] == {"name": "x", "dtype": "f32", "shape": ["n", 3]}


def test_damaged_program_is_refused(adze: Adze, program: Path, tmp_path: Path) -> None:
    content = bytearray(program.read_bytes())
    content[len(content) // 2] ^= 1
    damaged = tmp_path / "damaged.vmfb"
    damaged.write_bytes(content)
    result = adze("inspect", damaged)
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: {damaged}: the file is damaged: its contents do not match its checksum\n"
        "  hint: copy or build it again\n"
    )


def test_other_file_is_refused(adze: Adze, tmp_path: Path) -> None:
    other = tmp_path / "other.vmfb"
    other.write_text("hello")
    result = adze("inspect", other)
    assert result.exit_code == 1
    assert result.stderr == f"error: {other}: not a program built by adze\n"


def test_program_must_be_named(adze: Adze) -> None:
    result = adze("inspect")
    assert result.exit_code == 2
    assert "OUT.vmfb" in result.stderr


def test_kernels_of_a_gpu_are_counted(adze: Adze, tmp_path: Path) -> None:
    model = tmp_path / "model_with_a_kernel.py"
    model.write_text("def double(x):\n    return x + x\n")
    path = tmp_path / "both.vmfb"
    wanted = ("-t", "cuda:sm_80", "-t", "cpu")
    built = adze("build", f"{model}:double", "--in", "f32[4096]", *wanted, "-o", path)
    assert built.exit_code == 0, built.stderr
    rows = json.loads(adze("inspect", path, "--kernels", "--json").stdout)
    (kernel,) = rows["cuda:sm_80"]
    assert kernel["name"].startswith("double_dispatch_0") and kernel["target"] == "sm_80"
    assert kernel["wide_loads"] == kernel["loads"] > 0 and kernel["matrix_products"] == 0
    assert [list(row) for row in rows["cpu"]] == [["name"]]
    shown = adze("inspect", path, "--kernels").stdout
    assert "cuda:sm_80\n" in shown and " fma, " in shown and "code for a processor" in shown
