"""A process that measures cases one after another, so that a case which hangs can be ended.

Input: lines of JSON on standard input, each the family and the name of a case.
Output: a line of JSON for each case on standard output: the row of the results.

Compiled programs are not taken from a cache on disk, so the time of the first call contains the compilation.
Whoever writes to it begins another process where a row says that the device was lost: it stays so here.
"""

import argparse
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

from _agreement import disagreement
from _case import Case, is_wide
from _measure import Timing, timings
from _peers import Peer, peers_here

# Times the difference of two other libraries that adze may differ from both, where they disagree.
UNSETTLED = 3.0
LOST = "LostDeviceError"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--npbench", type=Path, default=None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default=None)
    options = parser.parse_args()
    # What libraries print must not come between the lines of the results.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    families = registry(options.npbench)
    peers = peers_here(options.target)
    print(json.dumps({"ready": [peer.name for peer in peers]}), file=answers, flush=True)
    for line in sys.stdin:
        family, name = json.loads(line)
        case = next(case for case in families[family] if case.name == name)
        row = measured(case, peers, options.seconds, options.device)
        print(json.dumps({"family": family, "case": name, **row}), file=answers, flush=True)
    return 0


def registry(npbench: Path | None) -> dict[str, tuple[Case, ...]]:
    """The families, and NPBench's kernels if their sources are here."""
    from families import FAMILIES

    if npbench is None:
        return FAMILIES
    from _npbench import npbench_cases

    return {**FAMILIES, **{f"npbench_{size}": npbench_cases(npbench, size) for size in ("S", "M")}}


def measured(case: Case, peers: tuple[Peer, ...], seconds: float, device: str = "cpu") -> dict[str, Any]:
    """The times of each library, how well the results agree, and the errors of those that failed."""
    try:
        arrays = case.arrays()
    except Exception as error:
        return {"times": {}, "differences": {}, "errors": {"inputs": explained(error)}}
    set_width_of_jax(case.wide or is_wide(arrays))
    calls: dict[str, Callable[[], Any]] = {}
    first: dict[str, Timing] = {}
    results: dict[str, Any] = {}
    errors: dict[str, str] = {}
    is_lost = False
    for peer in peers:
        if not case.runs_on(peer):
            continue
        try:
            cpu, wall = cpu_seconds(), time.perf_counter()
            call = case.call_on(peer, arrays)
            results[peer.name] = call()
            first[peer.name] = Timing(time.perf_counter() - wall, cpu_seconds() - cpu)
            calls[peer.name] = call
        except Exception as error:
            errors[peer.name] = explained(error)
            is_lost |= type(error).__name__ == LOST
    differences = compared(case, results)
    spread = difference_of_others(case, results)
    if differences and min(differences.values()) > max(1.0, UNSETTLED * spread):
        errors["results"] = f"adze agrees with no other library: {differences} times the tolerance"
    best = timings(calls, seconds)
    return {
        "times": {
            name: {"wall": t.wall, "cpu": t.cpu, "first_wall": first[name].wall, "first_cpu": first[name].cpu}
            for name, t in best.items()
        },
        "differences": differences,
        "difference_of_others": spread,
        "errors": errors,
        "is_lost": is_lost,
        "kernel_seconds": None if "adze" in errors else seconds_of_kernels(case, peers, arrays, device),
    }


def cpu_seconds() -> float:
    """The CPU time of this process and of its children: a linker is one."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def seconds_of_kernels(
    case: Case, peers: tuple[Peer, ...], arrays: tuple[Any, ...], device: str
) -> float | None:
    """The time of adze's kernels in a call by the clock of a GPU, None on devices that write no times."""
    from adze.frontend.report.gpus import Subject
    from adze.runtime.measure.profiles import has_profiles

    if device == "cpu" or not has_profiles(device):
        return None
    adze = next(peer for peer in peers if peer.name == "adze")
    return Subject.of(lambda *arrays: case.function(adze, *arrays), arrays, device).seconds()


def set_width_of_jax(wide: bool) -> None:
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", wide)


def compared(case: Case, results: dict[str, Any]) -> dict[str, float]:
    """The difference of adze's result from each other one, in units of the tolerance."""
    if "adze" not in results:
        return {}
    return {
        name: disagreement(results["adze"], result, case.agreement, case.tolerance)
        for name, result in results.items()
        if name != "adze"
    }


def difference_of_others(case: Case, results: dict[str, Any]) -> float:
    """The greatest difference of two other libraries, in units of the tolerance; 0.0 if only one ran.

    Above 1 the case settles nothing: it is chaotic or ill-conditioned.
    """
    others = [result for name, result in results.items() if name != "adze"]
    return max(
        (disagreement(one, two, case.agreement, case.tolerance) for one, two in combinations(others, 2)),
        default=0.0,
    )


def explained(error: Exception) -> str:
    """The error and the place where it was raised, on one line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:400]} ({Path(last.filename).name}:{last.lineno})"


if __name__ == "__main__":
    sys.exit(main())
