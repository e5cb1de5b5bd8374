"""`checkify`: run-time checks of a function as a further result, also those inside loops and branches.

Input: a function, and which kinds of checks it gets. Output: a function of the same arguments that returns an
`Error` and the results. Idea: the function is traced and its ops are applied again in order with the error
beside them; a loop carries it, a branch returns it. Outside `checkify` a check stops the program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.builder.core import Application
from ....dialects.types import INEXACT
from ....passes.ir.functions import function as find_function
from ....passes.ir.functions import split_body
from ... import tree
from ...control.branches import switch
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...errors import ArgumentError, ArgumentTypeError, ConcretizationError, UnsupportedError
from ...tracing.frames import current_frame
from ...tracing.function_scope import FunctionScope, argument_of
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.trace import function_name
from ...tracing.written_checks import WRITTEN, WrittenChecks
from .. import numpy as xp
from ..numpy.arguments import concrete
from ..traced_ops import applied, run_again
from .errors import (
    NUMBERS,
    DivisionByZeroError,
    Error,
    FailedCheckError,
    JaxRuntimeError,
    Kind,
    NaNError,
    OOBError,
    Shown,
    Text,
    no_failure,
    shown_as,
    user_checks,
)

_PREFIX: Final = "adze.checkify "
_WITH_CALLEE: Final = ("call", "checkpoint_call")
_OPAQUE: Final = ("custom_jvp_call", "custom_vjp_call", "custom_batch_call", "routine", "linear_routine")


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """State that `pred` holds; otherwise the error is `msg`, in which `{}` and `{name}` stand for values.

    Under `checkify` a failure is part of the `Error`. Otherwise one that is known raises `JaxRuntimeError`,
    and one in a compiled program stops it. With `debug` it is checked under `checkify` alone. Raises
    `ArgumentError` for a predicate that is no bool and for more than eight numbers.
    """
    value = as_value(pred)
    if value.dtype != np.bool_ or value.ndim:
        raise ArgumentTypeError(
            f"check takes a bool of shape (), got {value.dtype}{list(value.shape)}",
            where=user_location_text(),
        )
    texts = WRITTEN.get()
    if texts is not None:
        shown, floats, integers = _numbers(fmt_args, fmt_kwargs)
        count = len(fmt_args)
        named = tuple(zip(fmt_kwargs, shown[count:], strict=True))
        texts.append(Text(f"{msg} (`check` failed)", tuple(shown[:count]), named))
        ops.print(value, floats, integers, format=f"{_PREFIX}{len(texts) - 1}")
        return
    if debug:
        return
    try:
        is_true = bool(concrete("check", value, "the predicate"))
    except ConcretizationError:
        ops.check(value, message=f"{msg} (`check` failed)")
        return
    if not is_true:
        text = msg.format(*fmt_args, **fmt_kwargs)
        raise JaxRuntimeError(f"{text} (`check` failed)", where=user_location_text())


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """As `check`, under `checkify` alone."""
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Error) -> None:
    """Raise the failure that `error` holds, or let it be one of the function that is being checked."""
    if not isinstance(error, Error):
        raise ArgumentError(
            f"check_error takes an Error, got {type(error).__name__}", where=user_location_text()
        )
    texts = WRITTEN.get()
    if texts is None:
        try:
            error.throw()
        except ConcretizationError:
            ops.check(~error.values[0], message="one of: " + "; ".join(t.template for t in error.texts))
        return
    failed, code, floats, integers = error.values
    for position, text in enumerate(error.texts):
        texts.append(text)
        holds = ~(failed & (code == position))
        ops.print(holds, floats, integers, format=f"{_PREFIX}{len(texts) - 1}")


def _numbers(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Shown], Any, Any]:
    """Where the values of a text lie among its numbers, and the numbers."""
    shown: list[Shown] = []
    parts: list[Any] = []
    start = 0
    for value in map(as_value, (*args, *kwargs.values())):
        if value.dtype.kind == "c" or start + value.size > NUMBERS:
            raise ArgumentError(
                f"a text shows up to {NUMBERS} real numbers, got {value.dtype}{list(value.shape)} too",
                where=user_location_text(),
            )
        shown.append(Shown(start, tuple(value.shape), shown_as(value.dtype)))
        parts.append(xp.reshape(value, (value.size,)))
        start += value.size
    floats, integers = xp.zeros((NUMBERS,), np.float64), xp.zeros((NUMBERS,), np.int64)
    for place, part in zip(shown, parts, strict=True):
        cut = slice(place.start, place.start + part.size)
        if part.dtype in INEXACT:
            floats = floats.at[cut].set(xp.astype(part, np.float64))
        else:
            integers = integers.at[cut].set(part.astype(int))
    return shown, floats, integers


def checkify(
    f: Callable[..., Any], errors: Collection[Kind] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """`f` as a function that returns `(error, results)`: checks of these kinds fail as values, not as
    exceptions.

    `user_checks` are those that `check` states; `nan_checks`, `div_checks` and `index_checks` are added to
    each op. Results after a failure are what the program computes anyway. Raises `UnsupportedError` for
    arguments of named sizes, and for a check inside a function with a derivative of its own.
    """

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        if current_frame() is not None:
            return _run(f, frozenset(errors), args, kwargs)
        scope = FunctionScope()
        values, rebuilt = _arguments(args, kwargs)

        def traced(inner: Sequence[Any]) -> Any:
            return _run(f, frozenset(errors), *rebuilt(inner))

        nested = scope.trace(function_name(f), traced, [argument_of(v) for v in values])
        result: tuple[Error, Any] = tree.unflatten(nested.result_tree, scope.call(nested.symbol, values))
        return result

    return checked


def _arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]]:
    """The arrays among arguments, and what puts others in their places; the rest stays what it is."""
    leaves, structure = tree.flatten((args, kwargs))
    is_array = [not (isinstance(leaf, (str, bytes)) or callable(leaf)) for leaf in leaves]

    def rebuilt(inner: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = iter(inner)
        full = [next(given) if here else leaf for leaf, here in zip(leaves, is_array, strict=True)]
        result: tuple[tuple[Any, ...], dict[str, Any]] = tree.unflatten(structure, full)
        return result

    return [as_value(leaf) for leaf, here in zip(leaves, is_array, strict=True) if here], rebuilt


def _run(
    f: Callable[..., Any], errors: frozenset[Kind], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Error, Any]:
    values, rebuilt = _arguments(args, kwargs)
    if any(not isinstance(n, int) for v in values for n in v.shape):
        raise UnsupportedError("checkify of arguments of named sizes", where=user_location_text())
    scope = FunctionScope()
    texts = WrittenChecks()

    def plain(inner: Sequence[Any]) -> Any:
        args, kwargs = rebuilt(inner)
        return f(*args, **kwargs)

    token = WRITTEN.set(texts)
    try:
        nested = scope.trace(f"checked_{function_name(f)}", plain, [argument_of(v) for v in values])
    finally:
        WRITTEN.reset(token)
    checker = _Checker(scope, errors, texts)
    results = checker.function(nested.symbol, [*values, *nested.captured])
    return Error(checker.error, tuple(texts)), tree.unflatten(nested.result_tree, results)


class _Checker:
    """Applies the ops of traced functions again; `error` are the arrays of the first failure so far."""

    def __init__(self, scope: FunctionScope, errors: frozenset[Kind], texts: list[Text]) -> None:
        self.program = scope.program
        self.errors = errors
        self.texts = texts
        self.error: tuple[Any, ...] = no_failure()

    def function(self, symbol: str, operands: Sequence[Any]) -> list[Any]:
        """The results of a function, whose checks go into `error`."""
        return run_again(self.program, symbol, operands, self.apply, "checkify")

    def apply(self, application: Application) -> Sequence[Any]:
        """The results of one op, after its checks."""
        name, operands, attributes = application.op.name, application.operands, application.attributes
        if name == "print" and attributes["format"].startswith(_PREFIX):
            self._written(int(attributes["format"].removeprefix(_PREFIX)), *operands)
            return []
        if name == "check" and FailedCheckError in self.errors:
            self._found(
                ~xp.all(operands[0]), Text(attributes["message"].replace("{", "{{").replace("}", "}}"))
            )
            return []
        if name in _WITH_CALLEE:
            return self.function(attributes["callee"], operands)
        if name in ("cond", "scan", "while"):
            rule: Callable[[Sequence[Any], dict[str, Any]], Sequence[Any]] = getattr(self, f"_{name}")
            return rule(operands, attributes)
        if name in _OPAQUE:
            self._refuse_checks(attributes["callee"])
        if name == "div" and DivisionByZeroError in self.errors:
            self._found(xp.any(operands[1] == 0), Text("division by zero"))
        if OOBError in self.errors:
            self._indices(name, operands, attributes)
        results = applied(application, operands)
        if NaNError in self.errors:
            for result in results:
                if getattr(result, "dtype", None) in INEXACT:
                    self._found(xp.any(xp.isnan(result)), Text(f"nan generated by primitive: {name}."))
        return results

    def _found(self, failed: Any, text: Text, floats: Any = None, integers: Any = None) -> None:
        """A check that failed or not: it is the error unless there is one already."""
        self.texts.append(text)
        self._join(failed, len(self.texts) - 1, floats, integers)

    def _join(self, failed: Any, code: int, floats: Any = None, integers: Any = None) -> None:
        before, which, old_floats, old_integers = self.error
        first = failed & ~before
        self.error = (
            before | failed,
            xp.where(first, np.int32(code), which),
            old_floats if floats is None else xp.where(first, floats, old_floats),
            old_integers if integers is None else xp.where(first, integers, old_integers),
        )

    def _written(self, code: int, holds: Any, floats: Any, integers: Any) -> None:
        """A check that the program states; of a batch the first element that failed."""
        if FailedCheckError not in self.errors:
            return
        count = holds.ndim
        batch = tuple(holds.shape)
        failed = ~xp.reshape(holds, (-1,))
        place = xp.argmax(failed)
        numbers = []
        for values in (floats, integers):
            extra = values.ndim - 1
            wide = values if extra == count else xp.broadcast_to(values, (*batch, *values.shape[extra:]))
            numbers.append(xp.reshape(wide, (-1, NUMBERS))[place])
        self._join(xp.any(failed), code, *numbers)

    def _indices(self, name: str, operands: Sequence[Any], attributes: dict[str, Any]) -> None:
        """That the starts of slices lie inside: of each the index, its axis and the size of that axis."""
        shape = getattr(operands[0], "shape", ()) if operands else ()
        if name in ("gather", "scatter"):
            axes = attributes["start_index_map" if name == "gather" else "scatter_dims_to_operand_dims"]
            starts = [operands[1][..., i] for i in range(len(axes))]
            sizes = attributes["slice_sizes"] if name == "gather" else _updated(shape, operands, attributes)
        elif name in ("dynamic_slice", "dynamic_update_slice"):
            axes, starts = range(len(shape)), list(operands[1 if name == "dynamic_slice" else 2 :])
            sizes = attributes["slice_sizes"] if name == "dynamic_slice" else operands[1].shape
        else:
            return
        for axis, start in zip(axes, starts, strict=True):
            flat = xp.reshape(start, (-1,)).astype(int)
            outside = (flat < 0) | (flat > shape[axis] - sizes[axis])
            worst = flat[xp.argmax(outside)] if flat.size else xp.zeros((), np.int64)
            text = Text(
                f"out-of-bounds indexing for array of shape {tuple(shape)}: index {{}} is out of bounds for "
                f"axis {axis} with size {shape[axis]}. ",
                (Shown(0, (), "i8"),),
            )
            integers = xp.zeros((NUMBERS,), np.int64).at[0].set(worst)
            self._found(xp.any(outside), text, None, integers)

    def _inside(self, symbol: str, error: tuple[Any, ...], operands: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The error and the results of a function that a loop or a branch calls."""
        outer, self.error = self.error, tuple(error)
        results = self.function(symbol, operands)
        inner, self.error = self.error, outer
        return inner, results

    def _cond(self, operands: Sequence[Any], attributes: dict[str, Any]) -> Sequence[Any]:
        def branch(symbol: str) -> Callable[..., Any]:
            return lambda error, *values: self._inside(symbol, error, values)

        branches = [branch(symbol) for symbol in attributes["branches"]]
        self.error, results = switch(operands[0], branches, self.error, *operands[1:])
        return list(results)

    def _scan(self, operands: Sequence[Any], attributes: dict[str, Any]) -> Sequence[Any]:
        constants = operands[: attributes["constant_count"]]
        count = len(constants) + attributes["carry_count"]
        carry = attributes["carry_count"]

        def step(state: Any, slices: Any) -> Any:
            error, values = state
            error, results = self._inside(attributes["body"], error, [*constants, *values, *slices])
            return (error, results[:carry]), results[carry:]

        (self.error, last), columns = scan(
            step,
            (self.error, list(operands[len(constants) : count])),
            list(operands[count:]),
            length=attributes["length"][0],
            reverse=attributes["reverse"],
        )
        return [*last, *columns]

    def _while(self, operands: Sequence[Any], attributes: dict[str, Any]) -> Sequence[Any]:
        first = attributes["condition_constants"]
        count = first + attributes["body_constants"]
        asked, constants = operands[:first], operands[first:count]
        if self.errors - {FailedCheckError} or self._may_check(attributes["condition"]):
            return self._while_checked(operands, attributes)

        def condition(state: Any) -> Any:
            return self._inside(attributes["condition"], state[0], [*asked, *state[1]])[1][0]

        def step(state: Any) -> Any:
            return self._inside(attributes["body"], state[0], [*constants, *state[1]])

        self.error, results = while_loop(condition, step, (self.error, list(operands[count:])))
        return list(results)

    def _while_checked(self, operands: Sequence[Any], attributes: dict[str, Any]) -> Sequence[Any]:
        """A loop whose condition is checked too: each iteration carries whether there is another one."""
        first = attributes["condition_constants"]
        count = first + attributes["body_constants"]
        asked, constants = operands[:first], operands[first:count]

        def goes_on(error: tuple[Any, ...], values: Sequence[Any]) -> tuple[Any, Any]:
            error, (pred,) = self._inside(attributes["condition"], error, [*asked, *values])
            return error, pred

        def step(state: Any) -> Any:
            error, results = self._inside(attributes["body"], state[0], [*constants, *state[2]])
            return (*goes_on(error, results), results)

        start = list(operands[count:])
        state = (*goes_on(self.error, start), start)
        self.error, _, results = while_loop(lambda state: state[1], step, state)
        return list(results)

    def _may_check(self, symbol: str) -> bool:
        """Whether a function holds checks of a program, or calls others."""
        operations, _ = split_body(find_function(self.program.module, symbol))
        return any(
            op.name in ("adze.print", "adze.check")
            or any(name in op.attributes for name in ("callee", "body", "branches"))
            for op in operations
        )

    def _refuse_checks(self, symbol: str) -> None:
        """Raise `UnsupportedError` where a function with rules of its own holds checks of a program."""
        operations, _ = split_body(find_function(self.program.module, symbol))
        if any(op.name in ("adze.print", "adze.check") and _is_check(op) for op in operations):
            raise UnsupportedError(
                "a check inside a function with a derivative or a batching rule of its own",
                where=user_location_text(),
                hint="check its arguments before the call",
            )


def _is_check(operation: Any) -> bool:
    return operation.name == "adze.check" or _PREFIX in str(operation.attributes["format"])


def _updated(shape: Sequence[int], operands: Sequence[Any], attributes: dict[str, Any]) -> list[int]:
    """How many elements of each axis one update of a scatter writes."""
    gone = {*attributes["inserted_window_dims"], *attributes["operand_batching_dims"]}
    window = iter(attributes["update_window_dims"])
    return [1 if axis in gone else operands[2].shape[next(window)] for axis in range(len(shape))]
