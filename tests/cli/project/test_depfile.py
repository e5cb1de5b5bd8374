"""`adze build --depfile`: the rule that Make, Ninja and CMake take, with what a trace read."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from adze.cli.project.depfile import depfile_text
from adze.cli.reporting import BadUsage

from .conftest import run


def test_rule_names_module_data_and_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model_with_rule.py").write_text(
        "import numpy as np\nfrom helper_with_rule import SCALE\nw = np.load('w w.npy')\n\n\n"
        "def f(x):\n    return x * SCALE + w\n"
    )
    (tmp_path / "helper_with_rule.py").write_text("SCALE = 2.0\n")
    np.save(tmp_path / "w w.npy", np.zeros(2, np.float32))
    result = run(
        "build",
        "model_with_rule.py:f",
        "--in",
        "f32[2]",
        "-t",
        "cpu:x86-64-v3",
        "-o",
        "f.vmfb",
        "--depfile",
        "f.d",
    )
    assert result.exit_code == 0, result.output
    text = (tmp_path / "f.d").read_text()
    rule, *empty = text.replace("\\\n", " ").strip().split("\n\n")
    assert rule.split()[:2] == ["f.vmfb:", str(tmp_path / "model_with_rule.py")]
    for name in ("model_with_rule.py", "helper_with_rule.py", "w\\ w.npy"):
        assert str(tmp_path / name) in rule
        assert f"{tmp_path / name}:" in empty
    assert "dist-info/RECORD" in rule


def test_entries_of_the_compile_cache_are_no_prerequisites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that `adze cache prune` removes must not make Make build the program again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADZE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "model_from_cache.py").write_text("def f(x):\n    return x + 17\n")
    command = ("build", "model_from_cache.py:f", "--in", "f32[2]", "-t", "cpu:x86-64-v3")
    for output in ("f.vmfb", "g.vmfb"):  # the second is read from the cache
        result = run(*command, "-o", output, "--depfile", "f.d")
        assert result.exit_code == 0, result.output
    assert "from the compile cache" in result.output
    text = (tmp_path / "f.d").read_text()
    assert str(tmp_path / "model_from_cache.py") in text
    assert str(tmp_path / "cache") not in text


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_reads_names_with_its_own_signs(tmp_path: Path) -> None:
    names = ["a b.py", "c#d.py", "e$f.py"]
    for name in names:
        (tmp_path / name).touch()
    rule = depfile_text([tmp_path / "out"], [str(tmp_path / name) for name in names])
    (tmp_path / "Makefile").write_text(f"include out.d\n{tmp_path}/out:\n\t@touch '$@'; echo made\n")
    (tmp_path / "out.d").write_text(rule)
    make = ["make", "-s", "-C", str(tmp_path), str(tmp_path / "out")]
    first = subprocess.run(make, capture_output=True, text=True, check=True, timeout=60)
    assert "made" in first.stdout, first
    second = subprocess.run(make, capture_output=True, text=True, check=True, timeout=60)
    assert "made" not in second.stdout, second
    (tmp_path / "c#d.py").unlink()
    third = subprocess.run(make, capture_output=True, text=True, check=True, timeout=60)
    assert "made" in third.stdout, third


def test_name_that_no_makefile_holds_is_bad_usage() -> None:
    with pytest.raises(BadUsage, match="cannot stand in a makefile"):
        depfile_text([Path("a")], ["b\nc"])
