"""The C code that is the same in the header of every program: load, close, arguments in, results out.

Input: the identifier of a program for `@NAME@`. Output: definitions of C11 and C++11 over IREE's C API.
The one idea: whatever a caller does wrong, such as a negative size or a missing pointer, is an
`iree_status_t`, never a crash.
"""

from __future__ import annotations

from typing import Final

from .manifest import Manifest

HELPERS: Final = """\
static IREE_ATTRIBUTE_UNUSED iree_status_t @NAME@_bytes(iree_host_size_t rank, const int64_t* shape,
                                                        size_t element, size_t* bytes) {
  size_t count = element;
  bool is_empty = false;
  for (iree_host_size_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a size is negative");
    if (shape[axis] == 0) is_empty = true;
  }
  for (iree_host_size_t axis = 0; axis < rank && !is_empty; ++axis) {
    if ((uint64_t)shape[axis] > (SIZE_MAX / 2) / count) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "an array is too large");
    }
    count *= (size_t)shape[axis];
  }
  *bytes = is_empty ? 0 : count;
  return iree_ok_status();
}

static iree_status_t @NAME@_begin(@NAME@_program_t* program, const char* function,
                                  iree_runtime_call_t* call) {
  if (program == NULL || program->session == NULL) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the program is not open");
  }
  return iree_runtime_call_initialize_by_name(program->session, iree_make_cstring_view(function), call);
}

static IREE_ATTRIBUTE_UNUSED iree_status_t @NAME@_push(iree_runtime_call_t* call, iree_host_size_t rank,
                                                       const int64_t* shape, iree_hal_element_type_t type,
                                                       size_t element, const void* values) {
  size_t bytes = 0;
  IREE_RETURN_IF_ERROR(@NAME@_bytes(rank, shape, element, &bytes));
  if (values == NULL && bytes != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "an argument is NULL");
  }
  iree_hal_dim_t dims[64];
  for (iree_host_size_t axis = 0; axis < rank; ++axis) dims[axis] = (iree_hal_dim_t)shape[axis];
  iree_hal_buffer_params_t params;
  memset(&params, 0, sizeof(params));
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  params.access = IREE_HAL_MEMORY_ACCESS_ALL;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_allocate_buffer_copy(
      iree_runtime_session_device(call->session), iree_runtime_session_device_allocator(call->session), rank,
      dims, type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
      iree_make_const_byte_span(values, bytes), &view));
  iree_status_t status = iree_runtime_call_inputs_push_back_buffer_view(call, view);
  iree_hal_buffer_view_release(view);
  return status;
}

static IREE_ATTRIBUTE_UNUSED iree_status_t @NAME@_pop(iree_runtime_call_t* call, iree_host_size_t rank,
                                                      const int64_t* shape, size_t element, void* values) {
  size_t bytes = 0;
  IREE_RETURN_IF_ERROR(@NAME@_bytes(rank, shape, element, &bytes));
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_call_outputs_pop_front_buffer_view(call, &view));
  iree_status_t status = iree_ok_status();
  bool is_expected = iree_hal_buffer_view_shape_rank(view) == rank;
  for (iree_host_size_t axis = 0; axis < rank && is_expected; ++axis) {
    is_expected = iree_hal_buffer_view_shape_dim(view, axis) == (iree_hal_dim_t)shape[axis];
  }
  if (!is_expected || iree_hal_buffer_view_byte_length(view) != bytes) {
    status = iree_make_status(IREE_STATUS_INTERNAL, "a result has another shape than the header states");
  } else if (bytes != 0 && values == NULL) {
    status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the memory for a result is NULL");
  } else if (bytes != 0) {
    status = iree_hal_device_transfer_d2h(iree_runtime_session_device(call->session),
                                          iree_hal_buffer_view_buffer(view), 0, values, bytes,
                                          IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
  }
  iree_hal_buffer_view_release(view);
  return status;
}
"""

OPEN: Final = """\
static iree_status_t @NAME@_check_processor(void) {
@CHECKS@  return iree_ok_status();
}

static iree_status_t @NAME@_load_file(iree_runtime_session_t* session, const char* path) {
  return iree_runtime_session_append_bytecode_module_from_file(session, path != NULL ? path : @FILE@);
}

iree_status_t @NAME@_open(const char* path, const char* device, @NAME@_program_t* program) {
  memset(program, 0, sizeof(*program));
  IREE_RETURN_IF_ERROR(@NAME@_check_processor());
  iree_runtime_instance_options_t instance_options;
  iree_runtime_instance_options_initialize(&instance_options);
  iree_runtime_instance_options_use_all_available_drivers(&instance_options);
  IREE_RETURN_IF_ERROR(
      iree_runtime_instance_create(&instance_options, iree_allocator_system(), &program->instance));
  iree_hal_device_t* opened = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_instance_try_create_default_device(
      program->instance, iree_make_cstring_view(device != NULL ? device : "@DEVICE@"), &opened));
  iree_runtime_session_options_t session_options;
  iree_runtime_session_options_initialize(&session_options);
  iree_status_t status = iree_runtime_session_create_with_device(
      program->instance, &session_options, opened, iree_runtime_instance_host_allocator(program->instance),
      &program->session);
  iree_hal_device_release(opened);
  if (!iree_status_is_ok(status)) return status;
  if (path != NULL) return @NAME@_load_file(program->session, path);
  return @LOAD@(program->session, path);
}
"""

CLOSE: Final = """\
void @NAME@_close(@NAME@_program_t* program) {
  if (program->session != NULL) iree_runtime_session_release(program->session);
  if (program->instance != NULL) iree_runtime_instance_release(program->instance);
  memset(program, 0, sizeof(*program));
}
"""

_LOAD_EMBEDDED: Final = """
static iree_status_t @NAME@_load_embedded(iree_runtime_session_t* session, const char* path) {
  (void)path;
  return iree_runtime_session_append_bytecode_module_from_memory(
      session, iree_make_const_byte_span(@NAME@_vmfb, sizeof(@NAME@_vmfb)), iree_allocator_null());
}
"""

# Features by the names of `/proc/cpuinfo`, and those that GCC and Clang know them by.
_FEATURES: Final = {
    "pni": "sse3",
    "ssse3": "ssse3",
    "sse4_1": "sse4.1",
    "sse4_2": "sse4.2",
    "popcnt": "popcnt",
    "avx": "avx",
    "avx2": "avx2",
    "fma": "fma",
    "bmi1": "bmi",
    "bmi2": "bmi2",
    "avx512f": "avx512f",
    "avx512bw": "avx512bw",
    "avx512cd": "avx512cd",
    "avx512dq": "avx512dq",
    "avx512vl": "avx512vl",
}


def cpu_checks(manifest: Manifest) -> str:
    """Statements that return an error where the processor lacks what the code of the program uses.

    IREE does not check that, and the program would end by SIGILL.
    """
    if manifest.architecture != "x86_64" or not manifest.target.startswith("cpu"):
        return ""
    lines = [
        "#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))",
        "  __builtin_cpu_init();",
    ]
    for name in manifest.required_features:
        if name in _FEATURES:
            message = f"the program was built for processors with {_FEATURES[name]}"
            lines += [
                f"  if (!__builtin_cpu_supports({quoted(_FEATURES[name])})) {{",
                f"    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, {quoted(message)});",
                "  }",
            ]
    return "\n".join([*lines, "#endif\n"])


def embedded_bytes(program: str, content: bytes) -> str:
    """The program as an array of bytes, aligned to 64 as IREE needs it, and the function that loads it."""
    numbers = [f"{byte}," for byte in content]
    rows = "\n".join("".join(numbers[start : start + 32]) for start in range(0, len(numbers), 32))
    align = "#ifdef __cplusplus\nalignas(64)\n#else\n_Alignas(64)\n#endif\n"
    declared = f"{align}static const unsigned char {program}_vmfb[{len(content)}] = {{\n{rows}\n}};\n"
    return declared + _LOAD_EMBEDDED.replace("@NAME@", program)


def quoted(text: str) -> str:
    """A string of C: what is no plain ASCII is written in three octal digits a byte."""
    plain = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}"
        for b in text.encode("utf-8", "surrogateescape")
    )
    return f'"{plain}"'
