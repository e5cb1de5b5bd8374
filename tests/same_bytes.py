"""Whether programs have the same bytes in each compile: `python -m tests.same_bytes [words of names]`.

Input: the benchmark programs, at tiny sizes with `--tiny`. Output: a line for each program whose lowered text
or bytes differ, among compiles of one process and of processes with other hash seeds; the exit status says if
there is one. A program is named by the words in its name; without words each function is compiled once.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PROCESSES = 2
COMPILES = 2  # in each


def digests(words: Sequence[str], is_tiny: bool) -> Iterator[tuple[str, str, str]]:
    """The name of each program, and digests of its lowered text and of its bytes."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    from _peers import adze_peer
    from families import FAMILIES

    import adze

    peer, functions = adze_peer(), set()
    for case in (case for cases in FAMILIES.values() for case in cases):
        is_named = any(word in case.name for word in words)
        if is_named or (not words and case.function not in functions):
            functions.add(case.function)
            arrays = case.arrays(tiny=is_tiny)

            def program(*given: Any, function: Any = case.function) -> Any:
                return function(peer, *given)

            for _ in range(COMPILES):
                lowered = adze.trace(program, *arrays).lower()
                yield case.name, digest(lowered.canonical()), digest(lowered.compile(cache=False).vmfb)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def differences(words: Sequence[str], is_tiny: bool) -> tuple[int, list[str]]:
    """How many programs were compiled, and what was not the same of which."""
    seen: dict[str, set[tuple[str, str]]] = {}
    for process in range(PROCESSES):
        command = [sys.executable, "-m", "tests.same_bytes", "--list", *["--tiny"] * is_tiny, *words]
        environment = {**os.environ, "PYTHONHASHSEED": str(process)}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        for line in done.stdout.splitlines():
            name, text, code = json.loads(line)
            seen.setdefault(name, set()).add((text, code))
    texts = [
        f"{name}: lowered to several texts" for name, all_ in seen.items() if len({t for t, _ in all_}) > 1
    ]
    codes = [f"{name}: several bytes" for name, all_ in seen.items() if len({c for _, c in all_}) > 1]
    return len(seen), [*texts, *codes]


def main(arguments: Sequence[str]) -> int:
    words = [word for word in arguments if not word.startswith("--")]
    is_tiny = "--tiny" in arguments
    if "--list" in arguments:
        for row in digests(words, is_tiny):
            print(json.dumps(row), flush=True)
        return 0
    count, found = differences(words, is_tiny)
    print("\n".join([*found, f"{count} programs, {PROCESSES * COMPILES} compiles each"]))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
