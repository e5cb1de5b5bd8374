/* A CUDA driver without GPUs: its devices' memory is the process's, its kernels do nothing, or run here.

   What of the driver API IREE asks for, so that its CUDA devices open, move arrays, run out of memory and are
   lost here as they would be on a GPU. Variables of the environment say how it behaves:

     FAKE_CUDA_DEVICES   how many devices there are (2)
     FAKE_CUDA_VERSION   the version of the driver (12040), which is the newest of PTX that it takes too
     FAKE_CUDA_CAPABILITY  the compute capability of each device (80)
     FAKE_CUDA_INIT      what cuInit returns (0)
     FAKE_CUDA_MEMORY    bytes of memory of each device (1 GiB)
     FAKE_CUDA_LOST      after so many launches each call of that device fails (never)
     FAKE_CUDA_WITHOUT   a function that this driver lacks (none)
     FAKE_CUDA_LOG       a file that gets a line for each copy and launch (none)
     FAKE_CUDA_GATE      a file that each copy waits for, five seconds at most, and fails without (none)
     FAKE_CUDA_APART     devices do not reach each other's memory, and copies between them fail (no)
     FAKE_CUDA_MACHINE   a command that makes a library of a module's PTX (`ptx_machine.py`; none: kernels do
                         nothing)

   Streams do each thing when they are told to, in order. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int Result;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, INVALID_PTX = 218,
  UNSUPPORTED_PTX_VERSION = 222, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700 };

/* As in ptx_machine.h. */
typedef struct { const char *name; void *run; int waits, static_shared, parameters; const int *sizes; } Kernel;
typedef void Launch(const Kernel *, const unsigned *, const unsigned *, unsigned, void **);
typedef struct { const Kernel *kernels; Launch *launch; } Module;
typedef struct { const Kernel *kernel; Launch *launch; char *name; } Function;

/* What `fake_cupti.c` puts here hears of each kernel that ran: its name, device, grid, and times in nanoseconds. */
void (*fake_cuda_heard)(const char *, int, const unsigned *, uint64_t, uint64_t);

typedef struct { int device; } Context;
typedef struct { Context *context; } Stream;
typedef struct { double at; } Event;
typedef struct Block { struct Block *next; void *start; size_t size; int device; int is_host, is_pool; } Block;
typedef struct Node Node;
typedef struct { Node *first, *last; size_t count; } Graph;
struct Node { Node *next; int kind; void *target, *source; size_t size; uint32_t value; int width; Event *event;
  Function *function; unsigned grid[3], block[3], shared; void **parameters;
};
enum { EMPTY, KERNEL, COPY, SET, RECORD };

static Context contexts[16];
static int retained[16];
static size_t used[16];
static long launches[16];
static Block *blocks;
static pthread_mutex_t memory = PTHREAD_MUTEX_INITIALIZER; /* of `blocks` and `used`: IREE has threads that free */
static __thread Context *stack[64];
static __thread int depth;

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

static void note(const char *format, ...) {
  const char *path = getenv("FAKE_CUDA_LOG");
  if (!path) return;
  FILE *file = fopen(path, "a");
  va_list values;
  va_start(values, format);
  vfprintf(file, format, values);
  va_end(values);
  fclose(file);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static int current(void) { return depth ? stack[depth - 1]->device : 0; }
static Result alive(int device) {
  long last = setting("FAKE_CUDA_LOST", -1);
  return last >= 0 && launches[device] >= last ? ILLEGAL_ADDRESS : SUCCESS;
}
/* 0, 1 and 2 are no streams but the default ones of the current context. */
static int device_of(Stream *stream) { return (uintptr_t)stream > 2 ? stream->context->device : current(); }

/* The driver and its devices. */
Result cuInit(unsigned flags) { return (Result)setting("FAKE_CUDA_INIT", 0); }
Result cuDriverGetVersion(int *version) { *version = (int)setting("FAKE_CUDA_VERSION", 12040); return SUCCESS; }
Result cuDeviceGetCount(int *count) { *count = (int)setting("FAKE_CUDA_DEVICES", 2); return SUCCESS; }
Result cuDeviceGet(int *device, int position) { *device = position; return SUCCESS; }
Result cuDeviceCanAccessPeer(int *can, int device, int peer) { *can = !getenv("FAKE_CUDA_APART"); return SUCCESS; }
Result cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, size, "Fake GPU %d", device);
  return SUCCESS;
}
Result cuDeviceGetUuid(unsigned char *uuid, int device) { memset(uuid, device + 1, 16); return SUCCESS; }
Result cuDeviceTotalMem_v2(size_t *bytes, int device) {
  *bytes = (size_t)setting("FAKE_CUDA_MEMORY", 1L << 30);
  return SUCCESS;
}
Result cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
    case 1: case 2: case 3: case 4: *value = 1024; break; /* threads of a block */
    case 5: case 6: case 7: *value = 65535; break;        /* blocks of a grid */
    case 8: *value = 49152; break;                        /* shared memory of a block */
    case 10: *value = 32; break;                          /* threads of a warp */
    case 12: *value = 65536; break;                       /* registers of a block */
    case 13: *value = 1410000; break;                     /* clock in kHz */
    case 16: *value = 108; break;                         /* multiprocessors */
    case 36: *value = 1215000; break;                     /* clock of the memory in kHz */
    case 37: *value = 5120; break;                        /* bits of its bus */
    case 75: *value = (int)setting("FAKE_CUDA_CAPABILITY", 80) / 10; break;
    case 76: *value = (int)setting("FAKE_CUDA_CAPABILITY", 80) % 10; break;
    case 97: *value = 166912; break;                      /* shared memory of a block, asked for */
    case 19: case 41: case 83: case 115: *value = 1; break; /* host memory, unified addresses, pools */
    default: *value = 0;
  }
  return SUCCESS;
}
Result cuGetErrorName(Result code, const char **name) {
  *name = code == OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == 100             ? "CUDA_ERROR_NO_DEVICE"
          : code == 803             ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
          : code == INVALID_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT"
          : code == NOT_FOUND       ? "CUDA_ERROR_NOT_FOUND"
          : code == INVALID_PTX     ? "CUDA_ERROR_INVALID_PTX"
          : code == UNSUPPORTED_PTX_VERSION ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
                                    : "CUDA_ERROR_INVALID_VALUE";
  return SUCCESS;
}
Result cuGetErrorString(Result code, const char **text) {
  *text = code == OUT_OF_MEMORY     ? "out of memory"
          : code == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
          : code == 100             ? "no CUDA-capable device is detected"
          : code == 803             ? "system has unsupported display driver / cuda driver combination"
          : code == NOT_FOUND       ? "named symbol not found"
          : code == INVALID_PTX     ? "a PTX JIT compilation failed"
          : code == UNSUPPORTED_PTX_VERSION ? "the provided PTX was compiled with an unsupported toolchain."
                                    : "invalid argument";
  return SUCCESS;
}
Result cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
  const char *lacking = getenv("FAKE_CUDA_WITHOUT");
  static void *self;
  if (!self) {
    Dl_info info;
    dladdr((void *)cuGetProcAddress, &info);
    self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }
  *function = lacking && !strcmp(lacking, name) ? NULL : dlsym(self, name);
  return *function ? SUCCESS : NOT_FOUND;
}

/* Contexts, streams and events. */
Result cuDevicePrimaryCtxRetain(Context **context, int device) {
  contexts[device].device = device;
  retained[device]++;
  *context = &contexts[device];
  return SUCCESS;
}
Result cuDevicePrimaryCtxRelease(int device) { retained[device]--; return SUCCESS; }
Result cuCtxCreate(Context **context, unsigned flags, int device) {
  *context = malloc(sizeof **context);
  (*context)->device = device;
  stack[depth++] = *context;
  return SUCCESS;
}
Result cuCtxDestroy(Context *context) { free(context); return SUCCESS; }
Result cuCtxSetCurrent(Context *context) {
  if (!depth) depth = 1;
  stack[depth - 1] = context;
  if (!context) depth--;
  return SUCCESS;
}
Result cuCtxPushCurrent(Context *context) { stack[depth++] = context; return SUCCESS; }
Result cuCtxPopCurrent(Context **context) {
  if (context) *context = depth ? stack[depth - 1] : NULL;
  if (depth) depth--;
  return SUCCESS;
}
Result cuDevicePrimaryCtxRelease_v2(int device) { return cuDevicePrimaryCtxRelease(device); }
Result cuCtxPushCurrent_v2(Context *context) { return cuCtxPushCurrent(context); }
Result cuCtxPopCurrent_v2(Context **context) { return cuCtxPopCurrent(context); }
Result cuStreamCreate(Stream **stream, unsigned flags) {
  *stream = malloc(sizeof **stream);
  (*stream)->context = &contexts[current()];
  return SUCCESS;
}
Result cuStreamDestroy(Stream *stream) { free(stream); return SUCCESS; }
Result cuStreamSynchronize(Stream *stream) {
  if ((uintptr_t)stream == 1) note("waited for the legacy stream of %d\n", current());
  return alive(device_of(stream));
}
Result cuStreamWaitEvent(Stream *stream, Event *event, unsigned flags) { return alive(device_of(stream)); }
Result cuEventCreate(Event **event, unsigned flags) { *event = calloc(1, sizeof **event); return SUCCESS; }
Result cuEventDestroy(Event *event) { free(event); return SUCCESS; }
Result cuEventRecord(Event *event, Stream *stream) { event->at = now(); return alive(device_of(stream)); }
Result cuEventQuery(Event *event) { return alive(current()); }
Result cuEventSynchronize(Event *event) { return alive(current()); }
Result cuEventElapsedTime(float *time, Event *start, Event *end) { *time = (float)(end->at - start->at); return SUCCESS; }
Result cuLaunchHostFunc(Stream *stream, void (*function)(void *), void *data) {
  function(data);
  return alive(device_of(stream));
}

/* Memory. */
enum { DEVICE, HOST, POOL };
enum { UNWRITTEN = 0xff }; /* each byte of memory that nobody wrote: NaN */
static Result take(void **start, size_t size, int kind) {
  int is_host = kind == HOST;
  int device = current();
  if (!is_host && alive(device)) return ILLEGAL_ADDRESS;
  Block *block = malloc(sizeof *block);
  pthread_mutex_lock(&memory);
  int fits = is_host || used[device] + size <= (size_t)setting("FAKE_CUDA_MEMORY", 1L << 30);
  if (!fits || posix_memalign(&block->start, 256, size ? size : 1)) {
    pthread_mutex_unlock(&memory);
    free(block);
    return OUT_OF_MEMORY;
  }
  memset(block->start, UNWRITTEN, size);
  block->size = size, block->device = device, block->is_host = is_host, block->is_pool = kind == POOL, block->next = blocks;
  blocks = block;
  if (!is_host) used[device] += size;
  *start = block->start;
  pthread_mutex_unlock(&memory);
  return SUCCESS;
}
static Result give(void *start) {
  pthread_mutex_lock(&memory);
  Block **at = &blocks, *block;
  while (*at && (*at)->start != start) at = &(*at)->next;
  if ((block = *at)) {
    *at = block->next;
    if (!block->is_host) used[block->device] -= block->size;
  }
  pthread_mutex_unlock(&memory);
  if (!block) return INVALID_VALUE;
  free(block->start);
  free(block);
  return SUCCESS;
}
Result cuMemAlloc(void **pointer, size_t size) { return take(pointer, size, DEVICE); }
Result cuMemAllocManaged(void **pointer, size_t size, unsigned flags) { return take(pointer, size, DEVICE); }
Result cuMemAllocFromPoolAsync(void **pointer, size_t size, void *pool, Stream *stream) {
  return size ? take(pointer, size, POOL) : INVALID_VALUE; /* as a GPU's driver */
}
Result cuMemFree(void *pointer) { return give(pointer); }
Result cuMemFreeAsync(void *pointer, Stream *stream) { return give(pointer); }
Result cuMemHostAlloc(void **pointer, size_t size, unsigned flags) {
  note("pinned %zu\n", size);
  return take(pointer, size, HOST);
}
Result cuMemFreeHost(void *pointer) { return give(pointer); }
Result cuMemHostGetDevicePointer(void **pointer, void *host, unsigned flags) { *pointer = host; return SUCCESS; }
Result cuMemHostRegister(void *host, size_t size, unsigned flags) { note("registered %zu\n", size); return SUCCESS; }
Result cuMemHostUnregister(void *host) { return SUCCESS; }
Result cuMemPoolCreate(void **pool, const void *properties) { *pool = malloc(1); return SUCCESS; }
Result cuMemPoolDestroy(void *pool) { free(pool); return SUCCESS; }
Result cuMemPoolGetAttribute(void *pool, int attribute, void *value) { *(uint64_t *)value = 0; return SUCCESS; }
Result cuMemPoolSetAttribute(void *pool, int attribute, void *value) { return SUCCESS; }
Result cuMemPoolSetAccess(void *pool, const void *accesses, size_t count) { return SUCCESS; }
Result cuMemPoolTrimTo(void *pool, size_t kept) { return SUCCESS; }
Result cuMemPrefetchAsync(void *pointer, size_t size, int device, Stream *stream) { return SUCCESS; }
/* The block that an address lies in, NULL for memory that this driver has not made. */
static Block *block_of(const void *address) {
  pthread_mutex_lock(&memory);
  Block *at = blocks;
  while (at && !((char *)at->start <= (char *)address && (char *)address < (char *)at->start + at->size)) at = at->next;
  pthread_mutex_unlock(&memory);
  return at;
}
static Result copy(void *target, const void *source, size_t size, Stream *stream) {
  if (alive(device_of(stream))) return ILLEGAL_ADDRESS;
  const char *gate = getenv("FAKE_CUDA_GATE");
  for (int i = 0; gate && access(gate, F_OK); i++) {
    if (i == 5000) return INVALID_VALUE;
    usleep(1000);
  }
  Block *from = block_of(source), *to = block_of(target);
  if (from && to && !from->is_host && !to->is_host && from->device != to->device) {
    if (from->is_pool || to->is_pool || getenv("FAKE_CUDA_APART")) return INVALID_VALUE;
    note("copy %zu from %d to %d\n", size, from->device, to->device);
  } else
    note("copy %zu on %d\n", size, device_of(stream));
  memmove(target, source, size);
  return SUCCESS;
}
Result cuMemcpyAsync(void *target, void *source, size_t size, Stream *stream) { return copy(target, source, size, stream); }
Result cuMemcpyHtoDAsync(void *target, const void *source, size_t size, Stream *stream) { return copy(target, source, size, stream); }
static void set(void *target, uint32_t value, int width, size_t count) {
  for (size_t i = 0; i < count; i++) memcpy((char *)target + i * width, &value, width);
}
Result cuMemsetD8Async(void *target, uint8_t value, size_t count, Stream *stream) { set(target, value, 1, count); return alive(device_of(stream)); }
Result cuMemsetD16Async(void *target, uint16_t value, size_t count, Stream *stream) { set(target, value, 2, count); return alive(device_of(stream)); }
Result cuMemsetD32Async(void *target, uint32_t value, size_t count, Stream *stream) { set(target, value, 4, count); return alive(device_of(stream)); }

/* Kernels, and graphs of them, which are done in the order in which they were made. */
static Result load_machine(Module *module, const char *command, const char *image) {
  char source[] = "/tmp/fake-cuda-XXXXXX", library[64], line[1024];
  int file = mkstemp(source);
  if (file < 0 || write(file, image, strlen(image)) < 0) return INVALID_VALUE;
  close(file);
  snprintf(library, sizeof library, "%s.so", source);
  snprintf(line, sizeof line, "%s %s %s", command, source, library);
  int failed = system(line);
  void *loaded = failed ? NULL : dlopen(library, RTLD_NOW | RTLD_LOCAL);
  remove(source), remove(library);
  if (!loaded) return INVALID_VALUE;
  module->kernels = dlsym(loaded, "kernels"), module->launch = dlsym(loaded, "launch");
  return SUCCESS;
}
/* PTX of a newer version than the driver's own, or for newer GPUs, is refused: CUDA 11.x has PTX 7.x, 12.x 8.x. */
static Result takes(const char *image) {
  const char *version = strstr(image, ".version "), *target = strstr(image, ".target sm_");
  long driver = setting("FAKE_CUDA_VERSION", 12040);
  int major = 0, minor = 0;
  if (!version || !target) return INVALID_PTX;
  sscanf(version, ".version %d.%d", &major, &minor);
  if ((major + 4) * 1000 + minor * 10 > driver) return UNSUPPORTED_PTX_VERSION;
  return atol(target + strlen(".target sm_")) > setting("FAKE_CUDA_CAPABILITY", 80) ? INVALID_PTX : SUCCESS;
}
Result cuModuleLoadDataEx(Module **module, const void *image, unsigned count, int *options, void **values) {
  if (!depth) return INVALID_CONTEXT; /* of this thread, as of a GPU's driver */
  Result refused = takes(image);
  if (refused) return refused;
  *module = calloc(1, sizeof **module);
  const char *machine = getenv("FAKE_CUDA_MACHINE");
  if (machine && load_machine(*module, machine, image)) return INVALID_VALUE;
  return alive(current());
}
Result cuModuleUnload(Module *module) { free(module); return SUCCESS; }
Result cuModuleGetFunction(Function **function, Module *module, const char *name) {
  *function = calloc(1, sizeof **function);
  (*function)->name = strdup(name);
  if (!module->kernels) return SUCCESS;
  (*function)->launch = module->launch;
  for (const Kernel *kernel = module->kernels; kernel->name; kernel++)
    if (!strcmp(kernel->name, name)) (*function)->kernel = kernel;
  return (*function)->kernel ? SUCCESS : NOT_FOUND;
}
static uint64_t nanoseconds(void) { return (uint64_t)(now() * 1e6); }
static void run(Function *function, int device, const unsigned *grid, const unsigned *block, unsigned shared,
                void **parameters) {
  uint64_t start = nanoseconds();
  if (function->kernel) function->launch(function->kernel, grid, block, shared, parameters);
  if (fake_cuda_heard) fake_cuda_heard(function->name, device, grid, start, nanoseconds() + 1);
}
Result cuModuleGetGlobal(void **pointer, size_t *size, void *module, const char *name) { return NOT_FOUND; }
Result cuFuncSetAttribute(void *function, int attribute, int value) { return SUCCESS; }
Result cuLaunchKernel(Function *function, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                      unsigned shared, Stream *stream, void **parameters, void **extra) {
  int device = device_of(stream);
  if (!x || !y || !z) return INVALID_VALUE; /* as a GPU's driver */
  launches[device]++;
  note("launch on %d\n", device);
  run(function, device, (unsigned[]){x, y, z}, (unsigned[]){a, b, c}, shared, parameters);
  return alive(device);
}
Result cuGraphCreate(Graph **graph, unsigned flags) { *graph = calloc(1, sizeof **graph); return SUCCESS; }
static Node *added(Node **node, Graph *graph, int kind) {
  Node *made = calloc(1, sizeof *made);
  made->kind = kind;
  if (graph->last) graph->last->next = made; else graph->first = made;
  graph->last = made;
  graph->count++;
  return *node = made;
}
Result cuGraphAddEmptyNode(Node **node, Graph *graph, const Node *needs, size_t count) { added(node, graph, EMPTY); return SUCCESS; }
typedef struct { Function *function; unsigned grid[3], block[3], shared; void **parameters, **extra; } Launched;
Result cuGraphAddKernelNode(Node **node, Graph *graph, const Node *needs, size_t count, const Launched *launched) {
  Node *made = added(node, graph, KERNEL);
  made->function = launched->function, made->shared = launched->shared;
  memcpy(made->grid, launched->grid, sizeof made->grid), memcpy(made->block, launched->block, sizeof made->block);
  const Kernel *kernel = launched->function->kernel;
  if (!kernel) return SUCCESS;
  made->parameters = calloc(kernel->parameters, sizeof(void *));
  for (int i = 0; i < kernel->parameters; i++)
    made->parameters[i] = memcpy(malloc(kernel->sizes[i]), launched->parameters[i], kernel->sizes[i]);
  return SUCCESS;
}
Result cuGraphAddEventRecordNode(Node **node, Graph *graph, const Node *needs, size_t count, Event *event) {
  added(node, graph, RECORD)->event = event;
  return SUCCESS;
}
typedef struct {
  size_t source_x, source_y, source_z, source_level;
  int source_type;
  const void *source_host;
  void *source_device, *source_array, *reserved;
  size_t source_pitch, source_height, target_x, target_y, target_z, target_level;
  int target_type;
  void *target_host, *target_device, *target_array, *reserved_too;
  size_t target_pitch, target_height, width, height, depth;
} Copy3d;
Result cuGraphAddMemcpyNode(Node **node, Graph *graph, const Node *needs, size_t count, const Copy3d *copied, void *context) {
  Node *made = added(node, graph, COPY);
  made->source = (char *)(copied->source_type == 1 ? (void *)copied->source_host : copied->source_device) + copied->source_x;
  made->target = (char *)(copied->target_type == 1 ? copied->target_host : copied->target_device) + copied->target_x;
  made->size = copied->width * copied->height * copied->depth;
  return SUCCESS;
}
typedef struct { void *target; size_t pitch; unsigned value, width; size_t count, height; } Fill;
Result cuGraphAddMemsetNode(Node **node, Graph *graph, const Node *needs, size_t count, const Fill *fill, void *context) {
  Node *made = added(node, graph, SET);
  made->target = fill->target, made->value = fill->value, made->width = fill->width, made->size = fill->count * fill->height;
  return SUCCESS;
}
Result cuGraphGetNodes(Graph *graph, Node **nodes, size_t *count) { *count = graph->count; return SUCCESS; }
Result cuGraphInstantiate(Graph **executable, Graph *graph, Node **failed, char *text, size_t size) { *executable = graph; return SUCCESS; }
Result cuGraphExecDestroy(Graph *executable) { return SUCCESS; }
Result cuGraphDestroy(Graph *graph) {
  for (Node *node = graph->first, *next; node; node = next) next = node->next, free(node);
  free(graph);
  return SUCCESS;
}
Result cuGraphLaunch(Graph *executable, Stream *stream) {
  int device = device_of(stream);
  for (Node *node = executable->first; node; node = node->next) {
    if (node->kind == KERNEL) {
      launches[device]++;
      note("launch on %d\n", device);
      run(node->function, device, node->grid, node->block, node->shared, node->parameters);
    }
    if (alive(device)) return ILLEGAL_ADDRESS;
    if (node->kind == COPY) copy(node->target, node->source, node->size, stream);
    if (node->kind == SET) set(node->target, node->value, node->width, node->size);
    if (node->kind == RECORD) node->event->at = now();
  }
  return SUCCESS;
}
