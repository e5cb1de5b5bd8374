"""The report of a GPU: what it counts, draws and writes, without a GPU."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from adze import ShapeDtype
from adze.frontend.report.gpus import CheckedProduct, GpuCheck, Peak
from adze.runtime.execute.gpu_drivers import Absence, GpuFacts

from . import report
from .fake_cuda import needs_compiler, on_ptx_machine
from .programs import PROGRAMS, Program

SEEN = GpuCheck(
    "vulkan:0",
    "a device",
    GpuFacts(driver="a driver 1.2", memory=2 << 30),
    Peak(1e12, "measured"),
    Peak(1e11, "measured"),
    (CheckedProduct(512, "float32", 1e-6, 1e-3), CheckedProduct(512, "float16", 1.0, 1e-3)),
)

JUNIT = """<testsuites><testsuite tests="7" failures="1" errors="1" skipped="2"/></testsuites>"""


def test_tests_are_counted() -> None:
    assert report.counts_in(JUNIT) == (3, 2, 2)


def test_every_program_of_the_report_has_arguments() -> None:
    assert len(set(report.TEN)) == 10
    for name in report.TEN:
        for program in (PROGRAMS[name], report.TEN[name]):
            drawn = report.drawn(program)
            shapes = [leaf.shape for leaf in report.leaves(drawn)]
            assert shapes == [spec.shape for spec in report.leaves(program.specs)], name
    gathered = report.drawn(PROGRAMS["gather_f32"])
    assert gathered[1].min() >= 0 and gathered[1].max() < 4096


def test_the_page_says_what_was_seen() -> None:
    lines = "\n".join(report.heading(SEEN))
    assert "| driver | a driver 1.2 |" in lines and "| memory | 2.0 GiB, 100 GB/s (measured) |" in lines
    assert "right; 268.4 Gflop/s, 27% of the peak in float32 |" in lines
    assert "product of float16, 512 x 512 | WRONG (off by 1)" in lines
    ran = report.Ran("product_f32", 4e-3, 1e-3, "arithmetic", 1e-6)
    rows = report.table_of_programs([ran, ("sum_f32", "no such code")])
    assert "| product_f32 | 4 | 1 | arithmetic | 25.0% | 1e-06 |" in rows
    assert "| sum_f32 | does not run: no such code | | | | |" in rows
    assert "| a | 3 | 2 | 1 |" in report.table_of_counts({"a": (3, 2, 1)})
    assert "left out" in report.table_of_counts({})[1]


def test_a_machine_without_gpus_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "list_devices", list)
    monkeypatch.setattr(report, "absence", lambda driver: Absence(f"{driver} is missing", "get it"))
    with pytest.raises(SystemExit, match="there is no GPU here\ncuda: cuda is missing; get it\nvulkan: "):
        report.default_device()


DOCTOR = """
from adze.cli.doctor import examine_gpus

rows, problems = examine_gpus(small=True)
row = rows[-1]  # those before it are of drivers that are not here
said["products"] = [(each["size"], each["dtype"], each["is_right"]) for each in row["products"]]
said["problems"] = problems
"""

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
    cpu = GpuCheck("local-sync", "", GpuFacts(None, None), Peak(1e9, ""), Peak(1e9, ""), ())
    small = Program(lambda x, y: x @ y, (ShapeDtype((64, 64), np.float32),) * 2)
    ran = report.ran("product", small, cpu)
    assert ran.difference == 0 and ran.bound == "arithmetic" and ran.least_seconds == 2 * 64**3 / 1e9
    assert ran.seconds > 0
