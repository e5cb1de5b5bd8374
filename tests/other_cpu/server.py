"""Loads and calls programs on the processor that runs this: the other end of `plugin.py`.

Input: messages on the standard input, each a pickle behind its length. Output: an answer to each on the
standard output. It needs adze's runtime, as its wheel installs it, and nothing of the tests, so that it can
be sent to a Python elsewhere as text.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections import OrderedDict
from typing import Any, BinaryIO

import numpy as np

MOST_PROGRAMS = 200
_LENGTH = struct.Struct("<Q")
_WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)} | {16: np.dtype(np.complex128)}


def send(stream: BinaryIO, message: object) -> None:
    """Write a message."""
    data = pickle.dumps(message)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message; EOFError at the end."""
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        raise EOFError("there is no further message")
    return pickle.loads(stream.read(*_LENGTH.unpack(length)))


def words_of(view: Any) -> tuple[int, np.ndarray]:
    """The element type of an array of IREE, and its elements as words of their size."""
    shape, element_type = list(view.shape), view.element_type
    words = _WORDS[max((element_type & 0xFF) // 8, 1)]
    if 0 in shape:
        return element_type, np.empty(shape, words)
    return element_type, view.map().asarray(shape, words).copy()


def view_of(device: Any, element_type: int, words: np.ndarray) -> Any:
    """An array of IREE on a device of adze."""
    return device.copy_in(words, element_type) if words.size else device.empty_view(words.shape, element_type)


def main() -> None:
    from adze.runtime.execute.devices import get_device
    from adze.runtime.execute.native import native

    messages, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what programs print must not become an answer
    iree, device = native(), get_device("local-sync")
    instance = iree.VmInstance()
    programs: OrderedDict[str, tuple[Any, Any]] = OrderedDict()

    def load(key: str, program: bytes) -> None:
        module = iree.VmModule.copy_buffer(instance, program)
        hal = iree.create_hal_module(instance, device.hal)
        programs[key] = iree.VmContext(instance, modules=[hal, module]), module
        while len(programs) > MOST_PROGRAMS:
            programs.popitem(last=False)

    def call(key: str, name: str, arguments: list[tuple[int, np.ndarray]]) -> list[tuple[int, np.ndarray]]:
        context, module = programs[key]
        views = [view_of(device, *each) for each in arguments]
        inputs, results = iree.VmVariantList(len(views)), iree.VmVariantList(1)
        for view in views:
            inputs.push_ref(view)
        context.invoke(module.lookup_function(name), inputs, results)
        return [words_of(results.get_as_object(k, iree.HalBufferView)) for k in range(len(results))]

    verbs = {"has": lambda key: key in programs, "load": load, "call": call}
    while True:
        try:
            verb, *rest = receive(messages)
        except EOFError:
            return
        try:
            answer = "done", verbs[verb](*rest)
        except Exception as error:
            answer = "failed", str(error)
        send(answers, answer)


if __name__ == "__main__":
    sys.exit(main())
