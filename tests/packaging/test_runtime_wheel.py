"""adze-runtime installed alone into a fresh environment: load, run, inspect, verify, and how large it is.

No network is needed: its dependencies are copied from the environment of the tests, without those files that
docs/deploying.md says can be left out.
"""

from __future__ import annotations

import importlib.metadata
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adze

from .conftest import build_wheel

DEPENDENCIES = ("numpy", "iree-base-runtime", "ml_dtypes")
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def can_be_left_out(file: str) -> bool:
    """What docs/deploying.md removes: the tracing copy of IREE's runtime, and its tools."""
    parts = Path(file).parts
    return (
        ".." in parts  # scripts, outside of site-packages
        or "__pycache__" in parts
        or parts[:2] == ("iree", "_runtime_libs_tracy")
        or (parts[:2] == ("iree", "_runtime_libs") and (parts[2].startswith("iree-") or parts[2] == "share"))
    )


@pytest.fixture(scope="module", params=["plain", "slim"])
def environment(
    request: pytest.FixtureRequest, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A fresh environment with the wheel, its dependencies, and nothing else.

    IREE's runtime is a copy of the installed one, or the wheel of packaging/slim_runtime.py.
    """
    slim = request.param == "slim"
    root = tmp_path_factory.mktemp("fresh") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True, timeout=120)
    site = next(root.glob("lib/python*/site-packages"))
    for name in DEPENDENCIES:
        if slim and name == "iree-base-runtime":
            continue
        for file in importlib.metadata.files(name) or ():
            source = Path(str(file.locate()))
            if can_be_left_out(str(file)) or not source.is_file():
                continue
            place = site / str(file)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.read_bytes())
    wheel = build_wheel(checkout / "packaging" / "runtime", tmp_path_factory.mktemp("wheel"))
    wheels = [wheel]
    if slim:
        slim_wheel = runpy.run_path(str(checkout / "packaging" / "slim_runtime.py"))["slim_wheel"]
        wheels.append(slim_wheel(tmp_path_factory.mktemp("slim")))
    pip = [sys.executable, "-m", "pip", "--python", root / "bin" / "python"]
    install = [*pip, "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*install, *wheels], check=True, timeout=300)
    if slim:  # `+slim` satisfies what adze-runtime requires
        subprocess.run([*pip, "check"], check=True, timeout=300)
    return root


def shell(environment: Path, *words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    tool = environment / "bin" / str(words[0])
    command = [str(tool), *map(str, words[1:])]
    variables = {"PATH": str(environment / "bin"), "HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = adze.ShapeDtype(("n", 3))
    compiled = (
        adze.trace(lambda x, p: {"y": x * p["w"]}, spec, {"w": adze.ShapeDtype((3,))}).lower().compile()
    )
    return compiled.save(tmp_path_factory.mktemp("program") / "f.vmfb", keep_ir=True)


@pytest.mark.thorough
def test_it_loads_runs_inspects_and_verifies(environment: Path, program: Path, tmp_path: Path) -> None:
    code = (
        "import numpy as np, adze\n"
        "assert 'site-packages' in adze.__file__\n"
        f"f = adze.load({str(program)!r})\n"
        "y = f(np.ones((2, 3), np.float32), {'w': [1, 2, 3]})['y']\n"
        "assert y.tolist() == [[1, 2, 3]] * 2 and np.add(y, 1).tolist() == [[2, 3, 4]] * 2\n"
        "print(adze.__version__)\n"
    )
    loaded = shell(environment, "python", "-c", code, folder=tmp_path)
    assert loaded.returncode == 0, loaded.stderr
    assert loaded.stdout.strip() == importlib.metadata.version("adze-compiler")
    np.savez(tmp_path / "in.npz", x=X, **{"p['w']": np.float32([1, 2, 3])})
    for words, expected in (
        (("--version",), "(adze-runtime)"),
        (("inspect", program), "lambda(x: f32[n,3], p['w']: f32[3])"),
        (("run", program, "--in", "in.npz"), "[[ 0.  2.  6.]\n [ 3.  8. 15.]]"),
        (("run", program, "--in", "in.npz", "--out", "y.csv"), ""),
        (("verify", program, "--no-numbers"), "whole, signature none"),
    ):
        done = shell(environment, "adze", *words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
    assert (tmp_path / "y.csv").read_text() == "0.0,2.0,6.0\n3.0,8.0,15.0\n"
    keyed = shell(environment, "adze", "keygen", "k", folder=tmp_path)
    assert keyed.returncode == 1
    assert "signatures need the package cryptography, which is not installed" in keyed.stderr
    compared = shell(environment, "adze", "verify", program, folder=tmp_path)
    assert compared.returncode == 1 and "adze verify --no-numbers" in compared.stderr


@pytest.mark.thorough
def test_all_but_numpy_is_small(environment: Path) -> None:
    """The figure of docs/deploying.md: 20 MB is the limit, without what can be left out it is far less."""
    site = next(environment.glob("lib/python*/site-packages"))
    sizes = [
        file.stat().st_size
        for file in site.rglob("*")
        if file.is_file()
        and "__pycache__" not in file.parts
        and not file.relative_to(site).parts[0].startswith("numpy")
    ]
    assert sum(sizes) < 8e6
    whole = [file for file in importlib.metadata.files("iree-base-runtime") or () if ".." not in str(file)]
    kept = [f for f in whole if "_runtime_libs_tracy" not in str(f) and "__pycache__" not in str(f)]
    assert sum(Path(str(file.locate())).stat().st_size for file in kept) < 18e6


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["resnet", "transformer"])
def test_an_imported_model_runs(name: str, environment: Path, checkout: Path, tmp_path: Path) -> None:
    """The models of `examples/models`: neither the compiler nor onnx is there."""
    pytest.importorskip("onnx", reason="the package onnx (extra `onnx`) is not installed")
    make = runpy.run_path(str(checkout / "examples" / "models" / "networks.py"))[name]
    model = adze.from_onnx(make(), trainable=False)
    (spec,) = model.specs.values()
    adze.jit(model).trace(spec).lower("cpu").compile().save(tmp_path / "model.vmfb")
    x = np.random.default_rng(0).standard_normal((2, *spec.shape[1:])).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    code = (
        "import numpy as np, adze\nnp.save('y.npy', np.asarray(adze.load('model.vmfb')(np.load('x.npy'))))\n"
    )
    ran = shell(environment, "python", "-c", code, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    want = np.asarray(model(x))
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), want, rtol=1e-3, atol=1e-4)
