/* What kernels translated from PTX (`ptx_machine.py`) run on: blocks one after the other, threads in turns.

   A thread runs until it waits: for its block at a barrier, or for its warp where lanes exchange values. With
   `PTX_MACHINE_ORDER=reversed` the last thread goes first: kernels whose results depend on that have a race. */

#undef _FORTIFY_SOURCE /* it refuses jumps from one stack to another */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { WARP = 32, STACK = 1 << 16, WORDS = 16, COPIES = 256 };
enum { READY, AT_BARRIER, AT_WARP, ENDED };

typedef struct {
  char *to;
  const char *from;
  int bytes, group;
} Copy;

typedef struct Thread {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3], lane;
  char *shared;
  int state;
  jmp_buf place; /* where it waits */
  struct Thread *warp; /* its first thread */
  int lanes;
  uint32_t words[WORDS]; /* what other lanes of its warp may take */
  Copy copies[COPIES]; /* begun and not awaited */
  int copying, groups;
} Thread;

typedef struct {
  const char *name;
  void (*run)(Thread *, char **);
  int waits, static_shared, parameters;
  const int *sizes;
} Kernel;

static __thread jmp_buf scheduler;

/* A context starts a thread on its stack; then jumps do, which ask the kernel for no signal mask. */
static void wait_for(Thread *t, int state) {
  t->state = state;
  if (!_setjmp(t->place)) _longjmp(scheduler, 1);
}
static void resume(Thread *t) {
  if (!_setjmp(scheduler)) _longjmp(t->place, 1);
}
static void barrier(Thread *t) { wait_for(t, AT_BARRIER); }
static void warp(Thread *t) { wait_for(t, AT_WARP); }

static void enter(unsigned high, unsigned low, unsigned run_high, unsigned run_low, unsigned p_high, unsigned p_low) {
  Thread *t = (Thread *)((uint64_t)high << 32 | low);
  void (*run)(Thread *, char **) = (void (*)(Thread *, char **))((uint64_t)run_high << 32 | run_low);
  run(t, (char **)((uint64_t)p_high << 32 | p_low));
  t->state = ENDED;
  _longjmp(scheduler, 1);
}
static void start(Thread *t, char *stack, void (*run)(Thread *, char **), char **parameters) {
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack, context.uc_stack.ss_size = STACK, context.uc_link = NULL;
  uint64_t self = (uint64_t)t, code = (uint64_t)run, p = (uint64_t)parameters;
  makecontext(&context, (void (*)(void))enter, 6, (unsigned)(self >> 32), (unsigned)self, (unsigned)(code >> 32),
              (unsigned)code, (unsigned)(p >> 32), (unsigned)p);
  if (!_setjmp(scheduler)) setcontext(&context);
}

static int count_of(Thread *threads, int count, int state) {
  int found = 0;
  for (int i = 0; i < count; i++) found += threads[i].state == state;
  return found;
}
static void release(Thread *threads, int count, int state) {
  for (int i = 0; i < count; i++)
    if (threads[i].state == state) threads[i].state = READY;
}

static void run_block(const Kernel *kernel, Thread *threads, int count, char *stacks, char **parameters) {
  const char *order = getenv("PTX_MACHINE_ORDER");
  int reversed = order && !strcmp(order, "reversed");
  for (int i = 0; i < count; i++) {
    int at = reversed ? count - 1 - i : i;
    if (kernel->waits)
      start(&threads[at], stacks + (size_t)at * STACK, kernel->run, parameters);
    else
      kernel->run(&threads[at], parameters);
  }
  while (kernel->waits) {
    int ended = count_of(threads, count, ENDED), changed = 0;
    if (ended == count) return;
    for (int first = 0; first < count; first += WARP) {
      int lanes = count - first < WARP ? count - first : WARP;
      int waiting = count_of(threads + first, lanes, AT_WARP);
      if (waiting && waiting + count_of(threads + first, lanes, ENDED) == lanes)
        release(threads + first, lanes, AT_WARP), changed = 1;
    }
    if (count_of(threads, count, AT_BARRIER) + ended == count) release(threads, count, AT_BARRIER), changed = 1;
    if (!changed) {
      fprintf(stderr, "%s: some threads of a block wait where others never come\n", kernel->name);
      abort();
    }
    for (int i = 0; i < count; i++) {
      Thread *t = &threads[reversed ? count - 1 - i : i];
      if (t->state == READY) resume(t);
    }
  }
}

static void run_grid(const Kernel *kernel, const unsigned *grid, const unsigned *block, unsigned shared, char **parameters) {
  int count = block[0] * block[1] * block[2];
  Thread *threads = calloc(count, sizeof *threads);
  char *stacks = kernel->waits ? malloc((size_t)count * STACK) : NULL;
  size_t bytes = kernel->static_shared + shared;
  char *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
  for (unsigned z = 0; z < grid[2]; z++)
    for (unsigned y = 0; y < grid[1]; y++)
      for (unsigned x = 0; x < grid[0]; x++) {
        memset(memory, 0xa5, bytes); /* nobody may rely on what another block left */
        for (int i = 0; i < count; i++) {
          Thread *t = &threads[i];
          t->copying = t->groups = 0;
          t->tid[0] = i % block[0], t->tid[1] = i / block[0] % block[1], t->tid[2] = i / block[0] / block[1];
          memcpy(t->ntid, block, sizeof t->ntid), memcpy(t->nctaid, grid, sizeof t->nctaid);
          t->ctaid[0] = x, t->ctaid[1] = y, t->ctaid[2] = z;
          t->lane = i % WARP, t->warp = &threads[i - i % WARP], t->shared = memory;
          t->lanes = count - (i - i % WARP) < WARP ? count - (i - i % WARP) : WARP;
        }
        run_block(kernel, threads, count, stacks, parameters);
      }
  free(threads), free(stacks), free(memory);
}

/* Bits of registers as numbers. */
#define BITS(name, bits, type)                                                                  \
  static inline type name(bits b) { type v; memcpy(&v, &b, sizeof v); return v; }               \
  static inline bits name##_bits(type v) { bits b; memcpy(&b, &v, sizeof b); return b; }
BITS(f16, uint16_t, _Float16)
BITS(f32, uint32_t, float)
BITS(f64, uint64_t, double)
static inline float bf16(uint16_t b) { return f32((uint32_t)b << 16); }
static inline uint16_t bf16_bits(float v) {
  uint32_t b = f32_bits(v);
  if (v != v) return 0x7fff;
  return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

#define INTEGER(type, wide)                                                                                      \
  static inline type shl_##type(type a, uint32_t n) { return n >= 8 * sizeof a ? 0 : (type)(a << n); }           \
  static inline type shr_##type(type a, uint32_t n) {                                                            \
    return n >= 8 * sizeof a ? ((type)-1 < 0 && a < 0 ? -1 : 0) : (type)(a >> n);                                \
  }                                                                                                              \
  static inline type hi_##type(type a, type b) { return (type)(((wide)a * (wide)b) >> (8 * sizeof a)); }         \
  static inline type div_##type(type a, type b) { return b ? ((type)-1 < 0 && b == (type)-1 ? -a : a / b) : -1; } \
  static inline type rem_##type(type a, type b) { return b ? ((type)-1 < 0 && b == (type)-1 ? 0 : a % b) : a; }   \
  static inline type min_##type(type a, type b) { return a < b ? a : b; }                                        \
  static inline type max_##type(type a, type b) { return a > b ? a : b; }
INTEGER(int8_t, int32_t) INTEGER(uint8_t, uint32_t)
INTEGER(int16_t, int32_t) INTEGER(uint16_t, uint32_t)
INTEGER(int32_t, int64_t) INTEGER(uint32_t, uint64_t)
INTEGER(int64_t, __int128) INTEGER(uint64_t, unsigned __int128)

/* A float as an integer of these bounds; NaN becomes 0. */
static inline int64_t to_signed(double v, int bits) {
  double end = ldexp(1, bits - 1);
  if (v != v) return 0;
  return v >= end ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1) : v < -end ? -(int64_t)(UINT64_C(1) << (bits - 1)) : (int64_t)v;
}
static inline uint64_t to_unsigned(double v, int bits) {
  if (!(v > 0)) return 0;
  return v >= ldexp(1, bits) ? (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) : (uint64_t)v;
}
/* Least and greatest as PTX has them: not NaN where one operand is none, unless that is asked for. */
static inline double least(double a, double b, int nan) {
  if (a != a || b != b) return nan ? NAN : a != a ? b : a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline double greatest(double a, double b, int nan) {
  if (a != a || b != b) return nan ? NAN : a != a ? b : a;
  return a > b || (a == b && !signbit(a)) ? a : b;
}

static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t selector = selectors >> 4 * i & 15, byte = bytes >> 8 * (selector & 7) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
static inline uint32_t funnel(uint32_t low, uint32_t high, uint32_t n, int left, int clamps) {
  uint64_t both = (uint64_t)high << 32 | low;
  n = clamps ? (n > 32 ? 32 : n) : n & 31;
  return left ? (uint32_t)((both << n) >> 32) : (uint32_t)(both >> n);
}
static inline uint64_t insert_bits(uint64_t part, uint64_t whole, uint32_t at, uint32_t count, int bits) {
  at &= 255, count &= 255;
  for (uint32_t i = 0; i < count && at + i < bits; i++)
    whole = (whole & ~(UINT64_C(1) << (at + i))) | (part >> i & 1) << (at + i);
  return whole;
}
static inline uint64_t reversed_bits(uint64_t v, int bits) {
  uint64_t result = 0;
  for (int i = 0; i < bits; i++) result |= (v >> i & 1) << (bits - 1 - i);
  return result;
}

/* What the lanes of a warp exchange. */
enum { SHFL_BFLY, SHFL_DOWN, SHFL_UP, SHFL_IDX };
static uint32_t shfl(Thread *t, int kind, uint32_t value, uint32_t by, uint32_t clamp, int *valid) {
  t->words[0] = value;
  warp(t);
  uint32_t mask = clamp >> 8 & 31, top = clamp & 31, lane = t->lane;
  uint32_t low = lane & mask, high = (lane & mask) | (top & ~mask);
  int from = kind == SHFL_BFLY ? (int)(lane ^ by) : kind == SHFL_DOWN ? (int)(lane + by) : kind == SHFL_UP ? (int)lane - (int)by
                                                                       : (int)(low | (by & ~mask));
  int ok = kind == SHFL_UP ? from >= (int)high : from <= (int)high;
  if (!ok || from < 0 || from >= t->lanes) from = lane, ok = ok && 0;
  uint32_t got = t->warp[from].words[0];
  warp(t);
  if (valid) *valid = ok;
  return got;
}
enum { VOTE_ALL, VOTE_ANY, VOTE_BALLOT };
static uint32_t vote(Thread *t, int kind, int flag) {
  t->words[0] = flag != 0;
  warp(t);
  uint32_t all = 1, any = 0, ballot = 0;
  for (int i = 0; i < t->lanes; i++) {
    uint32_t each = t->warp[i].words[0];
    all &= each, any |= each, ballot |= each << i;
  }
  warp(t);
  return kind == VOTE_ALL ? all : kind == VOTE_ANY ? any : ballot;
}

/* cp.async: a copy is made as late as it may be, when its thread waits for it. */
static void begin_copy(Thread *t, char *to, const char *from, int bytes) {
  if (t->copying == COPIES || ((uint64_t)to | (uint64_t)from) % bytes) {
    fprintf(stderr, "too many copies of a thread at once, or one of %d bytes that is not aligned\n", bytes);
    abort();
  }
  t->copies[t->copying++] = (Copy){to, from, bytes, t->groups};
}
static void end_copies(Thread *t) { t->groups++; }
static void await_copies(Thread *t, int later) {
  int kept = 0;
  for (int i = 0; i < t->copying; i++) {
    Copy copy = t->copies[i];
    if (copy.group < t->groups - later)
      memcpy(copy.to, copy.from, copy.bytes);
    else
      t->copies[kept++] = copy;
  }
  t->copying = kept;
}

/* mma.sync.m8n8k4.row.col of float64. */
static void mma884(Thread *t, double left, double right, double *sums) {
  memcpy(t->words, &left, 8), memcpy(t->words + 2, &right, 8);
  warp(t);
  for (int each = 0; each < 2; each++)
    for (int k = 0; k < 4; k++) {
      double x, y;
      memcpy(&x, t->warp[(t->lane & ~3) + k].words, 8);
      memcpy(&y, t->warp[((t->lane & 3) * 2 + each) * 4 + k].words + 2, 8);
      sums[each] = fma(x, y, sums[each]);
    }
  warp(t);
}

/* mma.sync.m16n8k16.row.col of float16 or bfloat16, sums in float32 or float16. */
static inline float half_of(uint32_t word, int high, int is_bf16) {
  uint16_t bits = high ? word >> 16 : word & 0xffff;
  return is_bf16 ? bf16(bits) : (float)f16(bits);
}
static void mma16816(Thread *t, int is_bf16, const uint32_t *a, const uint32_t *b, float *sums) {
  memcpy(t->words, a, 16), memcpy(t->words + 4, b, 8);
  warp(t);
  int group = t->lane >> 2, own = t->lane & 3;
  for (int each = 0; each < 4; each++) {
    int row = group + 8 * (each >> 1), column = own * 2 + (each & 1);
    float sum = sums[each];
    for (int k = 0; k < 16; k++) {
      Thread *left = &t->warp[(row & 7) * 4 + (k & 7) / 2], *right = &t->warp[column * 4 + (k & 7) / 2];
      float x = half_of(left->words[(row >> 3) + 2 * (k >> 3)], k & 1, is_bf16);
      float y = half_of(right->words[4 + (k >> 3)], k & 1, is_bf16);
      sum += x * y;
    }
    sums[each] = sum;
  }
  warp(t);
}
