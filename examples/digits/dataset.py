"""The handwritten digits of scikit-learn, split once and for all.

In: the 1797 images (8x8 grey values 0..16) that ship inside scikit-learn; nothing is downloaded.
Out: float32 images in 0..1 and integer labels, as a training part and a test part.
The split is a rule (every fifth image is a test image), so it needs no seed and cannot drift.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

TEST_STRIDE = 5


class Digits(NamedTuple):
    """The two parts; images are f32[n, 8, 8], labels are i64[n]."""

    train_images: NDArray[np.float32]
    train_labels: NDArray[np.int64]
    test_images: NDArray[np.float32]
    test_labels: NDArray[np.int64]


def load() -> Digits:
    """Read the images and split them: 1437 to train on, 360 to test on."""
    bunch = load_digits()
    images = (bunch.images / 16.0).astype(np.float32)
    labels = bunch.target.astype(np.int64)
    is_test = np.arange(len(images)) % TEST_STRIDE == 0
    return Digits(images[~is_test], labels[~is_test], images[is_test], labels[is_test])
