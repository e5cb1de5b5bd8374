"""`--in` texts reach the parameters they are meant for; what fits none is bad usage with the reason."""

from typing import Any

import pytest

from adze.cli.arguments import bind_specs
from adze.cli.reporting import BadUsage
from adze.frontend.tracing.specs import ShapeDtype

VECTOR = ShapeDtype((3,), "float32")
SCALAR = ShapeDtype((), "float32")


def predict(params: Any, x: Any, *, scale: Any = 1.0) -> Any:
    return params, x, scale


def test_specs_in_order_fill_positional_parameters() -> None:
    assert bind_specs(predict, ["{w: f32[3], b: f32[]}", "f32[3]"]) == (
        ({"w": VECTOR, "b": SCALAR}, VECTOR),
        {},
    )


def test_names_find_their_parameters_in_any_order() -> None:
    assert bind_specs(predict, ["scale=f32[]", "x=f32[3]", "params=f32[]"]) == (
        (SCALAR, VECTOR),
        {"scale": SCALAR},
    )


def test_leaves_given_one_by_one_make_a_tree() -> None:
    texts = ["params.layers.0=f32[3]", "params.layers.1=f32[]", "params.b=f32[]", "x=f32[3]"]
    assert bind_specs(predict, texts) == (({"layers": [VECTOR, SCALAR], "b": SCALAR}, VECTOR), {})


def test_dict_with_number_keys_written_as_one_stays_a_dict() -> None:
    assert bind_specs(predict, ["params={0: f32[3]}", "x=f32[3]"]) == (({"0": VECTOR}, VECTOR), {})


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (
            ["f32[3]"],
            "--in: predict(params: Any, x: Any, *, scale: Any = 1.0) -> Any cannot be called so: "
            "missing a required argument: 'x'",
        ),
        (
            ["f32[3]", "f32[3]", "f32[3]"],
            "--in: predict(params: Any, x: Any, *, scale: Any = 1.0) -> Any cannot be called so: "
            "too many positional arguments",
        ),
        (["x=f32[3]", "x=f32[3]"], "--in: 'x=f32[3]' gives 'x' a second time"),
        (
            ["x=f32[3]", "x.a=f32[3]"],
            "--in: 'x.a=f32[3]' goes into an argument that was given as a whole",
        ),
    ],
)
def test_specs_that_fit_no_parameter_are_bad_usage(texts: list[str], problem: str) -> None:
    with pytest.raises(BadUsage) as caught:
        bind_specs(predict, texts)
    assert caught.value.message == problem


def test_malformed_spec_is_bad_usage_of_the_option() -> None:
    with pytest.raises(BadUsage) as caught:
        bind_specs(predict, ["f31[3]"])
    assert str(caught.value).startswith(
        "--in: cannot read the spec 'f31[3]': unknown dtype 'f31': expected one of"
    )


def test_callable_without_a_signature_is_bad_usage() -> None:
    class Table(dict[str, Any]):
        """Its parameters are those of dict, which Python does not know."""

    with pytest.raises(BadUsage) as caught:
        bind_specs(Table, ["f32[3]"])
    assert str(caught.value) == (
        "Table does not say which parameters it has\n  hint: wrap it: def f(x): ..., and build f"
    )
