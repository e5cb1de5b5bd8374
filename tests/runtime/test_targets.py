"""Targets: what their text means, and that IREE compiles for each kind of them."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import zipfile
from io import BytesIO

import numpy as np
import pytest

import adze
import adze.numpy as anp
import adze.runtime.cpu as runtime_cpu
from adze.runtime import targets
from adze.runtime.compile.compiler import CompileOptions, compile_bytecode
from adze.runtime.cpu import ARM_MODELS, X86_MODELS, HostCpu, host_cpu, parse_cpuinfo
from adze.runtime.errors import TargetError
from adze.runtime.targets import TargetKind, parse_target, target_names

SMALL = b"""
#id = affine_map<(d0) -> (d0)>
func.func @half(%a: tensor<64xf16>) -> tensor<64xf16> {
  %e = tensor.empty() : tensor<64xf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<64xf16>) outs(%e : tensor<64xf16>) {
  ^bb0(%x: f16, %z: f16):
    %s = arith.mulf %x, %x : f16
    linalg.yield %s : f16
  } -> tensor<64xf16>
  return %r : tensor<64xf16>
}
"""


def test_cpu_is_this_very_machine() -> None:
    target = parse_target("cpu")
    assert target.name == "cpu"
    assert target.is_host
    assert target.fingerprint == host_cpu().fingerprint != ""
    model = host_cpu().known_model
    own = targets._cpu_flags(model) if model else ("--iree-llvmcpu-target-cpu=host",)
    assert target.flags[-len(own) :] == own
    assert target == parse_target("cpu:host") == parse_target(target)


@pytest.mark.parametrize(
    ("text", "architecture", "vector_bits"),
    [
        ("cpu:generic", "x86_64", 128),
        ("cpu:x86-64-v2", "x86_64", 128),
        ("cpu:x86-64-v3", "x86_64", 256),
        ("cpu:x86-64-v4", "x86_64", 512),
        ("cpu:znver4", "x86_64", 512),
        ("cpu:aarch64", "aarch64", 128),
        ("cpu:aarch64:neoverse-v1", "aarch64", 128),
        ("cpu:riscv64", "riscv64", 128),
    ],
)
def test_named_cpus_do_not_depend_on_the_machine(text: str, architecture: str, vector_bits: int) -> None:
    target = parse_target(text)
    assert (target.name, target.kind, target.fingerprint) == (text, TargetKind.CPU, "")
    assert (target.architecture, target.vector_bits) == (architecture, vector_bits)
    assert any(flag.startswith(f"--iree-llvmcpu-target-triple={architecture}") for flag in target.flags)
    assert not target.native_f64_math
    assert target.flushes_subnormals == (architecture != "riscv64")


def test_each_x86_level_needs_all_of_the_one_below() -> None:
    levels = [set(X86_MODELS[f"x86-64{level}"].required_features) for level in ("", "-v2", "-v3", "-v4")]
    assert all(below < above for below, above in itertools.pairwise(levels))


def test_adreno_has_no_wide_types() -> None:
    assert parse_target("vulkan:adreno").missing_dtypes == ("f64", "complex<f64>", "i64", "ui64")
    assert parse_target("vulkan:ampere").missing_dtypes == ()


def test_cuda_computes_f64_math_itself_and_defaults_to_portable_ptx() -> None:
    assert parse_target("cuda").name == "cuda:sm_80"
    assert parse_target("cuda:sm_90").native_f64_math


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "tpu",
            "unknown target 'tpu': expected cpu, vulkan, cuda or rocm, each optionally with a detail after a "
            "colon, or metal",
        ),
        ("", "unknown target '': expected cpu, vulkan, cuda or rocm"),
        ("rocm:gfx1", "unknown ROCm architecture 'gfx1' in target 'rocm:gfx1': expected one of gfx942, "),
        ("metal:m1", "unknown target 'metal:m1': the target metal has no details"),
        ("cpu:zenver5", "unknown CPU 'zenver5' in target 'cpu:zenver5': expected one of generic, x86-64, "),
        (
            "vulkan:foo",
            "unknown Vulkan architecture 'foo' in target 'vulkan:foo': expected one of lavapipe, ",
        ),
        (
            "cuda:sm_75",
            "unknown CUDA architecture 'sm_75' in target 'cuda:sm_75': expected one of sm_80, sm_86, sm_89, "
            "sm_90\n  hint: PTX for sm_80 also runs on every newer GPU",
        ),
    ],
)
def test_an_unknown_target_lists_the_legal_ones(text: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(text)
    assert str(caught.value).startswith(message)


def test_vulkan_without_a_device_asks_for_the_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adze.runtime.execute.devices._driver_devices", lambda driver: [])
    with pytest.raises(TargetError, match="this machine's own Vulkan device, and none was found here"):
        parse_target("vulkan")


def test_every_listed_target_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    lavapipe = [{"name": "llvmpipe (LLVM 15.0.6, 256 bits)"}]
    monkeypatch.setattr("adze.runtime.execute.devices._driver_devices", lambda driver: lavapipe)
    names = target_names()
    assert len(set(names)) == len(names) > 40
    assert parse_target("vulkan").name == "vulkan:lavapipe"
    assert all(parse_target(name).flags for name in names)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "text",
    [
        "cpu:aarch64:neoverse-n2",
        "cpu:riscv64:generic-rv64-v",
        "vulkan:lavapipe",
        "vulkan:adreno",
        "vulkan:rdna3",
    ],
)
def test_iree_compiles_for_machines_that_are_not_here(text: str) -> None:
    assert compile_bytecode(SMALL, parse_target(text)).vmfb


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_cuda_programs_carry_ptx_for_their_architecture(architecture: str) -> None:
    vmfb = compile_bytecode(SMALL, parse_target(f"cuda:{architecture}")).vmfb
    with zipfile.ZipFile(BytesIO(vmfb)) as archive:
        contents = b"".join(archive.read(name) for name in archive.namelist())
    assert f".target {architecture}".encode() in contents
    assert re.search(rb"mul(\.rn)?\.f16", contents)


@pytest.mark.thorough
def test_every_named_cpu_is_known_to_iree() -> None:
    """A name that LLVM does not know ends the process: so this is tried in another one."""
    script = (
        "from adze.runtime.targets import parse_target, target_names\n"
        "from iree.compiler import api\n"
        "import ctypes, sys\n"
        "small = sys.stdin.buffer.read()\n"
        "from iree.compiler.api import ctypes_dl\n"
        "to_phase = ctypes_dl._dylib.ireeCompilerInvocationSetCompileToPhase\n"
        "to_phase.restype, to_phase.argtypes = None, [ctypes.c_void_p, ctypes.c_char_p]\n"
        "for name in target_names():\n"
        "    if name == 'vulkan': continue\n"
        "    session = api.Session(); session.set_flags(*parse_target(name).flags)\n"
        "    run = session.invocation()\n"
        "    to_phase(run._inv_p, b'stream')\n"
        "    run.parse_source(api.Source.wrap_buffer(session, small))\n"
        "    assert run.execute(), name\n"
        "    session.close()\n"
        "print('all known')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=SMALL, capture_output=True, timeout=100, check=False
    )
    assert done.stdout.strip() == b"all known", done.stderr


def test_cpuinfo_of_x86_is_read() -> None:
    cpu = parse_cpuinfo(
        "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nstepping : 4\n"
        "flags : fpu sse4_2 avx avx2 avx512f\n\nprocessor : 1\nvendor_id : Other\n",
        "x86_64",
    )
    assert cpu.model == "GenuineIntel-6-85-4"
    assert cpu.vector_bits == 512
    assert cpu.codegen_features == ("avx", "avx2", "avx512f", "sse4_2")
    assert cpu.missing(("avx", "avx512_fp16")) == ("avx512_fp16",)
    assert cpu.has_quick_gathers
    assert not parse_cpuinfo("vendor_id : AuthenticAMD\nflags : avx2 avx512f\n", "x86_64").has_quick_gathers
    assert not parse_cpuinfo("vendor_id : GenuineIntel\nflags : avx2\n", "x86_64").has_quick_gathers


@pytest.mark.parametrize(
    ("vendor", "family", "missing", "model"),
    [
        ("AuthenticAMD", 25, "", "znver4"),
        ("AuthenticAMD", 25, "avx512_bf16", None),  # Zen 3, or a machine that hides some
        ("AuthenticAMD", 26, "", "znver5"),
        ("AuthenticAMD", 23, "", None),
        ("GenuineIntel", 6, "", None),
    ],
)
def test_models_that_gather_slowly_are_known(
    vendor: str, family: int, missing: str, model: str | None
) -> None:
    features = set(X86_MODELS["znver5"].required_features) - {missing}
    text = f"vendor_id : {vendor}\ncpu family : {family}\nmodel : 17\nflags : {' '.join(features)}\n"
    found = parse_cpuinfo(text, "x86_64").known_model
    assert found == (X86_MODELS[model] if model else None)


@pytest.mark.parametrize(
    ("name", "gathers"),
    [("x86-64-v4", False), ("znver4", False), ("znver5", False), ("skylake-avx512", True), ("haswell", None)],
)
def test_gathers_are_for_processors_that_are_quick_at_them(name: str, gathers: bool | None) -> None:
    target = parse_target(f"cpu:{name}")
    asked = "--iree-llvmcpu-target-cpu-features=+prefer-no-gather,+prefer-no-scatter" in target.flags
    assert (target.has_quick_gathers, asked) == (bool(gathers), gathers is False)


FEATURES = "--iree-llvmcpu-target-cpu-features="
ARM_INFO = "processor : 0\nFeatures : {}\nCPU implementer : {}\nCPU part : {}\n"
V8_2 = "fp asimd atomics fphp asimdhp asimdrdm asimddp"


@pytest.mark.parametrize("name", [name for name in ARM_MODELS if name != "generic"])
def test_float16_is_computed_in_float32_on_arm(name: str) -> None:
    """Its own instructions take numbers below 6e-5 for zeros in the mode that IREE's runtime sets."""
    flags, features = parse_target(f"cpu:aarch64:{name}").flags, ARM_MODELS[name].required_features
    expected = ["-fullfp16"] if "asimdhp" in features else []
    if "sve" in features:
        expected = ["+bf16,+i8mm,-fullfp16"]
    assert [flag.removeprefix(FEATURES) for flag in flags if flag.startswith(FEATURES)] == expected


@pytest.mark.parametrize("name", ["neoverse-v1", "neoverse-v2", "neoverse-n2"])
def test_iree_does_not_hear_of_scalable_vectors(name: str) -> None:
    """With them this compile took all memory of the machine."""
    target = parse_target(f"cpu:aarch64:{name}")
    assert "sve" in target.required_features
    assert "--iree-llvmcpu-target-cpu=neoverse-n1" in target.flags


def test_a_product_for_a_processor_with_scalable_vectors_compiles() -> None:
    x, y = np.ones((2, 3, 4)), np.ones((3, 2, 5))
    program = adze.trace(lambda x, y: anp.tensordot(x, y, ((0, 1), (1, 0))), x, y)
    assert program.lower("cpu:aarch64:neoverse-v1").compile().vmfb


@pytest.mark.parametrize(
    ("features", "implementer", "part", "model", "asked"),
    [
        (V8_2, "0x41", "0xd0c", "neoverse-n1", "-fullfp16"),
        ("fp asimd", "0x41", "0xd0c", "generic", None),  # a machine that hides what it has
        ("fp asimd", "0x41", "0xd08", "cortex-a72", None),
        (V8_2, "0x61", "0x022", "generic", "+dotprod,+lse"),
        (f"{V8_2} sve bf16 i8mm", "0x48", "0xd06", "generic", "+dotprod,+lse,+bf16,+i8mm"),
    ],
)
def test_hosts_of_arm_get_what_they_have(
    monkeypatch: pytest.MonkeyPatch, features: str, implementer: str, part: str, model: str, asked: str | None
) -> None:
    cpu = parse_cpuinfo(ARM_INFO.format(features, implementer, part), "aarch64")
    monkeypatch.setattr(targets, "host_cpu", lambda: cpu)
    target = parse_target("cpu")
    assert (target.architecture, target.vector_bits, target.is_host) == ("aarch64", 128, True)
    assert f"--iree-llvmcpu-target-cpu={model}" in target.flags
    stated = [flag.removeprefix(FEATURES) for flag in target.flags if flag.startswith(FEATURES)]
    assert stated == ([] if asked is None else [asked])


def test_a_mac_with_apples_processor_is_at_least_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert HostCpu("aarch64", "arm", None).known_model == ARM_MODELS["apple-m1"]


def test_cpuinfo_of_riscv_is_read() -> None:
    cpu = parse_cpuinfo("processor : 0\nisa : rv64imafdcv_zicsr\nuarch : sifive,p670\n", "riscv64")
    assert cpu.model == "sifive,p670"
    assert cpu.codegen_features == ("v",)


def test_an_untold_processor_misses_nothing() -> None:
    assert HostCpu("aarch64", "Apple M1", None).missing(("sve",)) == ()


def test_fingerprints_differ_where_the_features_do() -> None:
    one = HostCpu("x86_64", "same", frozenset({"avx2"}))
    other = HostCpu("x86_64", "same", frozenset({"avx2", "avx512f"}))
    cosmetic = HostCpu("x86_64", "same", frozenset({"avx2", "constant_tsc"}))
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == cosmetic.fingerprint


def test_options_never_let_iree_change_types() -> None:
    flags = CompileOptions().flags()
    for kind in ("demote-f64-to-f32", "demote-i64-to-i32", "demote-f32-to-f16", "promote-bf16-to-f32"):
        assert f"--iree-input-{kind}=false" in flags


@pytest.mark.parametrize("text", ["cpu:", "vulkan:", "cuda:", " cpu: "])
def test_a_colon_without_a_detail_is_refused(text: str) -> None:
    with pytest.raises(TargetError, match="ends with a colon: expected a detail after it"):
        parse_target(text)


@pytest.mark.parametrize("is_allowed", [True, False])
def test_tiles_that_linux_refuses_are_no_feature(is_allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc/cpuinfo names them all the same, and the first instruction would end the process."""
    with_tiles = HostCpu("x86_64", "any", frozenset({"avx2", "amx_tile", "amx_int8"}))
    monkeypatch.setattr(runtime_cpu, "parse_cpuinfo", lambda text, architecture: with_tiles)
    monkeypatch.setattr(runtime_cpu, "may_use_tiles", lambda: is_allowed)
    found = host_cpu.__wrapped__()
    assert found.codegen_features == (("amx_int8", "amx_tile", "avx2") if is_allowed else ("avx2",))
