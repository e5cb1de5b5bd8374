"""Runs a built digit network without the compiler, as a deployment would.

Input: a .vmfb, the images and the batch size.
Output: the probabilities as .npy, and one line of JSON per batch on standard output.

The last line lists the imported compiler modules; the demo checks that it lists none.

    python examples/digits/infer.py digits.vmfb images.npy 60 probabilities.npy
"""

import json
import sys
import time

import numpy as np

import adze


def main(module_path: str, images_path: str, batch_size: int, out_path: str) -> None:
    predict = adze.load(module_path)
    images = np.load(images_path)
    predict(images[:batch_size])  # the first call is slower, because of page faults
    results = []
    for start in range(0, len(images), batch_size):
        began = time.perf_counter()
        results.append(np.asarray(predict(images[start : start + batch_size])))
        print(json.dumps({"batch_seconds": time.perf_counter() - began}), flush=True)
    np.save(out_path, np.concatenate(results))
    compiler_modules = sorted(name for name in sys.modules if name.startswith("iree.compiler"))
    print(json.dumps({"compiler_modules": compiler_modules}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
