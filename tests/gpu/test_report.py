"""The report of a GPU: what it counts, draws and writes, without a GPU."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adze import ShapeDtype
from adze.frontend.report.gpus import CheckedProduct, GpuCheck, Peak
from adze.frontend.tree import leaves
from adze.runtime.execute.gpu_drivers import Absence, GpuFacts

from . import report, report_parts
from .fake_cuda import needs_compiler, on_ptx_machine
from .programs import PROGRAMS, Program
from .report_benchmarks import Benchmarks
from .tally import Tally

FACTS = GpuCheck(
    "vulkan:0",
    "a device",
    GpuFacts(driver="a driver 1.2", memory=2 << 30),
    Peak(1e12, "measured"),
    Peak(1e11, "measured"),
    (),
).to_json()


def product_part(error: float, seconds: float | None = 1e-3) -> dict[str, Any]:
    return {"products": [CheckedProduct(512, "float32", error, seconds).to_json()], "failures": []}


def program_part(seconds: float | None = 4e-3) -> dict[str, Any]:
    return {"seconds": seconds, "flops": 1e9, "bytes": 1e6, "difference": 1e-6}


def test_every_program_of_the_report_has_arguments() -> None:
    assert len(set(report.TEN)) == 10
    for name in report.TEN:
        for program in (PROGRAMS[name], report.TEN[name]):
            drawn = report_parts.drawn(program)
            shapes = [leaf.shape for leaf in leaves(drawn)]
            assert shapes == [spec.shape for spec in leaves(program.specs)], name
    gathered = report_parts.drawn(PROGRAMS["gather_f32"])
    assert gathered[1].min() >= 0 and gathered[1].max() < 4096


def test_the_page_says_what_was_seen() -> None:
    page = report.Page("vulkan:0", FACTS)
    page.products = {"product float32": product_part(1e-6), "product float16": product_part(1.0)}
    page.programs = {"product_f32": program_part()}
    page.suites = {"a": report.Suite(Tally(3, 1, {"tests/b.py::c": "it | is\nwrong"}))}
    lines = page.lines()
    assert "| driver | a driver 1.2 |" in lines and "| memory | 2.0 GiB, 100 GB/s (measured) |" in lines
    assert "| product float32 | 512 x 512: right; 268.4 Gflop/s, 27% of the peak in float32 |" in lines
    assert any("512 x 512: WRONG (off by 1)" in line for line in lines)
    assert "| product_f32 | 4 | 1 | arithmetic | 25.0% | 1e-06 |" in lines
    assert "| a | 3 | 1 | 1 |  |" in lines and "* `tests/b.py::c`: it / is wrong" in lines
    assert not page.is_right


def test_the_page_says_what_failed() -> None:
    page = report.Page("cuda:0", report.Failure("no such device"))
    page.products = {"product float32": product_part(0.0, None), "product float16": report.Failure("lost")}
    page.programs = {"sum_f32": report.Failure("no such code"), "cumsum_f32": program_part()}
    page.programs["sort_f32"] = program_part(None)
    page.suites = {"a": report.Suite(Tally(3, 1, {}), "stopped after 5 s")}
    lines = page.lines()
    assert "| device | cuda:0: FAILED: no such device |" in lines
    assert "| product float32 | 512 x 512: right; not timed |" in lines
    assert "| product float16 | FAILED: lost |" in lines
    assert "| sum_f32 | does not run: no such code | | | | |" in lines
    assert "| cumsum_f32 | 4 | not known |  |  | 1e-06 |" in lines
    assert "| sort_f32 | not timed | not known |  |  | 1e-06 |" in lines
    assert "| a | 3 | 0 | 1 | stopped after 5 s |" in lines
    assert "left out" in report.table_of_suites(None)[1]


def test_a_page_without_failures_is_right() -> None:
    page = report.Page("cuda:0", FACTS, {"product float32": product_part(0.0)}, {"sum_f32": program_part()})
    assert page.is_right
    page.suites = {"a": report.Suite(Tally(3), "pytest ended with 2")}
    assert not page.is_right


@pytest.mark.parametrize(
    ("part", "seconds", "reason"),
    [
        ("product float32", 100, "its process ended with 1: DeviceError: there is no device 'cuda:9'"),
        ("no such program", 100, "its process ended with 1: KeyError: 'no such program'"),
        ("facts", 0.01, "it had not ended after 0 s"),
    ],
)
def test_a_part_that_fails_says_why(part: str, seconds: float, reason: str) -> None:
    failure = report.attempt("cuda:9", part, small=True, seconds=seconds)
    assert isinstance(failure, report.Failure) and failure.reason.startswith(reason)


def test_parts_are_written_as_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever becomes of one, the next ones run."""
    seen: list[str] = []

    def attempt(device: str, part: str, *, small: bool, seconds: float) -> Any:
        seen.append(part)
        return report.Failure("lost")

    monkeypatch.setattr(report, "attempt", attempt)
    monkeypatch.setattr(report, "suite", lambda arguments, options: report.Suite(Tally(1)))
    monkeypatch.setattr(report, "measured", lambda device, seconds, **_: Benchmarks((), {}, "stopped"))
    page, sizes = report.Page("cuda:0"), []
    options = argparse.Namespace(small=True, part_seconds=1, suite_seconds=1)
    report.fill(page, options, lambda: sizes.append(len(page.lines())))
    assert seen == ["facts", *report.PRODUCTS, *report.TEN]
    assert sizes == sorted(sizes) and len(sizes) == 1 + len(report.PRODUCTS) + 10 + 1 + len(report.SUITES)


BENCHMARKS = Benchmarks(
    (
        {
            "case": "a | b",
            "times": {"adze": {"wall": 1e-3}, "jax": {"wall": 2e-3}},
            "errors": {"numpy": "has no such function"},
            "kernel_seconds": 5e-4,
        },
    ),
    {"jax": "0.10", "jax on": "cuda"},
)


def test_the_page_has_the_benchmarks() -> None:
    page = report.Page("cuda:0", FACTS, benchmarks=BENCHMARKS)
    lines = page.lines()
    assert "| a / b | 1 | 0.5 | 2 |  |  |" in lines and any("JAX: 0.10, on cuda" in line for line in lines)
    assert page.is_right
    wrong = {**BENCHMARKS.rows[0], "errors": {"results": "adze agrees with no other"}, "kernel_seconds": None}
    page.benchmarks = Benchmarks((wrong,), {}, "stopped after 3 s")
    assert not page.is_right
    assert "| stopped after 3 s | | | | | |" in page.lines()
    assert "| a / b | 1 |  | 2 |  | results: adze agrees with no other |" in page.lines()
    page.benchmarks = Benchmarks((), {}, "stopped after 5 s")
    assert "No case of the benchmarks was measured: stopped after 5 s." in page.lines()


@pytest.mark.parametrize(("is_imitated", "limited_is_right"), [(False, False), (True, True)])
def test_only_a_gpu_has_to_end_a_benchmark_in_time(is_imitated: bool, limited_is_right: bool) -> None:
    late = {"case": "rows", "times": {}, "errors": {"limit": "no answer in 90 s"}}
    crashed = {"case": "rows", "times": {}, "errors": {"run": "process ended: -11"}}
    wrong = {"case": "rows", "times": {}, "errors": {"limit": "no answer in 90 s", "results": "differ"}}
    page = report.Page("vulkan:0", FACTS)
    large = {"case": "sums", "times": {}, "errors": {"adze": "adze: lavapipe would leave out some of them"}}
    page.benchmarks = Benchmarks((late, large), {}, is_imitated=is_imitated)
    assert page.is_right == limited_is_right
    assert "| rows |  |  |  |  | limit: no answer in 90 s |" in page.lines()
    assert any("is no failure." in line for line in page.lines()) == is_imitated
    for row in (crashed, wrong):
        page.benchmarks = Benchmarks((late, row), {}, is_imitated=is_imitated)
        assert not page.is_right


def test_a_processor_is_known_by_what_its_driver_says() -> None:
    lavapipe = {**FACTS, "description": "llvmpipe (LLVM 15.0.6, 256 bits)"}
    assert report.Page("vulkan:0", lavapipe).is_imitated
    assert not report.Page("vulkan:0", FACTS).is_imitated
    assert not report.Page("vulkan:0", report.Failure("lost")).is_imitated


CRASHING = """
import os
import time

import pytest

def test_right() -> None: pass

def test_wrong() -> None:
    assert 1 == 2, "one is " + "| two"

def test_skipped() -> None: pytest.skip("so")

def test_crash() -> None: os.abort()

@pytest.fixture
def broken() -> None: raise ValueError("no device")

def test_without_device(broken: None) -> None: pass

def test_hangs() -> None: time.sleep(1000)
"""


@pytest.mark.thorough
def test_a_suite_that_crashes_and_hangs_leaves_its_counts(tmp_path: Path) -> None:
    (tmp_path / "test_crashing.py").write_text(CRASHING)
    options = argparse.Namespace(jobs=1, suite_seconds=25)
    seen = report.suite(["-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)], options)
    assert seen.end == "stopped after 25 s"
    assert (seen.tally.passed, seen.tally.skipped) == (1, 1)
    said = {test.partition("::")[2]: reason for test, reason in seen.tally.failed.items()}
    assert sorted(said) == ["test_crash", "test_without_device", "test_wrong"]
    assert "no device" in said["test_without_device"] and "one is | two" in said["test_wrong"]
    assert "crashed" in said["test_crash"]


def test_a_machine_without_gpus_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "list_devices", list)
    monkeypatch.setattr(report, "absence", lambda driver: Absence(f"{driver} is missing", "get it"))
    with pytest.raises(SystemExit, match="there is no GPU here\ncuda: cuda is missing; get it\nvulkan: "):
        report.default_device()
    with pytest.raises(SystemExit, match="no GPU 'cuda:1' here: cuda is missing; get it; there are: none"):
        report.present_device("cuda:1")
    with pytest.raises(SystemExit, match="no GPU 'metal' here; there are: none"):
        report.present_device("metal")


DOCTOR = """
from adze.cli.doctor import examine_gpus

rows, problems = examine_gpus(small=True)
row = rows[-1]  # those before it are of drivers that are not here
said["products"] = [(each["size"], each["dtype"], each["is_right"]) for each in row["products"]]
said["problems"] = problems
"""

LOST = """
from adze.cli.doctor import examine_gpus

rows, said["problems"] = examine_gpus(small=True)
row = rows[-1]
said["products"] = [(each["dtype"], each["is_right"], each["flops"]) for each in row["products"]]
said["failures"] = row["failures"]
print(json.dumps(said), flush=True)
os._exit(0)  # a thread of IREE may crash where a process ends whose device is lost
"""


@pytest.mark.gpu
@needs_compiler
def test_the_doctor_says_what_it_saw_of_a_gpu_that_is_lost_half_way() -> None:
    said = on_ptx_machine(LOST, devices=1, lost=2)
    assert said["products"] == [["float32", True, None]]  # right, and lost when it was timed
    [failure] = said["failures"]
    assert failure.startswith("product of float16: ") and "CUDA_ERROR_ILLEGAL_ADDRESS" in failure
    assert said["problems"] == [f"cuda:0: {failure}"]


REPORT = """
import sys
from tests.gpu import report

sys.argv[1:] = ["--small", "--programs-only", "--output", os.environ["FAKE_CUDA_PAGE"]]
report.main()
"""


@pytest.mark.gpu
@needs_compiler
def test_products_of_the_doctor_are_right_where_a_gpu_is_imitated() -> None:
    said = on_ptx_machine(DOCTOR, devices=1)
    assert said == {"products": [[64, "float32", True], [64, "float16", True]], "problems": []}


@pytest.mark.gpu
@pytest.mark.thorough
@needs_compiler
def test_the_report_is_written_where_a_gpu_is_imitated(tmp_path: Path) -> None:
    on_ptx_machine(REPORT, devices=1, page=str(tmp_path / "page.md"))
    page = (tmp_path / "page.md").read_text()
    rows = dict(re.findall(r"^\| (\w+) \| .* \| ([^|]+) \|$", page, re.M))
    assert "does not run" not in page and "WRONG" not in page
    assert {name: float(rows[name]) < 5e-3 for name in report.TEN} == dict.fromkeys(report.TEN, True)


def test_a_program_is_compared_with_the_cpu() -> None:
    """The CPU in place of the GPU, whose profiler is IREE's own too."""
    small = Program(lambda x, y: x @ y, (ShapeDtype((64, 64), np.float32),) * 2)
    ran = report_parts.ran(small, "local-sync")
    assert ran["difference"] == 0 and ran["flops"] == 2 * 64**3 and ran["bytes"] == 3 * 4 * 64**2
    assert ran["seconds"] > 0


def test_differences_see_what_is_no_number() -> None:
    x = np.array([1, np.nan, np.inf, 2], np.float32)
    assert report_parts.difference(x, x) == 0
    assert report_parts.difference(np.array([1, np.nan]), np.array([1, 2.0])) == np.inf
    assert report_parts.difference(np.array([1, 2.5]), np.array([1, 2.0])) == 0.25
    assert report_parts.difference(np.zeros((0, 3)), np.zeros((0, 3))) == 0
