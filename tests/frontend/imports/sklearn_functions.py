"""scikit-learn's estimators and functions for arrays of other libraries, on arrays of adze; run as a script.

SciPy reads `SCIPY_ARRAY_API` when it is imported, so `test_neutral_code.py` runs this in a process of its
own. Its argument is a step: 1 checks every name, 5 every fifth. The output is the names of those that run on
arrays of adze and agree with the same on NumPy's, and on a second line of those that assign to elements,
which arrays of adze refuse. One that does otherwise ends the process.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

RNG: Final = np.random.default_rng(0)
X: Final = RNG.normal(size=(40, 4)).astype(np.float32)
POSITIVE: Final = np.abs(X) + np.float32(0.1)
PAIR: Final = (X, RNG.normal(size=(7, 4)).astype(np.float32))
TARGET: Final = (X @ RNG.normal(size=4) + 0.1 * RNG.normal(size=40)).astype(np.float32)
COUNTS: Final = np.abs(TARGET) + np.float32(0.2)
NEAR: Final = (COUNTS * RNG.uniform(0.8, 1.2, size=40)).astype(np.float32)
CLASSES: Final = (TARGET > 0).astype(np.int64)
GUESSES: Final = np.where(RNG.uniform(size=40) < 0.2, 1 - CLASSES, CLASSES)
LABELS: Final = np.stack([CLASSES, GUESSES, 1 - GUESSES], axis=1)
OTHERS: Final = np.stack([GUESSES, CLASSES, 1 - CLASSES], axis=1)
CHANCES: Final = RNG.uniform(0.05, 0.95, size=40).astype(np.float32)

Call: TypeAlias = Callable[..., Any]
Rows: TypeAlias = dict[str, tuple[Call, tuple[Any, ...]]]


def transformed(make: Call) -> Call:
    """What an estimator makes of the data that it has seen."""
    return lambda *arrays: make().fit_transform(*arrays)


def predicted(make: Call) -> Call:
    """What an estimator predicts of the data that it has seen."""
    return lambda *arrays: make().fit(*arrays).predict(arrays[0])


def magnitude(function: Call) -> Call:
    """Without signs, which singular vectors may have either way."""
    return lambda *arrays: abs(function(*arrays))


def rows() -> tuple[Rows, Rows]:
    """Those that run, and those that assign: names as in docs/imports.md, each with a call and its arrays."""
    from sklearn import (
        decomposition,
        discriminant_analysis,
        kernel_approximation,
        linear_model,
        metrics,
        mixture,
        model_selection,
        naive_bayes,
        preprocessing,
    )
    from sklearn.metrics import pairwise

    def of(module: Any, names: str, *arrays: Any) -> Rows:
        return {name: (getattr(module, name), arrays) for name in names.split()}

    def fits(module: Any, names: str, how: Call, *arrays: Any) -> Rows:
        return {name: (how(getattr(module, name)), arrays) for name in names.split()}

    pca = decomposition.PCA
    run = {
        "KernelCenterer": (transformed(preprocessing.KernelCenterer), (X @ X.T,)),
        **fits(preprocessing, "LabelEncoder LabelBinarizer", transformed, CLASSES),
        "PCA": (magnitude(transformed(lambda: pca(2, svd_solver="full"))), (X,)),
        "PCA (randomized)": (
            magnitude(transformed(lambda: pca(2, svd_solver="randomized", random_state=0))),
            (X,),
        ),
        "RidgeCV": (predicted(linear_model.RidgeCV), (X, TARGET)),
        "PoissonRegressor": (predicted(linear_model.PoissonRegressor), (X, COUNTS)),
        "train_test_split": (
            lambda x, y: model_selection.train_test_split(x, y, random_state=0),
            (X, TARGET),
        ),
        **of(
            metrics,
            "mean_squared_error mean_absolute_error root_mean_squared_error root_mean_squared_log_error "
            "mean_squared_log_error median_absolute_error mean_absolute_percentage_error mean_pinball_loss "
            "mean_tweedie_deviance mean_poisson_deviance mean_gamma_deviance d2_tweedie_score max_error",
            COUNTS,
            NEAR,
        ),
        **of(
            metrics,
            "accuracy_score balanced_accuracy_score zero_one_loss confusion_matrix matthews_corrcoef",
            CLASSES,
            GUESSES,
        ),
        **of(metrics, "hamming_loss multilabel_confusion_matrix", LABELS, OTHERS),
        **of(
            metrics,
            "log_loss d2_log_loss_score brier_score_loss d2_brier_score roc_curve roc_auc_score "
            "precision_recall_curve average_precision_score det_curve",
            CLASSES,
            CHANCES,
        ),
        **of(pairwise, "linear_kernel polynomial_kernel sigmoid_kernel", *PAIR),
        **of(pairwise, "paired_euclidean_distances paired_manhattan_distances", X, X[::-1].copy()),
        **of(pairwise, "chi2_kernel additive_chi2_kernel", POSITIVE, POSITIVE[:7]),
    }
    mixtures = partial(mixture.GaussianMixture, 2, init_params="random", random_state=0)
    assign = {
        **fits(
            preprocessing,
            "StandardScaler MinMaxScaler MaxAbsScaler Normalizer Binarizer PolynomialFeatures",
            transformed,
            X,
        ),
        'PCA(svd_solver="covariance_eigh")': (
            transformed(lambda: pca(2, svd_solver="covariance_eigh")),
            (X,),
        ),
        "Ridge": (predicted(lambda: linear_model.Ridge(solver="svd")), (X, TARGET)),
        "RidgeClassifierCV": (predicted(linear_model.RidgeClassifierCV), (X, CLASSES)),
        "RidgeClassifier": (predicted(lambda: linear_model.RidgeClassifier(solver="svd")), (X, CLASSES)),
        "LogisticRegression": (predicted(linear_model.LogisticRegression), (X, CLASSES)),
        "LinearDiscriminantAnalysis": (
            predicted(discriminant_analysis.LinearDiscriminantAnalysis),
            (X, CLASSES),
        ),
        "GaussianNB": (predicted(naive_bayes.GaussianNB), (X, CLASSES)),
        "GaussianMixture": (predicted(mixtures), (X,)),
        "Nystroem": (
            transformed(lambda: kernel_approximation.Nystroem(n_components=5, random_state=0)),
            (X,),
        ),
        "cross_val_predict": (
            lambda x, y: model_selection.cross_val_predict(linear_model.Ridge(solver="svd"), x, y),
            (X, TARGET),
        ),
        **of(
            metrics,
            "d2_absolute_error_score d2_pinball_score explained_variance_score r2_score",
            COUNTS,
            NEAR,
        ),
        **of(
            metrics,
            "jaccard_score f1_score precision_score recall_score cohen_kappa_score",
            CLASSES,
            GUESSES,
        ),
        **of(
            pairwise,
            "rbf_kernel laplacian_kernel cosine_similarity cosine_distances euclidean_distances "
            "manhattan_distances",
            *PAIR,
        ),
        **of(pairwise, "paired_cosine_distances", X, X[::-1].copy()),
    }
    return run, assign


def differences(name: str, function: Call, arrays: tuple[Any, ...], *, assigns: bool) -> str:
    """What is not as docs/imports.md says it is, or nothing."""
    import adze.numpy as xp

    try:
        got = _in_numpy(function(*(xp.asarray(array) for array in arrays)))
    except Exception as error:
        if assigns and "immutable" in str(error):
            return ""
        return f"{name}: {type(error).__name__}: {error}"
    if assigns:
        return f"{name} runs, and is said to assign to elements"
    for x, y in zip(got, _in_numpy(function(*arrays)), strict=True):
        if x.shape != y.shape or not np.allclose(x, y, rtol=2e-4, atol=2e-5, equal_nan=True):
            return f"{name} is not what it is of NumPy's arrays"
    return ""


def _in_numpy(result: Any) -> list[np.ndarray]:
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [np.asarray(part) for part in parts]


def main() -> None:
    os.environ["SCIPY_ARRAY_API"] = "1"
    warnings.simplefilter("ignore")
    import sklearn

    run, assign = rows()
    step = int(sys.argv[1])
    with sklearn.config_context(array_api_dispatch=True):
        for name, row in [*run.items(), *assign.items()][::step]:
            wrong = differences(name, *row, assigns=name in assign)
            if wrong:
                raise SystemExit(wrong)
    print(", ".join(run), ", ".join(assign), sep="\n")


if __name__ == "__main__":
    main()
