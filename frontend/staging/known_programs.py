"""Compiled programs found by what was traced: a program that the cache has is not lowered again.

Input: a traced program and a target. Output: the compiled program, from the cache if it knows what the trace
became, else lowered and compiled, and known from then on.
Idea: the lowered program is a function of the traced one, of the target, of one setting and of the code that
lowers it. That code is the files of adze, compared as Python compares them with its bytecode, by size and
time; where a file changed since the process began, nothing is looked up or noted.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import ml_dtypes
import numpy as np

from ... import dialects, passes, runtime
from ...dialects.communicator import bound
from ...passes.autodiff.deferred import without_labels
from ...runtime.artifact.manifest import Manifest, make_manifest, versions
from ...runtime.compile.cache import PROCEDURE, CompileCache
from ...runtime.compile.known import KnownProgram, KnownPrograms
from ...runtime.settings import Settings, read_settings
from ...runtime.targets import Target, parse_target
from .. import tracing
from ..tracing.imported import IMPORTED
from ..tracing.locations import located
from .compiled import Compiled, CompileReport
from .exports import exported_functions, kept_arrays
from .modules import module_text
from .traced import Traced

_CODE: Final = (dialects, passes, runtime, tracing)


def compiled_program(traced: Traced, target: str | Target, device: str | None) -> Compiled:
    """The program compiled for `target`, to be loaded on `device`."""
    with located():
        chosen = parse_target(target)
    settings = read_settings()
    digest = _digest(traced, chosen, settings)
    if digest is None:
        return traced.lower(chosen).compile(device=device)
    store = KnownPrograms(settings.cache_dir)
    known = store.get(digest)
    compiled = None if known is None else _found(traced, chosen, settings, known, device)
    if compiled is not None:
        return compiled
    lowered = traced.lower(chosen)
    compiled = lowered.compile(device=device)
    if not lowered.sites and lowered.job is None and _state_of_code() == _code_of_process():
        key, manifest = compiled.report.key, compiled.manifest
        store.put(digest, KnownProgram(key, manifest.ir_sha256, manifest.work))
    return compiled


def _found(
    traced: Traced, target: Target, settings: Settings, known: KnownProgram, device: str | None
) -> Compiled | None:
    """The program that the cache has under the key that is known; None where it is gone."""
    found = CompileCache.from_settings(settings).find(known.key)
    if found is None:
        return None
    entry, record = found
    flags = tuple(entry.metadata["flags"])
    manifest = replace(_manifest(traced, target), flags=flags, ir_sha256=known.ir_sha256, work=known.work)
    report = CompileReport(known.key, record, entry.metadata.get("seconds"))
    return Compiled(traced.program, manifest, entry.payload, target, report, device)


def _manifest(traced: Traced, target: Target) -> Manifest:
    """What the manifest says that is known before the program is lowered."""
    program = traced.program
    return make_manifest(exported_functions(program), target, parameters=kept_arrays(program))


def _digest(traced: Traced, target: Target, settings: Settings) -> str | None:
    """The hash of all that decides what the program becomes; None where it has to be lowered.

    That is the case with dumps of all stages, for the ranks of a job, and without a cache.
    """
    if not settings.cache or settings.dump_dir is not None or bound() is not None:
        return None
    code = _code_of_process()
    if code is None:
        return None
    decides = {
        "code": code,
        "flags": target.flags,
        "loop_kernels": settings.loop_kernels,
        # Constants are folded with NumPy on this machine.
        "machine": parse_target("cpu").fingerprint,
        "manifest": _manifest(traced, target).to_json(),
        "procedure": PROCEDURE,
        "target": [target.name, target.fingerprint],
        "versions": [sys.version, np.__version__, ml_dtypes.__version__, *sorted(versions().items())],
    }
    text = json.dumps(decides, sort_keys=True).encode()
    module = without_labels(module_text(traced.program.module))
    return hashlib.sha256(text + module.encode()).hexdigest()


@functools.cache
def _code_of_process() -> str | None:
    """The state of the code that runs here."""
    return _state_of_code()


def _state_of_code() -> str | None:
    """The state of the files of adze that lower and compile; None where they may not be what runs."""
    state = hashlib.sha256()
    try:
        for name, status in _files():
            # Both times: the first may be set to any time, the second not.
            if max(status.st_mtime, status.st_ctime) >= IMPORTED:
                return None
            state.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    except OSError:
        return None
    return state.hexdigest()


def _files() -> Iterator[tuple[str, os.stat_result]]:
    """The modules that lower and compile, and how they lie on the disk."""
    folders = [Path(package.__path__[0]) for package in _CODE]
    folders.append(Path(__file__).parent)
    while folders:
        folder = folders.pop()
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        folders += [Path(each.path) for each in found if each.is_dir() and each.name != "__pycache__"]
        yield from ((each.path, each.stat()) for each in found if each.name.endswith(".py"))
