"""The distribution adze-runtime: its files are a closed part of adze, and load, run and say what they lack.

A child process sees those files and no others of adze, and every package that the distribution does not
depend on is blocked. The thorough test of tests/packaging/test_runtime_wheel.py installs it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze.runtime import distribution

from .test_layers import modules_imported

BLOCKED = ("iree.compiler", "optree", "opt_einsum", "typer", "rich", "platformdirs", "filelock", "scipy")


def project(checkout: Path, *folders: str) -> Any:
    return tomllib.loads(checkout.joinpath(*folders, "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def files(checkout: Path) -> dict[str, Path]:
    """The modules of the distribution, by their full names."""
    included = project(checkout, "packaging", "runtime")["tool"]["scikit-build"]["wheel"]["force-include"]
    modules = {}
    for source, place in included.items():
        path = (checkout / "packaging" / "runtime" / source).resolve()
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            inside = Path(place) / file.relative_to(path) if path.is_dir() else Path(place)
            if inside.suffix == ".py" and not inside.is_relative_to("adze/runtime/compile"):
                parts = inside.with_suffix("").parts
                modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


# Imports inside functions that are caught, and say what to install.
LEFT_OUT = {
    "adze": {"adze.frontend.library.operators"},
    "adze.cli.arguments": {
        "adze.frontend.imports.loading",
        "adze.frontend.tracing.specs",
        "adze.frontend.staging.packages",
    },
    "adze.cli.front": {"adze.cli.typer_app"},
    "adze.cli.verify": {
        "adze.frontend.imports.loading",
        "adze.frontend.staging.jit",
        "adze.frontend.staging.packages",
        "adze.frontend.staging.verification",
    },
    "adze.frontend.staging.artifacts": {
        "adze.frontend.staging.kept",
        "adze.frontend.staging.parts",
        "adze.frontend.staging.recompiled",
    },
    "adze.frontend.tracing.sizes": {"adze.frontend.tracing.interpreter"},
    "adze.frontend.written_trees": {"adze.frontend.tree"},
}


def test_the_files_import_no_others(files: dict[str, Path], checkout: Path) -> None:
    everything = dict(files)
    for folder in ("cli", "dialects", "frontend", "passes", "runtime"):
        for path in (checkout / folder).rglob("*.py"):
            parts = ("adze", *path.relative_to(checkout).with_suffix("").parts)
            everything.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path)
    wrong = []
    for name, path in files.items():
        others = modules_imported(path, checkout, everything) - files.keys() - LEFT_OUT.get(name, set())
        wrong += [f"{name} imports {other}" for other in sorted(others)]
    assert wrong == []


def test_both_distributions_are_of_one_version_and_pin_alike(checkout: Path) -> None:
    whole, part = project(checkout)["project"], project(checkout, "packaging", "runtime")["project"]
    assert part["version"] == whole["version"]
    assert part["requires-python"] == whole["requires-python"]
    assert set(part["dependencies"]) <= set(whole["dependencies"])
    shared = part["optional-dependencies"]
    assert shared == {name: whole["optional-dependencies"][name] for name in shared}


def test_two_distributions_at_once_are_a_problem() -> None:
    assert distribution.conflict({"adze-compiler": "0.1.0"}) is None
    both = {"adze-compiler": "0.1.0", "adze-runtime": "0.1.0"}
    assert "hold the same files: pip uninstall both" in str(distribution.conflict(both))
    other = {**both, "adze-runtime": "0.2.0"}
    assert "hold files of the same names and not alike" in str(distribution.conflict(other))


@pytest.fixture(scope="module")
def site(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the distribution, and code that blocks everything else."""
    root = tmp_path_factory.mktemp("site")
    for name, path in files.items():
        place = root.joinpath(*name.split("."))
        place = place / "__init__.py" if path.name == "__init__.py" else place.with_suffix(".py")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    stub = next(path for name, path in files.items() if name == "adze").with_name("__init__.pyi")
    shutil.copy(stub, root / "adze")
    (root / "blocking.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(root)!r})\n"
        "sys.meta_path[:] = [f for f in sys.meta_path if 'scikit' not in type(f).__name__.lower()]\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.startswith({BLOCKED!r}):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
    )
    return root


def run_without(site: Path, code: str) -> str:
    """What `code` prints in a process that has the files of the distribution alone."""
    prefix = f"import sys; sys.path.insert(0, {str(site)!r}); import blocking\n"
    done = subprocess.run(
        [sys.executable, "-c", prefix + code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = adze.ShapeDtype(("n", 3))

    def step(params: Any, x: Any, *, scale: Any) -> Any:
        return {"y": x * params["w"] * scale, "total": (x.sum(), [None])}

    compiled = (
        adze.trace(step, {"w": adze.ShapeDtype((3,))}, spec, scale=adze.ShapeDtype(())).lower().compile()
    )
    return compiled.save(tmp_path_factory.mktemp("runtime") / "step.vmfb", keep_ir=True)


def test_the_files_alone_load_and_run(site: Path, program: Path) -> None:
    code = f"""
import numpy as np, adze
assert adze.__file__.startswith({str(site)!r}), adze.__file__
f = adze.load({str(program)!r})
x = np.arange(6, dtype=np.float32).reshape(2, 3)
out = f({{"w": np.ones(3, np.float32)}}, x, scale=2)
y, total = out["y"], out["total"]
assert isinstance(y, adze.Array) and total[1] == [None] and float(total[0]) == 15.0
assert np.array_equal(y, x * 2) and np.array_equal(np.add(y, 1), x * 2 + 1) and (np.sum(y) == 30)
assert y[1].tolist() == [6, 8, 10] and y.T.shape == (3, 2) and y.reshape(6).shape == (6,)
assert y[y.numpy() > 5].tolist() == [6, 8, 10]
assert np.array_equal(f({{"w": [1, 1, 1]}}, x=y, scale=0.5)["y"], x)
def message(call):
    try:
        call()
    except adze.AdzeError as error:
        return str(error)
    raise AssertionError("no error")
print(message(lambda: y + 1))
print(message(lambda: adze.grad))
print(message(f.differentiable))
print(message(lambda: f({{"v": [1, 1, 1]}}, x, scale=2)))
print(message(lambda: f({{"w": [1, 1, 1]}}, x[:, :2], scale=2)))
try:
    from adze import jit
except ImportError as error:
    print(error)
assert adze.devices()[0].name == "local-sync"
left = [m for m in sys.modules if m.startswith(("iree.compiler", "iree.runtime", "importlib.metadata"))]
assert not left, left
"""
    shown = run_without(site, code)
    assert "'add' of adze's arrays is not in the distribution adze-runtime" in shown
    assert "hint: let NumPy compute: numpy.asarray(x), which copies nothing" in shown
    assert "adze.grad is not in the distribution adze-runtime" in shown
    assert "differentiable() is not in the distribution adze-runtime" in shown
    assert "takes arguments ({'w': *}, *, scale=*), got ({'v': [*, *, *]}, *, scale=*)" in shown
    assert "argument 'x' has size 2 along axis 1: expected 3, f32[n,3]" in shown
    assert "adze.jit is not in the distribution adze-runtime" in shown
    assert "hint: pip uninstall adze-runtime, then pip install adze-compiler" in shown


def test_numpy_has_the_arrays_of_a_loaded_program_as_with_the_compiler() -> None:
    """What the two distributions both answer, they answer alike."""
    from adze.frontend.tracing.numpy_operators import TABLE as runtime

    y = adze.Array(np.arange(6.0).reshape(2, 3))
    for name, arguments in (
        ("get_index", ((0, slice(1, None)),)),
        ("reshape", ((3, 2),)),
        ("transpose", ()),
        ("matrix_transpose", ()),
        ("ravel", ()),
        ("real", ()),
        ("swapaxes", (0, 1)),
        ("squeeze", ()),
    ):
        from adze.frontend.library.operators import TABLE as whole

        expected = whole[name](y, *arguments)
        actual = runtime[name](y, *arguments)
        assert type(actual) is type(expected) is type(y)
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual.numpy(), expected.numpy())


def test_the_files_alone_have_commands(site: Path, program: Path, tmp_path: Path) -> None:
    """One process for all: `adze run`, `inspect`, `verify`, `sign` without Typer."""
    code = f"""
import contextlib, io, os, json
os.chdir({str(tmp_path)!r})
from adze.cli import main
def adze(*words):
    sys.argv = ["adze", *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.app()
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()
f = {str(program)!r}
code, out, err = adze("--help")
assert code == 0 and "run " in out and "build" not in out, out
assert adze("--version")[1].startswith("adze ")
inputs = ["--in", "params.w=[1, 1, 1]", "--in", "x=[[1, -2, 3]]", "--in", "scale=-2.0"]
code, out, err = adze("run", f, *inputs, "--json")
assert code == 0, err
assert json.loads(out)["outputs"][1]["values"] == [[-2, 4, -6]], out
assert adze("keygen", "k")[0] == 0
assert adze("sign", f, "--key", "k.private.pem", "-o", "s.vmfb")[0] == 0
assert adze("verify", "s.vmfb", "--key", "k.public.pem")[0] == 0
assert adze("run", "s.vmfb", "--key", "k.public.pem", *inputs)[0] == 0
assert adze("run", f, "--key", "k.public.pem", *inputs)[0] == 1
assert "function" in adze("inspect", f)[1]
code, out, err = adze("verify", f)
assert (code, out) == (1, "") and "adze verify --no-numbers" in err, err
assert adze("verify", f, "--no-numbers")[0] == 0
assert adze("build", "m.py:f")[0] == 2 and adze("rnu")[2].startswith("Error: No such command 'rnu'. Did")
assert adze("run", f, "--in", "nonsense")[0] == 2 and adze("run", "none.vmfb")[0] == 2
assert adze("run")[0] == 2 and adze("run", f, "--frob")[0] == 2
"""
    run_without(site, code)
