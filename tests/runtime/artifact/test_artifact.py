"""Program files: saved whole, loaded only when whole and runnable here, plain to other IREE hosts."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adze.runtime.artifact import artifact
from adze.runtime.artifact.manifest import FORMAT_VERSION, Manifest, make_manifest
from adze.runtime.compile.compiler import CompiledModule, compile_bytecode
from adze.runtime.cpu import HostCpu, host_cpu
from adze.runtime.errors import ArtifactError, DeviceError
from adze.runtime.execute.devices import get_device
from adze.runtime.targets import parse_target

ONES = np.ones(4, np.float32)


@pytest.fixture
def saved(tmp_path: Path, portable: CompiledModule, manifest: Manifest) -> Path:
    return artifact.save(tmp_path / "program.vmfb", artifact.Contents(portable.vmfb, manifest))


def test_a_saved_program_runs(saved: Path, manifest: Manifest) -> None:
    loaded = artifact.load(saved)
    assert loaded.manifest == manifest
    assert loaded.device is get_device("local-sync")  # the manifest says that it is small
    assert loaded.executable.call("add", [ONES, ONES])[0].tolist() == [2, 2, 2, 2]
    assert str(loaded.executable.function("both").signature) == (
        "both(left: f32[n], right: f32[n]) -> (sum: f32[n], difference: f32[n])"
    )
    assert artifact.load(saved, "local-task").device.name == "local-task"


def test_inspecting_tells_without_loading(saved: Path, portable: CompiledModule, manifest: Manifest) -> None:
    result = artifact.inspect(saved)
    assert result.manifest == manifest
    assert (result.module_bytes, result.file_bytes) == (len(portable.vmfb), saved.stat().st_size)
    assert result.sha256 == hashlib.sha256(saved.read_bytes()).hexdigest()


def test_the_file_is_the_same_every_time(saved: Path, portable: CompiledModule, manifest: Manifest) -> None:
    assert artifact.Contents(portable.vmfb, manifest).to_bytes() == saved.read_bytes()


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_iree_run_module_runs_the_file(saved: Path, device: str) -> None:
    tool = Path(sys.executable).parent / "iree-run-module"
    command = [tool, f"--module={saved}", f"--device={device}", "--function=add"]
    done = subprocess.run(
        [*command, "--input=4xf32=1", "--input=4xf32=2"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "4xf32=3 3 3 3" in done.stdout, done.stderr


def refusal(path: Path, device: str | None = None) -> str:
    with pytest.raises(ArtifactError) as caught:
        artifact.load(path, device)
    assert str(path) in caught.value.message
    return caught.value.message.removeprefix(f"{path}: ")


def test_every_cut_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in (1, 3, 40, len(content) // 3, len(content) - 100, len(content) - 33, len(content) - 1):
        saved.write_bytes(content[:length])
        assert refusal(saved) in (
            "not a program built by adze",
            "the file is damaged: its trailer is incomplete",
            "an IREE module without adze's trailer: either cut short or not built by adze, and so there is "
            "no telling whether it is whole",
        )
    saved.write_bytes(content + b"\n")
    assert refusal(saved) == "the file is damaged: its trailer is incomplete"


def test_every_flipped_bit_is_refused(saved: Path) -> None:
    """Given to IREE as they are, one in nine of such files crashes and one in twenty computes nonsense."""
    content = saved.read_bytes()
    chosen = random.Random(7)
    for _ in range(300):
        position = chosen.randrange(len(content))
        damaged = bytearray(content)
        damaged[position] ^= 1 << chosen.randrange(8)
        with pytest.raises(ArtifactError):
            artifact.from_bytes(bytes(damaged))
    saved.write_bytes(bytes(damaged))
    assert "damaged" in refusal(saved)


def test_other_files_are_refused(tmp_path: Path, portable: CompiledModule) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"")
    assert refusal(path) == "the file is empty"
    path.write_text("text " * 100)
    assert refusal(path) == "not a program built by adze"
    path.write_bytes(Path(sys.executable).read_bytes()[:10_000])
    assert refusal(path) == "not a program built by adze"
    path.write_bytes(portable.vmfb)
    assert refusal(path).startswith("an IREE module without adze's trailer")
    assert refusal(tmp_path) == "a directory, expected a .vmfb file"
    assert refusal(tmp_path / "missing.vmfb") == "there is no such file"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_refused(saved: Path) -> None:
    saved.chmod(0)
    assert refusal(saved) == "cannot be read: Permission denied"


def test_what_this_machine_cannot_run_is_refused(
    tmp_path: Path, portable: CompiledModule, manifest: Manifest
) -> None:
    """Checked before IREE sees the code: it would run and end with an illegal instruction."""

    def saved_with(**changes: object) -> Path:
        changed = replace(manifest, **changes)  # type: ignore[arg-type]
        return artifact.save(tmp_path / "program.vmfb", artifact.Contents(portable.vmfb, changed))

    path = saved_with(target="cpu:future", required_features=("avx2048", "sse4_2"))
    missing = ", ".join(host_cpu().missing(("avx2048", "sse4_2")))
    assert refusal(path) == (
        f"built for cpu:future, whose code uses processor features that this machine lacks: {missing}"
    )
    path = saved_with(target="cpu:riscv64", architecture="riscv64")
    assert refusal(path) == (
        "built for cpu:riscv64, a program for riscv64, and this machine is " + host_cpu().architecture
    )
    path = saved_with(versions={"iree_compiler": "3.11.0"})
    assert refusal(path).startswith("built with IREE 3.11.0, and the runtime here is 3.13")
    path = saved_with(versions={})
    assert refusal(path).startswith("built with IREE of unknown version, and the runtime here is 3.13")
    path = saved_with(target="cuda:sm_80", architecture="sm_80")
    assert refusal(path, "cpu") == "built for cuda:sm_80, which local-sync cannot run"


def test_a_build_for_an_older_processor_runs_on_this_one(manifest: Manifest) -> None:
    cpu = HostCpu("x86_64", "old", frozenset({"sse4_2"}))
    newer = replace(manifest, architecture="x86_64", required_features=("avx512f",), target="cpu:x86-64-v4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(artifact, "host_cpu", lambda: cpu)
        with pytest.raises(ArtifactError, match="lacks: avx512f"):
            artifact.check_runnable(newer)
        artifact.check_runnable(replace(newer, required_features=("sse4_2",)))


def test_a_wrong_program_under_a_right_checksum_is_refused(tmp_path: Path, manifest: Manifest) -> None:
    path = artifact.save(tmp_path / "program.vmfb", artifact.Contents(b"no module at all", manifest))
    assert refusal(path).startswith("not a program that IREE can load: ")


def test_a_manifest_of_another_format_is_refused(
    tmp_path: Path, portable: CompiledModule, manifest: Manifest
) -> None:
    future = replace(manifest, format_version=FORMAT_VERSION + 1)
    path = artifact.save(tmp_path / "program.vmfb", artifact.Contents(portable.vmfb, future))
    assert refusal(path).startswith("its manifest has format version 3, newer than the 2 of this adze")


def test_saving_is_whole_or_not_at_all(
    saved: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ArtifactError, match=r"cannot write .*program\.vmfb: No space left on device"):
        artifact.save(saved, artifact.Contents(b"new program", manifest))
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_places_that_cannot_be_written_are_errors(tmp_path: Path, manifest: Manifest) -> None:
    with pytest.raises(ArtifactError, match="is a directory"):
        artifact.save(tmp_path, artifact.Contents(b"", manifest))
    with pytest.raises(ArtifactError, match="No such file or directory"):
        artifact.save(tmp_path / "missing" / "program.vmfb", artifact.Contents(b"", manifest))


def test_vulkan_code_for_another_subgroup_size_is_refused(
    tmp_path: Path, portable: CompiledModule, manifest: Manifest, vulkan: str
) -> None:
    """IREE loads it and computes wrong numbers."""
    if "llvmpipe" not in get_device(vulkan).description:
        pytest.skip("needs Mesa's lavapipe")
    ampere = replace(manifest, target="vulkan:ampere", architecture="ampere")
    path = artifact.save(tmp_path / "program.vmfb", artifact.Contents(portable.vmfb, ampere))
    assert "a vulkan:lavapipe" in refusal(path, vulkan)
    assert "the numbers would be wrong" in refusal(path, vulkan)


def test_a_vulkan_program_goes_through_a_file(
    tmp_path: Path, programs_text: bytes, manifest: Manifest, vulkan: str
) -> None:
    target = parse_target("vulkan")
    vmfb = compile_bytecode(programs_text, target).vmfb
    made = make_manifest(manifest.functions, target)
    loaded = artifact.load(artifact.save(tmp_path / "program.vmfb", artifact.Contents(vmfb, made)))
    assert loaded.device.name == vulkan
    assert loaded.executable.call("add", [ONES, ONES])[0].tolist() == [2, 2, 2, 2]


def test_the_device_of_the_environment(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_DEVICE", "local-task")
    assert artifact.load(saved).device.name == "local-task"
    monkeypatch.setenv("ADZE_DEVICE", "vulkan")  # of another kind: this program is not for it
    assert artifact.load(saved).device.kind.value == "cpu"
    monkeypatch.setenv("ADZE_DEVICE", "abacus")
    with pytest.raises(DeviceError, match="unknown device 'abacus'"):
        artifact.load(saved)
