"""Linear models and support vector machines of ai.onnx.ml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call
from .features import features_of, labels_of, numbers, transform, transformed


def _scores(call: Call, x: Any) -> Any:
    """`x @ coefficients.T + intercepts`: a column for each row of coefficients."""
    x = xp.astype(x if x.ndim > 1 else x[None], np.float32)
    coefficients, count = numbers(call, "coefficients").astype(np.float32), features_of(x)
    if not coefficients.size or not count or coefficients.size % count:
        raise ModelError(f"it has {coefficients.size} coefficients for {count} features")
    scores = x @ coefficients.reshape(-1, count).T
    if not call.get("intercepts"):
        return scores
    return scores + numbers(call, "intercepts", coefficients.size // count).astype(np.float32)


def linear_regressor(call: Call, x: Any) -> Any:
    scores = _scores(call, x)
    if scores.shape[1] != call.integer("targets", 1):
        raise ModelError(f"it has coefficients for {scores.shape[1]} targets of {call.integer('targets', 1)}")
    return transformed(call, scores)


def linear_classifier(call: Call, x: Any) -> tuple[Any, Any]:
    """The label of the largest score, and the scores; of two classes there may be the second one's alone."""
    labels, scores = labels_of(call, "classlabels_ints", "classlabels_strings"), _scores(call, x)
    if scores.shape[1] == 1 and labels.size == 2:
        best = xp.astype(scores[:, 0] > 0, np.int64)
        if call.text("post_transform", "NONE") == "LOGISTIC":
            return xp.take(labels, best), transform("LOGISTIC", xp.concatenate([-scores, scores], axis=1))
        return xp.take(labels, best), xp.concatenate([1 - scores, scores], axis=1)
    best = xp.argmax(scores, axis=1)
    if labels.size not in (0, scores.shape[1]):
        raise ModelError(f"it has {labels.size} labels and coefficients for {scores.shape[1]} classes")
    return xp.take(labels, best) if labels.size else best, transformed(call, scores)


def svm_regressor(call: Call, x: Any) -> Any:
    """A sum of kernels at the support vectors; of one class, its sign."""
    x = xp.astype(x if x.ndim > 1 else x[None], np.float32)
    coefficients, count = numbers(call, "coefficients").astype(np.float32), call.integer("n_supports", 0)
    if count:
        vectors = numbers(call, "support_vectors").astype(np.float32)
        if coefficients.size != count or vectors.size != count * features_of(x):
            raise ModelError(f"it has {coefficients.size} coefficients for {count} support vectors")
        kernel = _kernel(call, x, vectors.reshape(count, -1))
    else:
        if coefficients.size != features_of(x):
            raise ModelError(f"it has {coefficients.size} coefficients for {features_of(x)} features")
        kernel = x
    score = (kernel @ coefficients)[:, None] + numbers(call, "rho", 1).astype(np.float32)
    if call.flag("one_class"):
        return xp.where(score > 0, np.float32(1), np.float32(-1))
    return transformed(call, score)


def _kernel(call: Call, x: Any, vectors: np.ndarray) -> Any:
    """The kernel of each row with each support vector."""
    kind = call.choice("kernel_type", "LINEAR", ("LINEAR", "POLY", "RBF", "SIGMOID"))
    gamma, constant, degree = (float(p) for p in call.get("kernel_params", ()) or (0, 0, 0))
    products = x @ vectors.T
    match kind:
        case "LINEAR":
            return products
        case "POLY":
            return (gamma * products + constant) ** degree
        case "RBF":
            distances = xp.sum((x[:, None, :] - vectors) ** 2, axis=-1)
            return xp.exp(-gamma * distances)
        case _:
            return xp.tanh(gamma * products + constant)


def svm_classifier(call: Call, x: Any) -> tuple[Any, Any]:
    """The class with most votes, and the scores of the pairs, as libsvm computes them."""
    labels = labels_of(call, "classlabels_ints", "classlabels_strings")
    each = call.get("vectors_per_class", ())
    if call.get("prob_a") or not each:
        raise ModelUnsupportedError(
            "support vector machines with probabilities or without support vectors are not supported",
            hint="export the classifier without probabilities",
        )
    x = xp.astype(x if x.ndim > 1 else x[None], np.float32)
    count, classes = sum(each), len(each)
    vectors = numbers(call, "support_vectors").astype(np.float32)
    coefficients = numbers(call, "coefficients").astype(np.float32)
    rho = numbers(call, "rho").astype(np.float32)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    fits = vectors.size == count * features_of(x) and coefficients.size == count * (classes - 1)
    if not fits or rho.size != len(pairs) or labels.size != classes:
        raise ModelError(f"its attributes do not fit {classes} classes of {count} support vectors")
    kernel = _kernel(call, x, vectors.reshape(count, -1))
    coefficients, ends = coefficients.reshape(classes - 1, count), np.cumsum([0, *each])
    columns = np.zeros((count, len(pairs)), np.float32)
    sides = np.zeros((len(pairs), classes, 2), np.float32)
    for number, (i, j) in enumerate(pairs):
        of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        columns[of_i, number], columns[of_j, number] = coefficients[j - 1, of_i], coefficients[i, of_j]
        sides[number, i, 0] = sides[number, j, 1] = 1
    scores = kernel @ columns + rho
    positive = xp.astype(scores > 0, np.float32)
    votes = positive @ sides[..., 0] + (1 - positive) @ sides[..., 1]
    best = xp.argmax(votes, axis=1)
    if classes == 2:
        scores = xp.concatenate([-scores, scores], axis=1)
    return xp.take(labels, best), transformed(call, scores)
