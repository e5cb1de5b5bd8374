"""Calls of imported ONNX models, beside onnxruntime on the CPU: one thread each, in interleaved rounds.

Input: the models of `examples/models`, and recurrent layers. Output: a table (or JSON) of milliseconds of CPU
time a call.

Both libraries run the same file on the same input; their results are compared before they are timed.

    taskset -c 1 python benchmarks/models.py --rounds 15
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from _measure import circumstances
from rich.console import Console
from rich.table import Table

import adze

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "models"))

import networks

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(op: str, size: int) -> onnx.ModelProto:
    """One recurrent layer with as many inputs as outputs."""
    draws, rows = np.random.default_rng(0), GATES[op] * size
    shapes = {"w": (1, rows, size), "r": (1, rows, size), "b": (1, 2 * rows)}
    weights = [
        onnx.numpy_helper.from_array((draws.normal(size=n) / np.sqrt(size)).astype(np.float32), name)
        for name, n in shapes.items()
    ]
    options = {"linear_before_reset": 1} if op == "GRU" else {}
    node = onnx.helper.make_node(op, ["x", "w", "r", "b"], ["y"], hidden_size=size, **options)
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["steps", "batch", size])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([node], op, [x], [y], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)


MODELS = {
    "resnet, 32x32, batch 1": (networks.resnet, (1, 3, 32, 32)),
    "resnet, 32x32, batch 8": (networks.resnet, (8, 3, 32, 32)),
    "transformer, 64 wide, batch 1": (networks.transformer, (1, 32, 64)),
    "transformer, 256 wide, batch 4": (lambda: networks.transformer(256, 8, 64, 1024), (4, 64, 256)),
    **{
        f"{op} of {size}, 50 steps, batch {batch}": (partial(recurrent, op, size), (50, batch, size))
        for op in GATES
        for size, batch in ((32, 1), (64, 1), (128, 1), (128, 8))
    },
}


def main() -> int:
    parser = argparse.ArgumentParser(description="imported ONNX models, beside onnxruntime")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of each program; the fastest counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    seconds = {name: measured(*entry, options.rounds) for name, entry in MODELS.items()}
    if options.json:
        print(json.dumps({"circumstances": circumstances(), "seconds": seconds}, indent=2))
        return 0
    table = Table(title="one call, CPU time of one thread")
    for heading in ("model", "adze", "onnxruntime", "onnxruntime / adze"):
        table.add_column(heading, justify="right")
    for name, times in seconds.items():
        ratio = times["onnxruntime"] / times["adze"]
        table.add_row(name, *(f"{times[k] * 1e3:.3f} ms" for k in ("adze", "onnxruntime")), f"{ratio:.2f}")
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table)
    console.print(", ".join(f"{key} {value}" for key, value in circumstances().items()))
    return 0


def measured(make: Callable[[], onnx.ModelProto], shape: tuple[int, ...], rounds: int) -> dict[str, float]:
    """Seconds of a call of each library, after their results were compared."""
    proto = make()
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    model = adze.from_onnx(proto, trainable=False)
    compiled = adze.jit(model).trace(adze.ShapeDtype(shape)).lower("cpu").compile()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    calls = {"adze": lambda: np.asarray(compiled(x)), "onnxruntime": lambda: session.run(None, {"x": x})[0]}
    np.testing.assert_allclose(calls["adze"](), calls["onnxruntime"](), rtol=1e-3, atol=1e-3)
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], cpu_seconds(call))
    return best


def cpu_seconds(call: Callable[[], np.ndarray]) -> float:
    """CPU time of a call, of as many as take 50 ms together: other programs on the machine do not count."""
    count, spent = 1, 0.0
    while True:
        started = time.process_time()
        for _ in range(count):
            call()
        spent = time.process_time() - started
        if spent > 0.05:
            return spent / count
        count *= 2


if __name__ == "__main__":
    sys.exit(main())
