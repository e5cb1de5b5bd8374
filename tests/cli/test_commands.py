"""The command as a process: help with an example for all, exit codes, and what is (not) imported."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .conftest import Adze

COMMANDS = (
    ("build",),
    ("run",),
    ("ir",),
    ("opt",),
    ("inspect",),
    ("doctor",),
    ("cache", "stats"),
    ("cache", "clear"),
)
ADZE = Path(sys.executable).with_name("adze")


def shell(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(ADZE), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example_and_lists_json_and_traceback(adze: Adze, command: tuple[str, ...]) -> None:
    result = adze(*command, "--help")
    assert result.exit_code == 0
    assert f"Example: adze {' '.join(command)}" in result.stdout
    assert "--json" in result.stdout
    assert "--traceback" in result.stdout


@pytest.mark.parametrize(
    "arguments", [("bulid",), ("build", "--frobnicate"), ("cache", "stat")], ids=" ".join
)
def test_unknown_command_or_option_leaves_with_two(adze: Adze, arguments: tuple[str, ...]) -> None:
    result = adze(*arguments)
    assert result.exit_code == 2
    assert arguments[-1] in result.stderr


def test_build_run_and_inspect_as_processes(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def double(x):\n    return x + x\n")
    built = shell("build", "model.py:double", "--in", "f64[?]", "-o", "double.vmfb", folder=tmp_path)
    assert built.returncode == 0, built.stderr
    np.save(tmp_path / "x.npy", np.arange(3.0))
    ran = shell("run", "double.vmfb", "--in", "x.npy", "--out", "y.npy", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), [0.0, 2.0, 4.0])
    shown = shell("inspect", "double.vmfb", folder=tmp_path)
    assert "double(x: f64[" in shown.stdout
    missing = shell("run", "no_such.vmfb", folder=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "error: there is no file 'no_such.vmfb'\n"


LOUD = """\
import atexit, os, subprocess, sys
def shout(text):
    print(text)
    sys.__stdout__.write(text)
    os.write(1, text.encode())
    subprocess.run(["echo", text])
shout("imported")
atexit.register(shout, "ended")
def double(x):
    shout("traced")
    return x + x
"""


def test_output_of_the_users_code_is_never_mixed_with_json(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    built = shell("build", "loud.py:double", "--in", "f64[?]", "-o", "l.vmfb", "--json", folder=tmp_path)
    assert json.loads(built.stdout)["output"] == "l.vmfb"
    for text in ("imported", "traced", "ended"):
        assert built.stderr.count(text) == 4


def test_output_that_cannot_be_written_is_one_line(program: Path, tmp_path: Path) -> None:
    for arguments in (("inspect", program), ("inspect", program, "--json"), ("--help",), ("run", "--help")):
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [str(ADZE), *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300
            )
        assert result.returncode == 1
        assert result.stderr == "error: cannot write to standard output: No space left on device\n"


def test_reader_that_stops_reading_is_no_error_to_tell(program: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(
        [str(ADZE), "inspect", str(program)], stdout=write, stderr=subprocess.PIPE, text=True, timeout=300
    )
    os.close(write)
    assert (result.returncode, result.stderr) == (1, "")


def test_interrupt_leaves_with_130(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("def f(x):\n    raise KeyboardInterrupt\n")
    result = shell("build", "slow.py:f", "--in", "f32[2]", "-o", "f.vmfb", folder=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")
    assert not (tmp_path / "f.vmfb").exists()


HEAVY = {
    *("iree", "ml_dtypes", "numpy", "optree", "pydantic", "rich", "safetensors", "cryptography", "PIL"),
    *("asyncio", "email", "http", "multiprocessing", "unittest", "xml"),
}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['adze', '--help']\n"
        "from adze.cli.entry import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as error:\n"
        "    assert not error.code\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("usage:") or "Usage:" in result.stdout
    loaded = set(ast.literal_eval(result.stderr))
    assert {"adze", "typer"} <= loaded
    assert not loaded & HEAVY


def test_run_never_loads_the_compiler(program: Path) -> None:
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from adze.cli.main import app\n"
        f"command = ['run', {str(program)!r}, '--in', '[[1, 2, 3]]', '--in', '[1, 2, 3]']\n"
        "result = CliRunner().invoke(app, command)\n"
        "assert result.exit_code == 0, result.stderr\n"
        "print([name for name in sys.modules if name.startswith('iree.compiler')])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[]\n"
