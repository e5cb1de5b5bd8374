"""Measures adze beside JAX and NumPy, by families of cases.

Input: families, words in the names of cases, how long to measure, how many threads, NPBench's sources.
Output: a line a case, then a summary by family; with `--json`, a file of everything. The exit status is 1 if
a library failed or results differ.

One process measures all libraries in interleaved bursts. A case that takes longer than `--timeout` is ended
together with its process, and the next cases run in a new one, as they do where a case has lost the device.

    python benchmarks/run.py --family loops,irregular
    python benchmarks/run.py --case sort,cholesky --threads 1 --clock cpu --json result.json
    python benchmarks/run.py --family nets --device cuda
    python benchmarks/run.py --npbench ../npbench --family npbench_S
"""

import argparse
import json
import os
import re
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

from _device import add_device_option, checked_device, environment_for, jax_place
from _measure import circumstances
from _report import Row, row_line, summary
from _worker import registry

AVX2 = "cpu:x86-64-v3"
WITHOUT_AVX512 = {
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # of JAX's products of matrices
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
}
# The kernels of YNN take what the processor has, whatever they are told.
XLA_WITHOUT_AVX512 = ("--xla_cpu_max_isa=AVX2", "--xla_cpu_experimental_ynn_fusion_type=")
START_SECONDS = 120.0
WORKER = Path(__file__).with_name("_worker.py")
# The commas of "saxpy 40,000" belong to the number.
_SEPARATOR = re.compile(r"(?<!\d),|,(?!\d{3})")


def main() -> int:
    options = parsed()
    chosen = chosen_cases(options)
    if not chosen:
        print("no case has these words in its name; --list prints all cases", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(f"{family}: {case}" for family, case in chosen))
        return 0
    places = {"device": options.device, "jax on": jax_place(options.device)}
    facts = {**circumstances(), **places, "threads": str(threads(options)), "clock": options.clock}
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    heading = "".join(f"{text:>11}" for text in ("adze ms", "jax ms", "numpy ms"))
    print(f"{'case':<58}{heading}{'jax/':>9}{'numpy/':>9}")
    rows: list[Row] = []
    with Workers(options) as workers:
        for family, case in chosen:
            rows.append(workers.measured(family, case))
            print(row_line(rows[-1], options.clock), flush=True)
            if options.json:
                write(options.json, facts, rows)
    print("\n".join(summary(rows, options.clock)))
    return 1 if any(row["errors"] for row in rows) else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="adze beside JAX and NumPy")
    add_device_option(parser)
    parser.add_argument("--family", default="", help="comma separated; all families if empty")
    parser.add_argument(
        "--case", default="", help="words, comma separated: the cases with one of them in the name"
    )
    parser.add_argument("--quick", action="store_true", help="only the cases of `make bench-quick`")
    parser.add_argument("--seconds", type=float, default=0.6, help="time for each library in each case")
    parser.add_argument("--timeout", type=float, default=90.0, help="seconds after which a case is ended")
    parser.add_argument("--threads", type=int, default=0, help="processors to run on; 0 for all")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="the time that ratios use")
    parser.add_argument(
        "--avx2", action="store_true", help="code for x86-64-v3, whatever this processor has besides"
    )
    parser.add_argument(
        "--npbench", type=Path, help="a checkout of NPBench, for the families `npbench_S` and `npbench_M`"
    )
    parser.add_argument("--json", type=Path, help="a file for the results")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    options = parser.parse_args()
    if options.npbench is not None and not (options.npbench / "bench_info").is_dir():
        parser.error(f"--npbench {options.npbench}: expected a folder that contains bench_info")
    options.device = checked_device(parser, options.device)
    return options


def chosen_cases(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The family and name of each case that the options choose."""
    families = registry(options.npbench)
    wanted = [word.strip() for word in options.family.split(",") if word.strip()]
    unknown = sorted(set(wanted) - set(families))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; families: {', '.join(families)}", file=sys.stderr)
        return []
    words = [word.strip().lower() for word in _SEPARATOR.split(options.case) if word.strip()]
    return [
        (family, case.name)
        for family, cases in families.items()
        for case in cases
        if (not wanted or family in wanted)
        and (not words or any(word in case.name.lower() for word in words))
        and (case.quick or not options.quick)
    ]


def threads(options: argparse.Namespace) -> int:
    here = len(os.sched_getaffinity(0))
    return min(options.threads, here) if options.threads else here


def write(path: Path, facts: dict[str, Any], rows: list[Row]) -> None:
    path.write_text(json.dumps({"circumstances": facts, "rows": rows}, indent=1), encoding="utf-8")


class Workers:
    """The measuring process: started when needed, ended with a case that takes too long."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> "subprocess.Popen[str]":
        command = [sys.executable, str(WORKER), "--seconds", str(self.options.seconds)]
        command += ["--device", self.options.device]
        if self.options.npbench is not None:
            command += ["--npbench", str(self.options.npbench)]
        if self.options.avx2:
            command += ["--target", AVX2]
        count = threads(self.options)
        cores = sorted(os.sched_getaffinity(0))[-count:]
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(count, self.options.device, is_avx2=self.options.avx2),
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def measured(self, family: str, case: str) -> Row:
        if self.process is None:
            self.process = self.start()
            if self.answer(START_SECONDS) is None:
                raise SystemExit("the measuring process does not start: run benchmarks/_worker.py by hand")
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([family, case]) + "\n")
        self.process.stdin.flush()
        row = self.answer(self.options.timeout)
        if row is not None:
            if row.get("is_lost"):
                self.stop()
            return row
        status = self.process.poll()
        errors = {"run": f"process ended: {status}"}
        if status is None:
            errors = {"limit": f"no answer in {self.options.timeout:.0f} s"}
        self.stop()
        return {"family": family, "case": case, "times": {}, "differences": {}, "errors": errors}

    def answer(self, seconds: float) -> Row | None:
        """The next line of the process, or None if there is none in time."""
        assert self.process is not None and self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None


def environment(count: int, device: str, *, is_avx2: bool = False) -> dict[str, str]:
    """Every library held to as many threads, and nothing compiled taken from a cache."""
    values = {**os.environ, "ADZE_CACHE": "0", **environment_for(device)}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        values[name] = str(count)
    flags = [values.get("XLA_FLAGS", "")]
    if count == 1:
        flags.append("--xla_cpu_multi_thread_eigen=false")
    if is_avx2:
        values.update(WITHOUT_AVX512)
        flags.extend(XLA_WITHOUT_AVX512)
    values["XLA_FLAGS"] = " ".join(flags).strip()
    return values


if __name__ == "__main__":
    sys.exit(main())
