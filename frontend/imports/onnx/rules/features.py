"""Features of ai.onnx.ml: scaled, normalized, filled, encoded, joined; what scikit-learn's transformers are.

Numbers of labels and categories are integers or floats: adze has no strings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ....tracing.interpreter import ops
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call, has_elements


def no_texts(call: Call, *names: str) -> None:
    """Refuse attributes of texts."""
    for name in names:
        if call.get(name):
            raise ModelUnsupportedError(
                f"the attribute {name!r} has texts, and adze has no strings",
                hint="export the model with integers as labels and categories",
            )


def numbers(call: Call, name: str, count: int | None = None) -> np.ndarray:
    """An attribute of numbers, in float32 or int64; `count`: so many, or one for all."""
    values = np.asarray(call.get(name, ()))
    array = values.astype(np.int64 if values.dtype.kind == "i" else np.float32)
    if count is not None and array.size not in (1, count):
        raise ModelError(f"the attribute {name!r} has {array.size} elements, expected 1 or {count}")
    return array


def features_of(x: Any) -> int:
    """How many features the rows of an operand have."""
    if not x.ndim or not isinstance(x.shape[-1], int):
        raise ModelUnsupportedError(f"its features must be a known number, its input has {list(x.shape)}")
    return int(x.shape[-1])


def scaler(call: Call, x: Any) -> Any:
    count = features_of(x)
    offset, scale = (numbers(call, name, count) for name in ("offset", "scale"))
    return (xp.astype(x, np.float32) - offset) * scale


def normalizer(call: Call, x: Any) -> Any:
    """Rows divided by their largest element, or by their norm; rows whose divisor is zero stay."""
    x = xp.astype(x, np.float32)
    match call.choice("norm", "MAX", ("MAX", "L1", "L2")):
        case "MAX":
            norm = xp.max(x, axis=-1, keepdims=True)
        case "L1":
            norm = xp.sum(xp.abs(x), axis=-1, keepdims=True)
        case _:
            norm = xp.sqrt(xp.sum(x * x, axis=-1, keepdims=True))
    return x / xp.where(norm == 0, 1, norm)


def imputer(call: Call, x: Any) -> Any:
    """Missing elements replaced by the number of their feature."""
    kind = "float" if xp.isdtype(x.dtype, "real floating") else "int64"
    values = numbers(call, f"imputed_value_{kind}s", features_of(x)).astype(x.dtype)
    replaced = call.get(f"replaced_value_{kind}", 0)
    return xp.where(xp.isnan(x) if replaced != replaced else x == replaced, values, x)


def one_hot(call: Call, x: Any) -> Any:
    no_texts(call, "cats_strings")
    categories = numbers(call, "cats_int64s")
    hot = xp.astype(x, np.int64)[..., None] == categories
    if not call.flag("zeros", True) and has_elements(x) and not np.all(np.any(np.asarray(hot), axis=-1)):
        raise ModelError("its input has a category that the model does not know")
    return xp.astype(hot, np.float32)


def feature_vectorizer(call: Call, *inputs: Any) -> Any:
    """Inputs side by side, each of them cut or filled with zeros to its dimension."""
    columns = []
    for x, n in zip(inputs, call.ints("inputdimensions"), strict=True):
        x = xp.astype(x if x.ndim > 1 else x[:, None], np.float32)
        kept = x[:, :n]
        columns.append(xp.pad(kept, ((0, 0), (0, n - features_of(kept)))))
    return xp.concatenate(columns, axis=1)


def label_encoder(call: Call, x: Any) -> Any:
    """The value of each key; the default elsewhere."""
    no_texts(call, "keys_strings", "values_strings", "default_string" if _has_texts(call) else "")
    keys, values = (_mapped(call, side) for side in ("keys", "values"))
    if keys.shape != values.shape or not keys.size:
        raise ModelError(f"it has {keys.size} keys and {values.size} values")
    default = call.get("default_tensor")
    if default is None:
        is_float = values.dtype.kind == "f"
        default = call.get("default_float", -0.0) if is_float else call.get("default_int64", -1)
    matches = x[..., None] == keys
    if keys.dtype.kind == "f":
        matches = matches | (xp.isnan(x)[..., None] & np.isnan(keys))
    found = xp.take(values, xp.argmax(matches, axis=-1))
    return xp.where(xp.any(matches, axis=-1), found, np.asarray(default, values.dtype).reshape(()))


def _has_texts(call: Call) -> bool:
    tensors = [call.get(f"{side}_tensor") for side in ("keys", "values")]
    return any(t is not None and t.dtype.kind not in "iuf" for t in tensors)


def _mapped(call: Call, side: str) -> np.ndarray:
    tensor = call.get(f"{side}_tensor")
    if tensor is not None:
        return np.asarray(tensor).reshape(-1)
    name = next((n for n in (f"{side}_int64s", f"{side}_floats") if call.get(n)), f"{side}_int64s")
    return numbers(call, name)


def zip_map(call: Call, x: Any) -> Any:
    """The array itself, a column for each label: adze has no maps."""
    return x


def transformed(call: Call, scores: Any) -> Any:
    """Scores of classes or targets along the last axis, after `post_transform`."""
    legal = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    return transform(call.choice("post_transform", "NONE", legal), scores)


def transform(kind: str, scores: Any) -> Any:
    if kind == "LOGISTIC":
        return 1 / (1 + xp.exp(-scores))
    if kind == "PROBIT":
        return np.float32(np.sqrt(2)) * ops.erf_inv(2 * scores - 1)
    if kind in ("SOFTMAX", "SOFTMAX_ZERO"):
        largest = xp.max(scores, axis=-1, keepdims=True)
        powers = xp.exp(scores - largest)
        if kind == "SOFTMAX_ZERO":  # scores that are zero stay so, up to a factor
            powers = xp.where(xp.abs(scores) > 1e-7, powers, scores * xp.exp(-largest))
        return powers / xp.sum(powers, axis=-1, keepdims=True)
    return scores


def labels_of(call: Call, ints: str, texts: str) -> np.ndarray:
    """The labels of a classifier."""
    no_texts(call, texts)
    return np.asarray(call.get(ints, ()), np.int64)
