"""What the backward pass keeps, as `print_saved_residuals` lists it: what JAX lists for such functions."""

import re
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.ad_checkpoint import checkpoint_name, print_saved_residuals, saved_residuals

W1, W2, X = np.ones((5, 4), np.float32), np.ones((6, 5), np.float32), np.ones(4, np.float32)
ARGUMENTS = ["f32[5,4] from the argument W1", "f32[6,5] from the argument W2", "f32[4] from the argument x"]


def layer(w: Any, x: Any) -> Any:
    return anp.sin(anp.dot(w, x))


def net(W1: Any, W2: Any, x: Any) -> Any:
    return checkpoint_name(layer(W2, checkpoint_name(layer(W1, x), "a")), "b")


def lines(function: Any, *args: Any) -> list[str]:
    found = [f"{spec} {origin}" for spec, origin in saved_residuals(function, *args)]
    return [line.partition(f" from {__file__}")[0] for line in found]


def test_residuals_are_arguments_and_results_of_ops() -> None:
    plain = lines(lambda W1, W2, x: layer(W2, layer(W1, x)), W1, W2, X)
    sines = ["f32[5] output of sin", "f32[5] output of cos", "f32[6] output of cos"]
    assert plain == [*ARGUMENTS, *sines]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (adze.checkpoint_policies.nothing_saveable, []),
        (adze.checkpoint_policies.save_only_these_names("a"), ["f32[5] named 'a'"]),
        (adze.checkpoint_policies.save_any_names_but_these("b"), ["f32[5] named 'a'"]),
        (
            adze.checkpoint_policies.dots_saveable,
            ["f32[5] output of dot_general", "f32[6] output of dot_general"],
        ),
    ],
)
def test_a_policy_decides_what_is_kept(policy: Any, kept: list[str]) -> None:
    assert lines(adze.checkpoint(net, policy=policy), W1, W2, X) == [*ARGUMENTS, *kept]


def test_residuals_are_printed_with_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_saved_residuals(lambda tree: anp.exp(tree["x"]), {"x": X})
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("f32[4] output of exp from ")
    place = re.search(r"test_residuals.py:\d+:(\d+) \((\S+)\)$", line)
    assert place is not None and place[1] == "39"
    assert place[2] == "test_residuals_are_printed_with_the_line.<locals>.<lambda>"


def test_a_python_float_is_of_the_default_dtype() -> None:
    assert lines(lambda x: anp.sin(anp.sin(x)), 3.0) == ["f32[] output of cos"] * 2


def test_a_linear_function_keeps_nothing() -> None:
    assert saved_residuals(lambda x: x[::-1] + x, X) == []


def _dots(primitive: Any, *types: Any, **params: Any) -> bool:
    return str(primitive) == "dot_general" and types[0].shape[0] == 6 and "dimension_numbers" in params


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (lambda *_, **__: False, []),
        (_dots, ["f32[6] output of dot_general"]),
        (
            lambda primitive, *_, **__: str(primitive) != "sin",
            ["f32[5] output of dot_general", "f32[6] output of dot_general"],
        ),
        (
            adze.checkpoint_policies.save_from_both_policies(_dots, lambda p, *_, **__: str(p) == "sin"),
            ["f32[5] output of sin", "f32[6] output of dot_general"],
        ),
    ],
)
def test_a_function_of_primitives_decides_what_is_kept(policy: Any, kept: list[str]) -> None:
    def plain(W1: Any, W2: Any, x: Any) -> Any:
        return layer(W2, layer(W1, x))

    checkpointed = adze.checkpoint(plain, policy=policy)
    assert lines(checkpointed, W1, W2, X) == [*ARGUMENTS, *kept]
    for function in (adze.grad, lambda f: adze.jit(adze.grad(f))):
        slopes = (function(lambda w, g=g: anp.sum(g(w, W2, X)))(W1) for g in (plain, checkpointed))
        assert np.allclose(*slopes, rtol=1e-6)


def test_a_policy_of_nested_functions_and_of_batches() -> None:
    asked: list[str] = []

    def policy(primitive: Any, *_: Any, **__: Any) -> bool:
        asked.append(str(primitive))
        return True

    def f(x: Any) -> Any:
        y, _ = adze.scan(lambda c, _: (anp.sin(c), None), x, None, length=3)
        return adze.jit(anp.exp)(y), y

    loss = lambda x: sum(map(anp.sum, adze.checkpoint(f, policy=policy)(x)))  # noqa: E731
    batched = adze.vmap(adze.grad(loss))(np.ones((2, 3)))
    assert asked == ["scan", "jit"]
    assert np.allclose(batched, adze.vmap(adze.grad(lambda x: sum(map(anp.sum, f(x)))))(np.ones((2, 3))))
    with pytest.raises(adze.AdzeError, match="save_from_both_policies of a function and a policy"):
        adze.checkpoint_policies.save_from_both_policies(policy, adze.checkpoint_policies.dots_saveable)
