// The part of IREE's C API (3.13) that the headers of `adze build --c-stub` use: declarations only, to check the
// syntax and the types of generated code where IREE's own headers are not installed. See docs/c.md.
#ifndef IREE_RUNTIME_API_H_
#define IREE_RUNTIME_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_ATTRIBUTE_UNUSED __attribute__((unused))

typedef size_t iree_host_size_t;
typedef size_t iree_device_size_t;
typedef struct iree_status_handle_t* iree_status_t;
typedef enum iree_status_code_e {
  IREE_STATUS_OK = 0,
  IREE_STATUS_INVALID_ARGUMENT = 3,
  IREE_STATUS_RESOURCE_EXHAUSTED = 8,
  IREE_STATUS_FAILED_PRECONDITION = 9,
  IREE_STATUS_INTERNAL = 13,
} iree_status_code_t;
#define iree_ok_status() ((iree_status_t)0)
#define iree_status_is_ok(value) ((uintptr_t)(value) == 0)
iree_status_t iree_status_allocate_f(iree_status_code_t code, const char* file, uint32_t line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
#define iree_make_status(code, ...) iree_status_allocate_f((code), __FILE__, __LINE__, __VA_ARGS__)
#define IREE_RETURN_IF_ERROR(expression)                     \
  do {                                                       \
    iree_status_t returned_status = (expression);            \
    if (!iree_status_is_ok(returned_status)) return returned_status; \
  } while (0)
void iree_status_fprint(FILE* file, iree_status_t status);
void iree_status_ignore(iree_status_t status);

typedef struct iree_allocator_t {
  void* self;
  void* ctl;
} iree_allocator_t;
iree_allocator_t iree_allocator_system(void);
iree_allocator_t iree_allocator_null(void);
typedef struct iree_string_view_t {
  const char* data;
  iree_host_size_t size;
} iree_string_view_t;
iree_string_view_t iree_make_cstring_view(const char* text);
typedef struct iree_const_byte_span_t {
  const uint8_t* data;
  iree_host_size_t data_length;
} iree_const_byte_span_t;
iree_const_byte_span_t iree_make_const_byte_span(const void* data, iree_host_size_t data_length);
typedef struct iree_timeout_t {
  int type;
  int64_t nanos;
} iree_timeout_t;
iree_timeout_t iree_infinite_timeout(void);

typedef uint32_t iree_hal_element_type_t;
typedef uint32_t iree_hal_encoding_type_t;
typedef iree_device_size_t iree_hal_dim_t;
typedef uint32_t iree_hal_memory_type_t;
typedef uint16_t iree_hal_memory_access_t;
typedef uint32_t iree_hal_buffer_usage_t;
typedef uint64_t iree_hal_transfer_buffer_flags_t;
enum {
  IREE_HAL_ELEMENT_TYPE_BOOL_8 = 0x13000008,
  IREE_HAL_ELEMENT_TYPE_INT_8 = 0x10000008,
  IREE_HAL_ELEMENT_TYPE_INT_16 = 0x10000010,
  IREE_HAL_ELEMENT_TYPE_INT_32 = 0x10000020,
  IREE_HAL_ELEMENT_TYPE_INT_64 = 0x10000040,
  IREE_HAL_ELEMENT_TYPE_FLOAT_16 = 0x21000010,
  IREE_HAL_ELEMENT_TYPE_BFLOAT_16 = 0x22000010,
  IREE_HAL_ELEMENT_TYPE_FLOAT_32 = 0x21000020,
  IREE_HAL_ELEMENT_TYPE_FLOAT_64 = 0x21000040,
  IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_64 = 0x23000040,
  IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_128 = 0x23000080,
};
enum { IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR = 1 };
enum { IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL = 48, IREE_HAL_MEMORY_ACCESS_ALL = 7, IREE_HAL_BUFFER_USAGE_DEFAULT = 3 };
enum { IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT = 0 };
typedef struct iree_hal_buffer_params_t {
  iree_hal_buffer_usage_t usage;
  iree_hal_memory_access_t access;
  iree_hal_memory_type_t type;
} iree_hal_buffer_params_t;
typedef struct iree_hal_device_t iree_hal_device_t;
typedef struct iree_hal_allocator_t iree_hal_allocator_t;
typedef struct iree_hal_buffer_t iree_hal_buffer_t;
typedef struct iree_hal_buffer_view_t iree_hal_buffer_view_t;
void iree_hal_device_release(iree_hal_device_t* device);
iree_status_t iree_hal_buffer_view_allocate_buffer_copy(
    iree_hal_device_t* device, iree_hal_allocator_t* allocator, iree_host_size_t shape_rank,
    const iree_hal_dim_t* shape, iree_hal_element_type_t element_type, iree_hal_encoding_type_t encoding_type,
    iree_hal_buffer_params_t buffer_params, iree_const_byte_span_t initial_data,
    iree_hal_buffer_view_t** out_buffer_view);
void iree_hal_buffer_view_release(iree_hal_buffer_view_t* buffer_view);
iree_hal_buffer_t* iree_hal_buffer_view_buffer(const iree_hal_buffer_view_t* buffer_view);
iree_host_size_t iree_hal_buffer_view_shape_rank(const iree_hal_buffer_view_t* buffer_view);
iree_hal_dim_t iree_hal_buffer_view_shape_dim(const iree_hal_buffer_view_t* buffer_view, iree_host_size_t index);
iree_device_size_t iree_hal_buffer_view_byte_length(const iree_hal_buffer_view_t* buffer_view);
iree_status_t iree_hal_device_transfer_d2h(iree_hal_device_t* device, iree_hal_buffer_t* source,
                                           iree_device_size_t source_offset, void* target,
                                           iree_device_size_t data_length, iree_hal_transfer_buffer_flags_t flags,
                                           iree_timeout_t timeout);

typedef struct iree_runtime_instance_t iree_runtime_instance_t;
typedef struct iree_runtime_session_t iree_runtime_session_t;
typedef struct iree_runtime_instance_options_t {
  void* driver_registry;
} iree_runtime_instance_options_t;
typedef struct iree_runtime_session_options_t {
  uint32_t context_flags;
  uint64_t builtin_modules;
} iree_runtime_session_options_t;
typedef struct iree_runtime_call_t {
  iree_runtime_session_t* session;
  void* function;
  void* inputs;
  void* outputs;
} iree_runtime_call_t;
void iree_runtime_instance_options_initialize(iree_runtime_instance_options_t* out_options);
void iree_runtime_instance_options_use_all_available_drivers(iree_runtime_instance_options_t* options);
iree_status_t iree_runtime_instance_create(const iree_runtime_instance_options_t* options,
                                           iree_allocator_t host_allocator, iree_runtime_instance_t** out_instance);
void iree_runtime_instance_release(iree_runtime_instance_t* instance);
iree_allocator_t iree_runtime_instance_host_allocator(const iree_runtime_instance_t* instance);
iree_status_t iree_runtime_instance_try_create_default_device(iree_runtime_instance_t* instance,
                                                              iree_string_view_t driver_name,
                                                              iree_hal_device_t** out_device);
void iree_runtime_session_options_initialize(iree_runtime_session_options_t* out_options);
iree_status_t iree_runtime_session_create_with_device(iree_runtime_instance_t* instance,
                                                      const iree_runtime_session_options_t* options,
                                                      iree_hal_device_t* device, iree_allocator_t host_allocator,
                                                      iree_runtime_session_t** out_session);
void iree_runtime_session_release(iree_runtime_session_t* session);
iree_hal_device_t* iree_runtime_session_device(const iree_runtime_session_t* session);
iree_hal_allocator_t* iree_runtime_session_device_allocator(const iree_runtime_session_t* session);
iree_status_t iree_runtime_session_append_bytecode_module_from_memory(iree_runtime_session_t* session,
                                                                      iree_const_byte_span_t flatbuffer_data,
                                                                      iree_allocator_t flatbuffer_allocator);
iree_status_t iree_runtime_session_append_bytecode_module_from_file(iree_runtime_session_t* session,
                                                                    const char* file_path);
iree_status_t iree_runtime_call_initialize_by_name(iree_runtime_session_t* session, iree_string_view_t full_name,
                                                   iree_runtime_call_t* out_call);
void iree_runtime_call_deinitialize(iree_runtime_call_t* call);
iree_status_t iree_runtime_call_invoke(iree_runtime_call_t* call, uint32_t flags);
iree_status_t iree_runtime_call_inputs_push_back_buffer_view(iree_runtime_call_t* call,
                                                             iree_hal_buffer_view_t* buffer_view);
iree_status_t iree_runtime_call_outputs_pop_front_buffer_view(iree_runtime_call_t* call,
                                                              iree_hal_buffer_view_t** out_buffer_view);

#ifdef __cplusplus
}
#endif

#endif  // IREE_RUNTIME_API_H_
