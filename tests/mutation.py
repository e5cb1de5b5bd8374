"""Breaks rules, one at a time, and says which test of `make test` fails for each: what survives is untested.

    python -m tests.mutation            all of them, a table, exit status 1 if one survives
    python -m tests.mutation sin.jvp    these

Each runs in a process of its own: the rule is replaced in the class of the op (or in the module of the pass
or of the command), then the tests of that op (or folder) run, as selected for `make test`, up to the first
failure. That test then runs unbroken, and has to pass.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

CHECKOUT: Final = Path(__file__).resolve().parent.parent
OP_TESTS: Final = (
    "tests/dialects/ops/test_ops.py",
    "tests/dialects/ops/test_derivatives.py",
    "tests/dialects/ops/test_batching.py",
)


@dataclass(frozen=True)
class Mutation:
    """One broken rule: how to break it, and where the tests are that have to notice.

    Of `OP_TESTS` only the items of the op run, in the order in which they are collected.
    """

    name: str
    what: str
    apply: Callable[[], None]
    tests: tuple[str, ...] = OP_TESTS

    @property
    def op(self) -> str | None:
        return self.name.partition(".")[0] if self.tests == OP_TESTS else None


# -- ways to break a rule of an op -----------------------------------------------------------------------


def _op(name: str) -> Any:
    from adze.dialects.dialect import BY_NAME

    return BY_NAME[name]


def _replaced(name: str, rule: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put `make(rule)` in the place of a rule; lowerings are in their table."""
    op = _op(name)
    if rule == "lower":
        from adze.passes.lower.forms import LOWERINGS
        from adze.passes.lower.lowering import lowering_of

        LOWERINGS[op] = make(lowering_of(op, LOWERINGS))
        return
    setattr(op, rule, staticmethod(make(getattr(op, rule))))


def negated(name: str, rule: str) -> Mutation:
    """The rule's inexact results with the other sign."""
    from adze.dialects.types import INEXACT

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def broken(b: Any, *arguments: Any, **attributes: Any) -> Any:
            def flipped(value: Any) -> Any:
                if isinstance(value, (tuple, list)):
                    return type(value)(map(flipped, value))
                if value is None or isinstance(value, bool):
                    return value
                return b.neg(value) if getattr(b.type_of(value), "dtype", None) in INEXACT else value

            return flipped(original(b, *arguments, **attributes))

        return broken

    return Mutation(f"{name}.{rule}", "the other sign", lambda: _replaced(name, rule, make))


def taken_from(name: str, rule: str, other: str) -> Mutation:
    """The rule of another op."""
    return Mutation(
        f"{name}.{rule}",
        f"that of {other}",
        lambda: _replaced(name, rule, lambda _: getattr(_op(other), rule)),
    )


def lowered_as(name: str, other: str) -> Mutation:
    """The lowering of another op of the family."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def broken(ctx: Any, *operands: Any, **attributes: Any) -> Any:
            return original(dataclasses.replace(ctx, op=_op(other)), *operands, **attributes)

        return broken

    return Mutation(f"{name}.lower", f"that of {other}", lambda: _replaced(name, "lower", make))


def with_attribute(name: str, rule: str, attribute: str, change: Callable[[Any], Any]) -> Mutation:
    """The rule for another value of an attribute."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def broken(*arguments: Any, **attributes: Any) -> Any:
            return original(*arguments, **{**attributes, attribute: change(attributes[attribute])})

        return broken

    return Mutation(f"{name}.{rule}", f"another {attribute}", lambda: _replaced(name, rule, make))


def first_operand(name: str, rule: str) -> Mutation:
    """The rule returns its first operand."""
    return Mutation(
        f"{name}.{rule}",
        "the first operand",
        lambda: _replaced(name, rule, lambda _: lambda b, x, *rest, **attributes: x),
    )


def in_reverse(name: str, rule: str) -> Mutation:
    """The rule with its operands in the reverse order."""
    return Mutation(
        f"{name}.{rule}",
        "operands in reverse",
        lambda: _replaced(name, rule, lambda r: lambda *xs, **attributes: r(*xs[::-1], **attributes)),
    )


# -- ways to break a pass or a command ---------------------------------------------------------------------


def does_nothing(path: str, *tests: str) -> Mutation:
    """A function, named by its module and itself, that does nothing."""
    module, _, function = path.rpartition(".")

    def apply() -> None:
        setattr(sys.modules[module], function, lambda *arguments, **options: None)

    def load_and_apply() -> None:
        __import__(module)
        apply()

    return Mutation(path.removeprefix("adze."), "does nothing", load_and_apply, tests)


IR_TESTS: Final = ("tests/ir",)


def mutations() -> list[Mutation]:
    """Ops of every family, each kind of rule; passes; an option of a command."""
    return [
        negated("sin", "jvp"),
        taken_from("sub", "evaluate", "add"),
        lowered_as("max", "min"),
        taken_from("atan2", "jvp", "max"),
        negated("select", "transpose"),
        first_operand("mul", "simplify"),
        with_attribute(
            "compare", "lower", "direction", lambda direction: {"LT": "LE"}.get(direction, direction)
        ),
        taken_from("is_finite", "infer", "neg"),
        with_attribute("transpose", "infer", "permutation", lambda axes: tuple(sorted(axes))),
        first_operand("reverse", "lower"),
        in_reverse("concatenate", "evaluate"),
        with_attribute("pad", "lower", "low", lambda low: low[::-1]),
        negated("reduce_sum", "transpose"),
        lowered_as("reduce_max", "reduce_min"),
        with_attribute("cumsum", "lower", "reverse", lambda reverse: not reverse),
        negated("dot_general", "transpose"),
        negated("dot_general", "batch"),
        negated("conv_general", "transpose"),
        negated("gather", "jvp"),
        negated("scatter", "transpose"),
        with_attribute("sort", "lower", "num_keys", lambda count: count + 1),
        with_attribute("scan", "lower", "reverse", lambda reverse: not reverse),
        negated("while", "batch"),
        does_nothing("adze.passes.pipeline.inline", *IR_TESTS),
        does_nothing("adze.passes.pipeline.simplify", *IR_TESTS),
        does_nothing("adze.passes.registry.verify", *IR_TESTS),
        does_nothing("adze.passes.pipeline.verify", "tests/passes/test_pipeline.py"),
        does_nothing("adze.passes.analysis.verify._verify_end", *IR_TESTS),
        does_nothing("adze.passes.analysis.verify._verify_operation", *IR_TESTS),
        does_nothing("adze.passes.analysis.verify._verify_call", *IR_TESTS),
        does_nothing("adze.passes.analysis.verify._verify_sizes", *IR_TESTS),
        does_nothing("adze.cli.opt.check_print_after", "tests/cli/test_opt.py"),
    ]


# -- running ---------------------------------------------------------------------------------------------


class Recorder:
    """A pytest plugin: keeps the items of one op, and remembers what failed."""

    def __init__(self, op: str | None) -> None:
        self.op = op
        self.failed: list[str] = []
        self.passed = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.op:
            items[:] = [item for item in items if item.name.endswith(f"[{self.op}]")]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        self.passed += report.when == "call" and report.passed


def run(tests: Sequence[str], op: str | None = None) -> Recorder:
    """The selected tests, up to the first failure."""
    recorder = Recorder(op)
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["-x", "-q", *tests], plugins=[recorder])
    assert recorder.passed or recorder.failed, f"no test ran of {tests}"
    return recorder


def broken(name: str) -> str | None:
    """In this process: the test that fails with this mutation."""
    (mutation,) = (each for each in mutations() if each.name == name)
    mutation.apply()
    failed = run(mutation.tests, mutation.op).failed
    return failed[0] if failed else None


def unbroken(test: str) -> str | None:
    """In this process: the test, if it fails without any mutation."""
    return test if run([test]).failed else None


def in_a_process(option: str, argument: str) -> str | None:
    """What `broken` or `unbroken` says in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutation", option, argument],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answer: str | None = json.loads(done.stdout.splitlines()[-1])
    return answer


def noticed_by(name: str) -> str | None:
    """The test that fails because of this mutation, and passes without it."""
    test = in_a_process("--broken", name)
    if test is not None and in_a_process("--unbroken", test) is not None:
        raise AssertionError(f"{test} fails although nothing is broken")
    return test


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--broken"]:
        print(json.dumps(broken(arguments[1])))
        return 0
    if arguments[:1] == ["--unbroken"]:
        print(json.dumps(unbroken(arguments[1])))
        return 0
    every = {each.name: each for each in mutations()}
    chosen = list(arguments) or list(every)
    survivors = 0
    for name in chosen:
        test = noticed_by(name)
        survivors += test is None
        print(f"{name:42} {every[name].what:20} {test or 'SURVIVES'}", flush=True)
    print(f"{len(chosen)} rules broken, {survivors} unnoticed")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
