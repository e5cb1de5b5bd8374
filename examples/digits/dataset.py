"""The handwritten digits of scikit-learn, with a fixed split into training and test images.

Input: the 1797 images (8x8 grey values 0..16) that scikit-learn contains; nothing is downloaded.
Output: float32 images in 0..1 and integer labels, for training and for testing.

Every fifth image is a test image, so the split needs no seed and is always the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

TEST_STRIDE = 5


class Digits(NamedTuple):
    """The training and test data; images are f32[n, 8, 8], labels are i64[n]."""

    train_images: NDArray[np.float32]
    train_labels: NDArray[np.int64]
    test_images: NDArray[np.float32]
    test_labels: NDArray[np.int64]


def load() -> Digits:
    """Load the images and split them into 1437 training images and 360 test images."""
    bunch = load_digits()
    images = (bunch.images / 16.0).astype(np.float32)
    labels = bunch.target.astype(np.int64)
    is_test = np.arange(len(images)) % TEST_STRIDE == 0
    return Digits(images[~is_test], labels[~is_test], images[is_test], labels[is_test])
