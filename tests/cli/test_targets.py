"""One function for several targets: built everywhere, run where the device is, refused clearly where not."""

from pathlib import Path

import numpy as np
import pytest

from .conftest import Adze

MODEL = "def halve(x):\n    return x / 2\n"


def has_device(kind: str) -> bool:
    from adze.runtime.execute.devices import list_devices

    return any(device.kind.value == kind for device in list_devices())


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model_for_targets.py"
    path.write_text(MODEL)
    return path


@pytest.mark.vulkan
def test_vulkan_program_is_built_and_run(adze: Adze, model: Path) -> None:
    if not has_device("vulkan"):
        pytest.skip("no Vulkan device; Debian's mesa-vulkan-drivers has one that runs on the CPU")
    built = adze("build", f"{model}:halve", "--in", "f32[3]", "-t", "vulkan", "-o", "halve.vmfb")
    assert built.exit_code == 0, built.stderr
    ran = adze("run", "halve.vmfb", "--in", "[1, 2, 3]", "--out", "y.npy")
    assert ran.exit_code == 0, ran.stderr
    np.testing.assert_array_equal(np.load("y.npy"), np.array([0.5, 1, 1.5], np.float32))
    wrong = adze("run", "halve.vmfb", "--in", "[1, 2, 3]", "--device", "cpu")
    assert wrong.exit_code == 1
    assert "which local-sync cannot run\n  hint: load it on a vulkan device" in wrong.stderr


def test_cuda_program_is_built_without_a_gpu_and_says_what_it_needs(adze: Adze, model: Path) -> None:
    built = adze("build", f"{model}:halve", "--in", "f32[3]", "-t", "cuda:sm_80", "-o", "halve.vmfb")
    assert built.exit_code == 0, built.stderr
    assert '"target": "cuda:sm_80"' in adze("inspect", "halve.vmfb", "--json").stdout
    if has_device("cuda"):
        pytest.skip("this machine has a CUDA device, the message for one without is not shown")
    ran = adze("run", "halve.vmfb", "--in", "[1, 2, 3]")
    assert ran.exit_code == 1
    assert ran.stderr.startswith("error: there is no device 'cuda:0' on this machine: NVIDIA's driver")


def test_program_for_another_architecture_is_refused(adze: Adze, model: Path) -> None:
    import platform

    other = "cpu:x86-64-v3" if platform.machine() in ("arm64", "aarch64") else "cpu:aarch64"
    built = adze("build", f"{model}:halve", "--in", "f32[3]", "-t", other, "-o", "halve.vmfb")
    assert built.exit_code == 0, built.stderr
    ran = adze("run", "halve.vmfb", "--in", "[1, 2, 3]")
    assert ran.exit_code == 1
    assert ran.stderr.startswith(f"error: halve.vmfb: built for {other}, a program for ")
    assert "  hint: build it for this machine: adze build -t cpu\n" in ran.stderr
