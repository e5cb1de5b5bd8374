"""Times of CUDA's kernels by CUPTI, on a driver and a CUPTI without GPUs (`fake_cuda.c`, `fake_cupti.c`)."""

from __future__ import annotations

from .fake_cuda import needs_compiler, on_fake_cuda, on_ptx_machine

pytestmark = [needs_compiler]

RECORDED = """
from adze.frontend.report.gpus import Subject, checked_product
from adze.runtime.measure import cupti, profiles

x = np.ones((64, 64), np.float32)
subject = Subject.of(lambda x: (x @ x, x.sum()), [x], "cuda:1")
said["works"] = [cupti.works(), profiles.has_profiles("cuda:1")]
events = profiles.record(subject.program.vmfb, "cuda:1", subject.function.signature.name, [x], 3)
said["kinds"] = sorted({event.kind for event in events})
said["order"] = [event.start for event in events] == sorted(event.start for event in events)
said["first"] = events[0].start
table = profiles.kernels(events)
said["runs"] = [[kernel.runs, kernel.time > 0, len(kernel.workgroups)] for kernel in table]
said["names"] = len({kernel.name for kernel in table})
said["seconds"] = 0 < subject.seconds() < 1
wrong = np.ones(3, np.uint32)
counted = Subject.of(lambda x: x + 1, [wrong], "cuda:0")  # IREE's declarations know no signs
name = counted.function.signature.name
said["unsigned"] = len(profiles.record(counted.program.vmfb, "cuda:0", name, [wrong], 4))
"""


def test_kernels_are_timed_by_the_device() -> None:
    said = on_fake_cuda(RECORDED, "cupti")
    assert said["works"] == [True, True] and said["kinds"] == ["dispatch"] and said["order"]
    assert said["first"] == 0 and said["seconds"]
    assert said["runs"] and all(run == [3, True, 3] for run in said["runs"])
    assert said["names"] == len(said["runs"])
    assert said["unsigned"] == 4


REFUSED = """
from adze.frontend.report.gpus import Subject
from adze.runtime.measure import profiles

x = np.ones(64, np.float32)
subject = Subject.of(lambda x: x + x, [x], "cuda:0")
said["has"] = profiles.has_profiles("cuda:0")
attempt("record", lambda: len(profiles.record(subject.program.vmfb, "cuda:0", "lambda", [x], 3)))
said["seconds"] = subject.seconds() > 0
"""


def test_without_permission_calls_are_timed_by_the_host() -> None:
    said = on_fake_cuda(f'os.environ["FAKE_CUPTI_ENABLE"] = "35"\n{REFUSED}', "cupti")
    assert said["has"] is False and said["seconds"]
    kind, message, hint = said["record"]
    assert kind == "DeviceError" and "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)" in message
    assert "NVreg_RestrictProfilingToAdminUsers" in hint


def test_without_cupti_the_error_names_the_package() -> None:
    said = on_fake_cuda(f"from adze.runtime.measure import cupti\ncupti._library = lambda: None\n{REFUSED}")
    assert said["has"] is False and said["seconds"]
    assert said["record"][1].startswith("the kernels of CUDA are timed by NVIDIA's CUPTI, which is not here")
    assert "nvidia-cuda-cupti" in said["record"][2]


CHECKED = """
from adze.cli.doctor import examine_gpus

rows, problems = examine_gpus(small=True)
said["clock"], said["problems"] = rows[-1]["clock"], problems
said["flops"] = [each["flops"] > 0 for each in rows[-1]["products"]]
"""


def test_the_doctor_says_whose_clock_it_was() -> None:
    said = on_ptx_machine(CHECKED, "cupti", devices=1)
    assert said == {"clock": "the device's clock", "problems": [], "flops": [True, True]}
