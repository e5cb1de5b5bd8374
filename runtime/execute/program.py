"""Programs on a device: load `.vmfb` bytes, call their functions.

Input: bytes that IREE compiled, and a `Device`. Output: an `Executable` whose functions take and return
`DeviceArray`s. The path of a call is short: compare shapes and dtypes, push the buffers, invoke. Errors are
explained off that path. Several threads may call one function at once.
"""

from __future__ import annotations

import functools
import math
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from ..artifact.signature import (
    ArraySpec,
    FunctionSignature,
    check_arguments,
    check_signature,
    signature_from_declaration,
)
from ..errors import ArtifactError, CallError, CallTypeError, DeviceError, FailedCallError
from .array import DeviceArray, buffer_element_type, from_host
from .devices import Device, DeviceKind, cpu_driver_for, get_device
from .gpu_drivers import NEWER_DRIVER
from .gpu_faults import is_lost, lost_device
from .host_calls import (
    HostSite,
    host_call_error,
    interruptible,
    interrupts_of_functions,
    modules_of,
    take_raised,
)
from .native import native
from .transfers import together
from .waits import Invoke, locked, patient

if TYPE_CHECKING:
    from iree import runtime as iree_runtime

# From this size on, a NumPy argument whose memory can be shared is not copied for the call.
_SHARE_FROM_BYTES: Final = 1 << 16


class Executable:
    """A loaded program. `executable.function(name)` is what to keep for repeated calls."""

    def __init__(
        self,
        vmfb: bytes,
        device: str | Device | None = None,
        signatures: Iterable[FunctionSignature] = (),
        modules: Sequence[Callable[[iree_runtime.VmInstance], iree_runtime.VmModule]] = (),
        sites: Sequence[HostSite] = (),
        work: float | None = None,
    ) -> None:
        """Load `vmfb` on `device`. `signatures` give what IREE forgets: names and signs.

        `modules` make the modules of IREE that the program imports, such as that of its parameters, and
        `sites` are the functions of this process that it calls. `work` is what a call takes, dynamic sizes
        counted as 1: with it calls of a program on the caller's thread run on the pool where they are large.
        A program with a state has one device, so it must have none.
        """
        self.device = get_device(device)
        self._sites = tuple(sites)
        self._larger = None
        if work is not None and self.device.name == "local-sync" and not modules and not sites:
            self._larger = LargeCalls(work, lambda: Executable(vmfb, "local-task", signatures))
        modules = (*modules, *modules_of(self._sites, self.device))
        self.device.enter()
        self.device.forget_unused()
        try:
            self._module = native().VmModule.copy_buffer(_vm_instance(), vmfb)
            self._modules = (*(make(_vm_instance()) for make in modules), self._module)
            with interrupts_of_functions(), self.device.lock:
                self._context = _new_context(self._modules, self.device)
        except Exception as error:
            raised = take_raised()  # by a function that the program asks when it is loaded
            if raised is not None:
                raise host_call_error(raised, "load") from error
            code = _NO_CODE.search(str(error)) if self.device.kind is DeviceKind.CUDA else None
            hint = None if code is None else NEWER_DRIVER if "VERSION" in code[1] else NO_OLDER_CODE
            raise ArtifactError(_explain_load(error, self.device), hint=hint) from error
        self._signatures = {signature.name: signature for signature in signatures}
        self._functions: dict[str, Function] = {}

    @property
    def function_names(self) -> list[str]:
        """The functions that the program exports."""
        return [name for name in self._module.function_names if not name.startswith("__")]

    def function(self, name: str) -> Function:
        """The exported function `name`, ready to call."""
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._make_function(name)
        return function

    def call(self, name: str, arguments: Sequence[Any]) -> list[DeviceArray]:
        """Call function `name`; arguments may be DeviceArrays or anything NumPy reads."""
        return self.function(name).call(arguments)

    def reflection(self, name: str) -> dict[str, str]:
        """The key-value texts that the program carries for function `name`."""
        return dict(self._lookup(name).reflection)

    def _lookup(self, name: str) -> Any:
        function = self._module.lookup_function(name) if name in self.function_names else None
        if function is None:
            raise CallError(
                f"the program has no function {name!r}: it has {', '.join(self.function_names) or 'none'}"
            )
        return function

    def _make_function(self, name: str) -> Function:
        vm_function = self._lookup(name)
        signature = self._signatures.get(name)
        declaration = vm_function.reflection.get("iree.abi.declaration", "")
        if signature is None:
            signature = signature_from_declaration(name, declaration)
        elif declaration:
            check_signature(signature, signature_from_declaration(name, declaration))
        function = Function(
            self._context, self._opened_again, vm_function, signature, self.device, bool(self._sites)
        )
        if self._larger is not None:
            function.large_calls = self._larger.of(signature)
        return function

    def _opened_again(self) -> tuple[iree_runtime.VmContext, Device]:
        """In a forked child: the program on a device of this process, whose threads are here.

        All functions share it, as they share its state; that of the parent stays there.
        """
        if not self.device.is_usable:
            self.device.enter()  # raises of a GPU
            self.device = get_device(self.device.name)
            self._context = _new_context(self._modules, self.device)
        return self._context, self.device


class Function:
    """One function of an Executable. Calling it with DeviceArrays of its device is the fast way."""

    def __init__(
        self,
        context: iree_runtime.VmContext,
        opened_again: Callable[[], tuple[iree_runtime.VmContext, Device]],
        vm_function: iree_runtime.VmFunction,
        signature: FunctionSignature,
        device: Device,
        calls_functions: bool = False,
    ) -> None:
        self.signature = signature
        self.device = device
        self._context = context
        self._opened_again = opened_again
        self._vm_function = vm_function
        self._process_bound = device.name != "local-sync"
        self._calls_functions = calls_functions
        self._invoke = self._invoke_of(context)
        self._new_list = native().VmVariantList
        self._view_class = native().HalBufferView
        self._arity = len(signature.inputs)
        # The shape of a static argument is compared as a whole; None sends a call through the full check.
        self._inputs = tuple(
            (spec.static_shape, spec.dtype, buffer_element_type(spec.dtype)) for spec in signature.inputs
        )
        self._outputs = tuple((spec.dtype, spec.static_shape) for spec in signature.outputs)
        self._result_count = len(self._outputs)
        self.copied_types = tuple(
            element_type if shape is not None and _is_copied(shape, dtype) else None
            for shape, dtype, element_type in self._inputs
        )
        """For each input of static shape whose NumPy arrays are copied for a call: IREE's element type."""
        self.large_calls: LargeCallsOf | None = None
        """The same on the pool of threads, where some calls are large."""

    def __call__(self, *arguments: DeviceArray) -> list[DeviceArray]:
        """Call with one DeviceArray per input; the results are new arrays."""
        if len(arguments) != self._arity:
            return self._run(self._explained_inputs(arguments))
        views = []
        device = self.device
        for argument, (shape, dtype, _) in zip(arguments, self._inputs, strict=True):
            # identity first: it holds for nearly every call, and `==` of dtypes is slow
            if (
                not isinstance(argument, DeviceArray)
                or argument.shape != shape
                or (argument.dtype is not dtype and argument.dtype != dtype)
                or (argument.device is not device and argument.device.memory != device.memory)
            ):
                return self._run(self._explained_inputs(arguments))
            views.append(argument.view)
        return self._run(views)

    def call(self, arguments: Sequence[Any]) -> list[DeviceArray]:
        """Call with DeviceArrays, NumPy arrays, or anything NumPy reads, mixed as they come."""
        if len(arguments) != self._arity:
            return self._call_converted(arguments)
        views = []
        device = self.device
        for argument, (shape, dtype, element_type) in zip(arguments, self._inputs, strict=True):
            if type(argument) is np.ndarray:
                if (
                    argument.shape != shape
                    or (argument.dtype is not dtype and argument.dtype != dtype)
                    or element_type is None
                    or argument.nbytes >= _SHARE_FROM_BYTES
                    or not argument.flags.c_contiguous
                ):
                    return self._call_converted(arguments)
                views.append(device.copy_in(argument, element_type))
            elif (
                isinstance(argument, DeviceArray)
                and argument.shape == shape
                and (argument.dtype is dtype or argument.dtype == dtype)
                and (argument.device is device or argument.device.memory == device.memory)
            ):
                views.append(argument.view)
            else:
                return self._call_converted(arguments)
        return self._run(views)

    @property
    def is_usable(self) -> bool:
        """Whether the device works in this process; `call` opens it again where it does not."""
        return not self._process_bound or self.device.is_usable

    def call_views(self, views: Iterable[Any]) -> list[Any]:
        """The views of the results for views of arguments, of which nothing is checked.

        The caller knows that the arguments have the shapes and dtypes of the signature, and are in the memory
        of a device that is usable.
        """
        if not self.device.is_cpu:
            self.device.enter()
        if self.large_calls is not None:
            views = list(views)
            if self.large_calls.has(views):
                return self.large_calls.function.call_usable(views)
        inputs = self._new_list(self._arity)
        push = inputs.push_ref
        for view in views:
            push(view)
        results = self._new_list(self._result_count)
        try:
            self._invoke(self._vm_function, inputs, results)
        except Exception as error:
            self.fail(error)
        view_class, result = self._view_class, results.get_as_object
        views = [result(position, view_class) for position in range(self._result_count)]
        return views if self.device.is_cpu else [self._bindable(view) for view in views]

    def fail(self, error: Exception) -> NoReturn:
        """Raise what a call that ended with `error` is to the caller."""
        raised = take_raised()
        if raised is not None:
            explained = host_call_error(raised, self.signature.name)
            raise explained from (None if explained is raised else raised)
        if not self.device.is_cpu and is_lost(error):
            raise lost_device(error, self.device.name, f"{self.signature.name}()") from error
        raise FailedCallError(_explain_call(error, self.signature)) from error

    def parts(self, shapes: Sequence[tuple[int, ...]] | None = None) -> dict[str, Any] | None:
        """What a call by hand takes, by name: see `call_views`. None where results need a look, on GPUs.

        It is that of the present context: a forked child has another one where the device has threads.
        None, too, where the sizes of a call decide where it runs: it is for arguments of these `shapes`, if
        they are known, which must not be large.
        """
        if not self.device.is_cpu:
            return None
        if self.large_calls is not None and (shapes is None or self.large_calls.has_shapes(shapes)):
            return None
        return {
            "invoke": self._invoke,
            "vm_function": self._vm_function,
            "new_list": self._new_list,
            "view_class": self._view_class,
        }

    def _bindable(self, view: Any) -> Any:
        """A result that another program for a GPU takes: without elements it has no bytes."""
        return view if view.byte_length else self.device.empty_view(view.shape, view.element_type)

    def call_usable(self, views: Iterable[Any]) -> list[Any]:
        """As `call_views`, on a device that may have to be opened again."""
        if not self.is_usable:
            self._open_again()
        return self.call_views(views)

    def _run(self, views: Sequence[Any]) -> list[DeviceArray]:
        results = self.call_usable(views)
        device = self.device
        return [
            DeviceArray(view, tuple(view.shape) if shape is None else shape, dtype, device)
            for view, (dtype, shape) in zip(results, self._outputs, strict=True)
        ]

    def _invoke_of(self, context: iree_runtime.VmContext) -> Invoke:
        invoke = patient(context.invoke) if self._process_bound and self.device.is_cpu else context.invoke
        if self.device.kind is DeviceKind.VULKAN:
            invoke = locked(invoke, self.device.lock)
        return interruptible(invoke) if self._calls_functions else invoke

    def _open_again(self) -> None:
        self._context, self.device = self._opened_again()
        self._invoke = self._invoke_of(self._context)

    def _call_converted(self, arguments: Sequence[Any]) -> list[DeviceArray]:
        """The general way: every argument becomes a DeviceArray, large ones without a copy."""
        if self.device.is_cpu:
            converted, shared = self._converted(arguments)
        else:
            with together():
                converted, shared = self._converted(arguments)
        results = self(*converted)
        if shared:
            # A result that is (part of) an argument would change when the caller writes to his array.
            results = [self._unshared(result, shared) for result in results]
        return results

    def _converted(self, arguments: Sequence[Any]) -> tuple[list[DeviceArray], list[np.ndarray]]:
        """The arguments on the device, and those whose memory they share."""
        converted = []
        shared: list[np.ndarray] = []
        for argument in arguments:
            if isinstance(argument, DeviceArray):
                converted.append(argument)
                continue
            may_share = isinstance(argument, np.ndarray) and argument.nbytes >= _SHARE_FROM_BYTES
            if may_share and self.device.is_cpu:
                shared.append(argument)
            converted.append(from_host(argument, self.device, copy=None if may_share else True))
        return converted, shared

    def _unshared(self, result: DeviceArray, shared: Sequence[np.ndarray]) -> DeviceArray:
        host = result.numpy()
        if any(np.may_share_memory(host, argument) for argument in shared):
            return from_host(host, self.device, copy=True)
        return result

    def _explained_inputs(self, arguments: Sequence[DeviceArray]) -> list[Any]:
        """The views of arguments that the quick comparison did not settle, or the error for them."""
        for position, argument in enumerate(arguments):
            if not isinstance(argument, DeviceArray):
                raise CallTypeError(
                    f"{self.signature.name}(): argument {position} is {type(argument).__name__}: "
                    "expected DeviceArray",
                    hint="Function.call() converts other arrays",
                )
        check_arguments(self.signature, [(argument.shape, argument.dtype) for argument in arguments])
        inputs = zip(arguments, self.signature.inputs, strict=True)
        return [self._on_this_device(argument, spec).view for argument, spec in inputs]

    def _on_this_device(self, argument: DeviceArray, spec: ArraySpec) -> DeviceArray:
        if argument.device.memory == self.device.memory:
            return argument
        raise DeviceError(
            f"{self.signature.name}(): argument {spec.name!r} is on {argument.device.name} and the program "
            f"on {self.device.name}",
            hint=f"move it: adze.device_put({spec.name}, {self.device.name!r}); or run the program there: "
            f"device={argument.device.name!r}",
        )


class LargeCalls:
    """A program on the pool of threads, loaded there when the first large call comes."""

    def __init__(self, work: float, load: Callable[[], Executable]) -> None:
        self.work = work
        self.executable = functools.cache(load)

    def of(self, signature: FunctionSignature) -> LargeCallsOf | None:
        """Those of one function; None where all its sizes are known, so that its calls take the same."""
        places: dict[str | tuple[int, int], tuple[int, int]] = {}
        for number, spec in enumerate(signature.inputs):
            for axis, size in enumerate(spec.shape):
                if not isinstance(size, int):
                    places.setdefault(size or (number, axis), (number, axis))
        return LargeCallsOf(self, signature.name, tuple(places.values())) if places else None


class LargeCallsOf:
    """The large calls of a function: `places` are an argument and an axis for each size that is not known."""

    def __init__(self, program: LargeCalls, name: str, places: Sequence[tuple[int, int]]) -> None:
        self._program = program
        self._name = name
        self._places = places

    def has(self, views: Sequence[Any]) -> bool:
        """Whether a call with these arguments repays the pool: its work grows as its sizes do."""
        work = self._program.work
        for number, axis in self._places:
            work *= views[number].shape[axis]
        return cpu_driver_for(work) == "local-task"

    def has_shapes(self, shapes: Sequence[tuple[int, ...]]) -> bool:
        """As `has`, of arguments of these shapes."""
        sizes = (shapes[number][axis] for number, axis in self._places)
        return cpu_driver_for(math.prod(sizes, start=self._program.work)) == "local-task"

    @property
    def function(self) -> Function:
        """The function that runs on the pool."""
        return self._program.executable().function(self._name)


def _is_copied(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether a NumPy array of this shape is copied for a call, and never shared."""
    return math.prod(shape) * dtype.itemsize < _SHARE_FROM_BYTES


def _new_context(modules: Sequence[iree_runtime.VmModule], device: Device) -> iree_runtime.VmContext:
    instance = _vm_instance()
    hal = native().create_hal_module(instance, device.hal)
    return native().VmContext(instance, modules=[hal, *modules])


@functools.cache
def _vm_instance() -> iree_runtime.VmInstance:
    with _INSTANCE_LOCK:
        return native().VmInstance()


_INSTANCE_LOCK: Final = threading.Lock()


NO_OLDER_CODE: Final = (
    "adze's code for CUDA is for sm_80 (Ampere) and newer GPUs: run the program on another device, such as "
    'device="cpu"'
)
_NO_CODE: Final = re.compile(r"CUDA_ERROR_(INVALID_PTX|NO_BINARY_FOR_GPU|UNSUPPORTED_PTX_VERSION)")
"""What CUDA's driver says of code for newer GPUs, or of PTX of a newer version."""
_STATUS: Final = re.compile(r"\b([A-Z_]{4,}); (?P<text>.*?)(?:; (?:while|\[ \d+\])|\n|$)", re.DOTALL)
_MISSING_MODULE: Final = re.compile(r"required module '([\w_]+)'")


def _explain_call(error: Exception, signature: FunctionSignature) -> str:
    """The sentence inside an error of IREE: `...c:251: FAILED_PRECONDITION; dim 'n' ...; [ 1] byte...`."""
    text = str(error)
    match = _STATUS.search(text)
    reason = (match["text"] if match else text).strip(" ;\n")
    if match and match[1] == "RESOURCE_EXHAUSTED":
        return f"{signature.name}(): the device has not enough memory: {reason}"
    return f"{signature.name}(): {reason or 'the call failed and IREE gave no reason'}"


def _explain_load(error: Exception, device: Device) -> str:
    text = str(error)
    missing = _MISSING_MODULE.search(text)
    if (missing and "version mismatch" in text) or "signature mismatch" in text:
        reason = _first_reason(text)
        return f"the program was compiled by another version of IREE than the runtime here: {reason}"
    if missing and missing[1] in ("hal_inline", "hal_loader"):
        return (
            "the program was compiled with the inline execution model, which IREE's Python runtime cannot "
            "load: run it with iree-run-module, or compile it with the default model"
        )
    if missing:
        return f"the program needs an IREE module {missing[1]!r} that this runtime does not offer"
    if "NCCL" in text:
        return f"its devices exchange arrays by NCCL, and IREE cannot use what is here: {_first_reason(text)}"
    code = _NO_CODE.search(text) if device.kind is DeviceKind.CUDA else None
    if code is not None and "VERSION" in code[1]:
        return f"NVIDIA's driver is too old for the code of the program (CUDA_ERROR_{code[1]})"
    if code is not None:
        return (
            f"{device.name} is {device.description}, a cuda:{device.architecture} device, and the program is "
            f"for newer GPUs (CUDA_ERROR_{code[1]})"
        )
    if "INCOMPATIBLE" in text or "not found or unavailable" in text:
        return f"the program was not compiled for {device.name} ({device.description})"
    return f"not a program that IREE can load: {_first_reason(text)}"


def _first_reason(text: str) -> str:
    match = _STATUS.search(text)
    return (match["text"] if match else text).strip(" ;\n").split("\n", 1)[0]
