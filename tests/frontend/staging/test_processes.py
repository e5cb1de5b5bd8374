"""What happens around a program: a first call on many threads, forked children, launchers, the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ...selection import quick_first

PROLOGUE = """
import os, sys, threading
import numpy as np
import adze
import adze.numpy as anp
"""
FORK = """
def in_child(work):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        work()
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")


def run(script: str, tmp_path: Path, **environment: str) -> str:
    """What a script prints, run in a process of its own without compiled programs of others."""
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + script],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "ADZE_CACHE_DIR": str(tmp_path / "cache"), **environment},
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_sixteen_threads_trace_as_the_first_thing_in_a_process(tmp_path: Path) -> None:
    script = """
start, wrong = threading.Barrier(16), []

def work(number):
    start.wait(timeout=60)
    try:
        is_compiled = number % 4 == 0
        f = adze.jit(lambda x: x * number) if is_compiled else adze.grad(lambda x: (x * x * number).sum())
        got = np.asarray(f(np.ones(2, np.float32)))
        if not (got == number * (1 if is_compiled else 2)).all():
            wrong.append(got)
    except BaseException as error:
        wrong.append(error)

threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
[t.start() for t in threads], [t.join() for t in threads]
print(wrong)
"""
    assert run(script, tmp_path) == "[]\n"


@needs_fork
def test_a_forked_child_compiles_after_its_parent_did(tmp_path: Path) -> None:
    """The compiler's threads stay with the parent: without care the child waits for them for ever."""
    script = """
f = adze.jit(lambda x: x * 2 + 1)
g = adze.jit(lambda x: anp.sin(x) * 0 + anp.sum(x))
h = adze.jit(lambda x: adze.fori_loop(0, 3, lambda i, c: c * x, x))
x = np.full(3, 2.0, np.float32)
print(f(x).tolist())
lowered = h.trace(x).lower()
in_child(lambda: print(g(x).tolist(), lowered.compile()(x).tolist(), f(x).tolist()))
in_child(lambda: print(adze.grad(lambda x: g(x).sum())(x).tolist()))
print(g(x).tolist())
"""
    lines = run(FORK + script, tmp_path).splitlines()
    assert lines == [
        "[5.0, 5.0, 5.0]",
        "[6.0, 6.0, 6.0] [16.0, 16.0, 16.0] [5.0, 5.0, 5.0]",
        "[3.0, 3.0, 3.0]",
        "[6.0, 6.0, 6.0]",
    ]


@pytest.mark.thorough
@needs_fork
def test_a_forked_child_compiles_the_same_bytes(tmp_path: Path) -> None:
    script = """
import hashlib
def digest(number):
    program = adze.jit(lambda x: anp.exp(x) @ x).trace(adze.ShapeDtype((9, 9))).lower("cpu:generic")
    return hashlib.sha256(program.compile(cache=False).vmfb).hexdigest()

first = digest(0)
in_child(lambda: print(digest(1) == first))
"""
    assert run(FORK + script, tmp_path) == "True\n"


@pytest.mark.thorough
@needs_fork
def test_a_child_that_is_forked_while_a_thread_compiles(tmp_path: Path) -> None:
    """The lock of the function is held at the fork by a thread that the child does not have."""
    script = """
started, forked = threading.Event(), threading.Event()

@adze.jit
def f(x):
    if os.getpid() == parent and not started.is_set():
        started.set()
        forked.wait(timeout=60)
    return x + 1

parent = os.getpid()
adze.jit(lambda x: x * 2)(np.ones(2))  # the compiler is loaded
thread = threading.Thread(target=lambda: f(np.ones(3)))
thread.start()
started.wait(timeout=60)
in_child(lambda: print(f(np.ones(3)).tolist()))
forked.set()
thread.join()
print(f(np.ones(3)).tolist())
"""
    assert run(FORK + script, tmp_path).splitlines() == [str([2.0] * 3)] * 2


@pytest.mark.thorough
@needs_fork
def test_a_child_that_is_forked_while_a_first_call_is_evaluated(tmp_path: Path) -> None:
    """The thread that compiles is amid an import at the first fork, and amid a compile at the second."""
    script = """
import time
importing, compiling = threading.Event(), threading.Event()

class Slow:
    def find_spec(self, name, path, target=None):
        if name == "iree.compiler.dialects.linalg.opdsl":
            importing.set()
            compiling.wait(timeout=0.5)

sys.meta_path.insert(0, Slow())
from adze.frontend.staging import lowered
real = lowered.compile_program

def slow(*positional, **named):
    compiling.set()
    return real(*positional, **named)

lowered.compile_program = slow
f = adze.jit(lambda x: anp.sin(x) @ x + 1, first_call="evaluate")
x = np.eye(3, dtype=np.float32)

def work():
    first = np.asarray(f(x))
    while f.cache_size() == 0:
        time.sleep(0.05)
        f(x)
    print(np.allclose(first, np.asarray(f(x))), np.asarray(adze.jit(lambda x: x + 1)(x))[0].tolist())

f(x)
for event in (importing, compiling):
    event.wait(timeout=60)
    in_child(work)
work()
"""
    assert run(FORK + script, tmp_path, ADZE_CACHE="off").splitlines() == ["True [2.0, 1.0, 1.0]"] * 3


SLOW_MODULE = """
import importlib.machinery, time
importing, forked = threading.Event(), threading.Event()

class Slow:
    'Imports one module slowly, in the process that began; not in `find_spec`, where forks wait in any case.'

    def find_spec(self, name, path, target=None):
        if name != slow_module or os.getpid() != parent:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        real = spec.loader.exec_module

        def exec_module(module):
            importing.set()
            forked.wait(timeout=longest)
            real(module)

        spec.loader.exec_module = exec_module
        return spec

parent = os.getpid()
sys.meta_path.insert(0, Slow())
"""


@needs_fork
@pytest.mark.parametrize("module", ["iree.compiler.ir", "adze.frontend.staging.lowered"])
def test_a_fork_waits_while_another_thread_imports(tmp_path: Path, module: str) -> None:
    """A child would wait for the lock of the module, which no thread of it holds."""
    script = f"""
slow_module, longest = {module!r}, 1
f = adze.jit(lambda x: x + 1)
thread = threading.Thread(target=lambda: f(np.ones(3)))
thread.start()
assert importing.wait(timeout=60)
in_child(lambda: print(f(np.ones(3)).tolist()))
thread.join()
"""
    assert run(FORK + SLOW_MODULE + script, tmp_path, ADZE_CACHE="off") == "[2.0, 2.0, 2.0]\n"


@needs_fork
def test_nothing_unlocks_after_a_fork_what_was_not_locked_before_it(tmp_path: Path) -> None:
    """Observed: `concurrent.futures`, imported by another thread as a fork waited, released an open lock."""
    script = """
registered, register = [], os.register_at_fork

def recorded(**hooks):
    registered.append(hooks)
    register(**hooks)

os.register_at_fork = recorded
adze.jit(lambda x: x + 1)(np.ones(3))
(wait,) = [i for i, hooks in enumerate(registered) if getattr(hooks.get("before"), "__name__", "") == "_wait"]
print([hooks for hooks in registered[wait:] if "after_in_parent" in hooks])
"""
    assert run(script, tmp_path, ADZE_CACHE="off") == "[]\n"


@needs_fork
def test_a_fork_does_not_wait_for_imports_of_others(tmp_path: Path) -> None:
    script = """
slow_module, longest = "this", 60
adze.jit(lambda x: x + 1)(np.ones(3))
thread = threading.Thread(target=lambda: __import__("this"))
thread.start()
assert importing.wait(timeout=60)
in_child(lambda: None)
print(thread.is_alive())
forked.set()
thread.join()
"""
    assert run(FORK + SLOW_MODULE + script, tmp_path).startswith("True\n")


@pytest.mark.thorough
@needs_fork
def test_views_and_thread_pools_of_the_parent_work_in_a_forked_child(tmp_path: Path) -> None:
    script = """
f = adze.jit(lambda x: x * 2, device="local-task")
view = np.asarray(f(np.full(50_000, 4.0)))
early = f(np.ones(3))

def work():
    global early
    print(f(early).tolist())
    [f(np.full(50_000, -1.0)) for _ in range(4)]
    print(bool((view == 8).all()))
    early = None

in_child(work)
print(f(early).tolist(), bool((view == 8).all()))
"""
    assert run(FORK + script, tmp_path).splitlines() == ["[4.0, 4.0, 4.0]", "True", "[4.0, 4.0, 4.0] True"]


@pytest.mark.one_in(2)
@needs_fork
@pytest.mark.parametrize("device", quick_first(["local-task", "local-sync"], 1))
def test_a_forked_child_ends_as_any_process_does(tmp_path: Path, device: str) -> None:
    """It must not wait for the parent's threads while Python shuts down. The bindings may complain of what
    was deliberately not freed, hence the child's own standard error."""
    script = f"""
f = adze.jit(lambda x: x * 2, device={device!r})
kept = f(np.ones(3))
sys.stdout.flush()
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(script, tmp_path) == "7\n"


@pytest.mark.thorough
@needs_fork
def test_a_pool_of_forked_workers(tmp_path: Path) -> None:
    script = """
import multiprocessing
f = adze.jit(lambda x: (x * 3).sum())

def work(n):
    return float(f(np.full(4, float(n)))), float(adze.jit(lambda x: x.sum() + n)(np.ones(2)))

f(np.ones(4))
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, [1, 2, 3]))
"""
    assert run(script, tmp_path) == "[(12.0, 3.0), (24.0, 4.0), (36.0, 5.0)]\n"


@pytest.mark.thorough
@pytest.mark.parametrize("variable", quick_first(["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"], 1))
def test_devices_open_under_a_launcher_of_many_processes(tmp_path: Path, variable: str) -> None:
    """IREE takes these variables for an order to load libmpi; they are back when the device is there."""
    script = f"""
print(adze.jit(lambda x: x + 1)(np.ones(2)).tolist(), os.environ[{variable!r}])
print([device.name if hasattr(device, "name") else str(device) for device in adze.devices()][:1])
"""
    assert run(script, tmp_path, **{variable: "2"}).splitlines()[0] == "[2.0, 2.0] 2"


@pytest.mark.one_in(2)
@pytest.mark.each_value(lambda device, holder: (device, "=" in holder.partition(";")[0]))
@pytest.mark.parametrize(
    "holder",
    [
        "module = view",
        "sys.kept = view",
        "import builtins; builtins.kept = view",
        "cycle = [view]; cycle.append(cycle)",
    ],
)
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_the_end_of_a_process_with_views_in_use(tmp_path: Path, holder: str, device: str) -> None:
    script = f"""
f = adze.jit(lambda x: (x * 2, x[1:]), device={device!r})
whole, tail = f(np.ones(50_000))
view = np.asarray(whole)[2:]
{holder}
del whole
import atexit
atexit.register(lambda: print(float(view.sum())))
"""
    assert run(script, tmp_path) == "99996.0\n"
