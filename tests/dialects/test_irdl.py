"""The IRDL text makes adze a registered dialect of `iree-opt`, which then rejects what is not adze."""

import pytest

from ..support import iree_opt

BINARY = "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"


def function(*lines: str) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"module {{\n  func.func @f(%arg0: tensor<4xf32>, %arg1: index) {{\n{body}\n    return\n  }}\n}}\n"


def test_printed_ir_round_trips_through_iree_opt() -> None:
    text = function(
        f'%0 = "adze.add"(%arg0, %arg0) : {BINARY}',
        '%1 = "adze.compare"(%0, %arg0) {direction = "LT"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>',
        '%2 = "adze.broadcast_in_dim"(%0, %arg1) {dimensions = array<i64: 1>, '
        "shape = array<i64: -9223372036854775808, 4>} : (tensor<4xf32>, index) -> tensor<?x4xf32>",
    )
    done = iree_opt(text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == text.strip()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(
            '%0 = "adze.add"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>',
            "op expects exactly 2 operands, but got 1",
            id="too-few-operands",
        ),
        pytest.param(
            '%0 = "adze.neg"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>',
            "op expects exactly 1 operands, but got 2",
            id="too-many-operands",
        ),
        pytest.param(
            f'%0 = "adze.add"(%arg0, %arg0) {{}} : {BINARY.replace("-> tensor<4xf32>", "-> index")}',
            "expected base type 'builtin.tensor' but got 'builtin.index'",
            id="wrong-result",
        ),
        pytest.param(
            '%0 = "adze.neg"(%arg1) : (index) -> tensor<4xf32>',
            "expected base type 'builtin.tensor' but got 'builtin.index'",
            id="size-for-array",
        ),
        pytest.param(
            '%0 = "adze.compare"(%arg0, %arg0) {direction = "ABOVE"} '
            ": (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            "'\"ABOVE\"' does not satisfy the constraint",
            id="wrong-choice",
        ),
        pytest.param(
            '%0 = "adze.dim"(%arg0) {axis = "first"} : (tensor<4xf32>) -> index',
            "expected base attribute 'builtin.integer' but got 'builtin.string'",
            id="wrong-attribute",
        ),
        pytest.param(
            '%0 = "adze.dim"(%arg0) : (tensor<4xf32>) -> index',
            'attribute "axis" is expected but not provided',
            id="missing-attribute",
        ),
        pytest.param(
            f'%0 = "adze.plus"(%arg0, %arg0) : {BINARY}',
            "unregistered operation 'adze.plus' found in dialect ('adze')",
            id="unknown-op",
        ),
    ],
)
def test_what_is_not_adze_is_rejected(line: str, message: str) -> None:
    done = iree_opt(function(line))
    assert done.returncode != 0
    assert message in done.stderr, done.stderr


def test_irdl_still_wants_one_type_in_a_variadic_group() -> None:
    """When this fails, `irdl.py` can promise more: see its module docstring."""
    cast = '%0 = "adze.neg"(%arg0) : (tensor<4xf32>) -> tensor<?xf32>'
    join = (
        '%1 = "adze.concatenate"(%arg0, %0) {axis = 0 : i64} '
        ": (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>"
    )
    done = iree_opt(function(cast, join))
    assert "expected 'tensor<4xf32>' but got 'tensor<?xf32>'" in done.stderr
