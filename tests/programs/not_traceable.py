"""NumPy programs that cannot be traced as they stand, and why; no adze in this file.

Each is paired with the word that adze's error must contain, so that a user of such a program is told
what to write instead. Anything that becomes traceable moves to the other files.
"""

import numpy as np


def jacobi_2d_in_place(a, b):
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    return b


def floyd_warshall_in_place(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return path


def histogram_add_at(counts, bins):
    np.add.at(counts, bins, 1)
    return counts


def iterate_until_converged(x):
    while np.abs(np.cos(x) - x).max() > 1e-8:
        x = np.cos(x)
    return x


def newton_with_branch(x):
    if x > 0:
        return np.sqrt(x)
    return np.zeros_like(x)


def mean_of_selected(data, radius):
    return data[radius < 0.5].mean()


def as_concrete_array(x):
    return np.asarray(x) + 1


def size_from_value(n):
    return np.zeros(int(n))


# (program, why, what the error must mention)
NOT_TRACEABLE = (
    (jacobi_2d_in_place, "assigns to a slice", ".at["),
    (floyd_warshall_in_place, "assigns to a slice", ".at["),
    (histogram_add_at, "ufunc.at writes into its argument", "at"),
    (iterate_until_converged, "the trip count depends on values", "adze."),
    (newton_with_branch, "the branch depends on a value", "cond"),
    (mean_of_selected, "the number of selected elements depends on values", "where"),
    (as_concrete_array, "np.asarray wants the values", "asarray"),
    (size_from_value, "the shape depends on a value", "static_argnums"),
)

INPUTS = {
    "jacobi_2d_in_place": (np.ones((6, 6)), np.ones((6, 6))),
    "floyd_warshall_in_place": (np.ones((4, 4)),),
    "histogram_add_at": (np.zeros(4, np.int64), np.array([0, 1, 1, 3])),
    "iterate_until_converged": (np.linspace(0.0, 1.0, 4),),
    "newton_with_branch": (np.float64(2.0),),
    "mean_of_selected": (np.ones(5), np.linspace(0.0, 1.0, 5)),
    "as_concrete_array": (np.ones(3),),
    "size_from_value": (np.int64(3),),
}
