/* NCCL without GPUs: the ranks of a communicator are processes, which share memory.

   What of NCCL's functions IREE asks for, beside the driver of `fake_cuda.c`, whose devices' memory is the process's.
   Everything is done when its group ends. FAKE_NCCL_RANKS says how many ranks a communicator has: NCCL learns
   it only behind the call that makes its name. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int Result;
typedef void Stream;
enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };

enum { RANKS = 4, ROOM = 1 << 14, LETTERS = 8, SUM = 0, MAX = 2, MIN = 3 };
typedef struct { char bytes[128]; } Id;
typedef struct { char data[ROOM]; size_t bytes; } Letter;
typedef struct { Letter letters[LETTERS]; unsigned sent, received; } Box;

typedef struct { /* what the ranks of a communicator share */
  pthread_barrier_t barrier;
  char sent[RANKS][ROOM];
  pthread_mutex_t lock;
  pthread_cond_t changed;
  Box boxes[RANKS][RANKS];
} Shared;

typedef struct { Shared *shared; int rank, count; } Comm;
typedef enum { REDUCE, GATHER, SCATTER, SEND, RECEIVE } Kind;
typedef struct { Kind kind; const void *send; void *recv; size_t count; int type, op, peer; Comm *comm; } Call;

static int names;
static __thread Call group[64];
static __thread int group_size, group_depth;

static size_t width(int type) { return (size_t[]){1, 1, 4, 4, 8, 8, 2, 4, 8, 2}[type]; }
const char *ncclGetErrorString(int code) { return "an error of the NCCL without GPUs"; }
const char *ncclGetLastError(Comm *comm) { return "none"; }
Result ncclGetVersion(int *out) { *out = 21805; return SUCCESS; }

static Shared *opened(const Id *id, int flags) {
  int file = shm_open(id->bytes, O_RDWR | flags, 0600);
  if (file < 0) return NULL;
  if (ftruncate(file, sizeof(Shared))) return NULL;
  Shared *shared = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return shared == MAP_FAILED ? NULL : shared;
}

/* The root prepares the memory. */
Result ncclGetUniqueId(Id *out) {
  memset(out, 0, sizeof *out);
  snprintf(out->bytes, sizeof out->bytes, "/fake-nccl-%d-%d", (int)getpid(), names++);
  Shared *shared = opened(out, O_CREAT | O_EXCL);
  if (!shared) return SYSTEM_ERROR;
  pthread_barrierattr_t barrier;
  pthread_barrierattr_init(&barrier);
  pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &barrier, atoi(getenv("FAKE_NCCL_RANKS")));
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->lock, &mutex);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&shared->changed, &condition);
  return SUCCESS;
}

Result ncclCommInitRankConfig(Comm **out, int count, Id id, int rank, void *config) {
  Shared *shared = opened(&id, 0);
  if (!shared || count != atoi(getenv("FAKE_NCCL_RANKS")) || rank < 0 || rank >= count) return INVALID_ARGUMENT;
  *out = malloc(sizeof **out);
  **out = (Comm){shared, rank, count};
  pthread_barrier_wait(&shared->barrier);  /* as NCCL does, it waits for all ranks */
  if (rank == 0) shm_unlink(id.bytes);
  return SUCCESS;
}

#define COMBINE(type) \
  for (size_t i = 0; i < count; i++) { \
    type *a = (type *)into + i, b = ((const type *)from)[i]; \
    *a = op == SUM ? *a + b : op == MAX ? (b > *a ? b : *a) : (b < *a ? b : *a); \
  } \
  break;

static void combine(void *into, const void *from, size_t count, int type, int op) {
  switch (type) {
    case 0: COMBINE(int8_t)
    case 1: COMBINE(uint8_t)
    case 2: COMBINE(int32_t)
    case 3: COMBINE(uint32_t)
    case 4: COMBINE(int64_t)
    case 5: COMBINE(uint64_t)
    case 7: COMBINE(float)
    case 8: COMBINE(double)
    default: fprintf(stderr, "the NCCL without GPUs adds nothing of type %d\n", type); abort();
  }
}

static void refuse(const char *what, size_t bytes) {
  fprintf(stderr, "the NCCL without GPUs: %s, %zu bytes\n", what, bytes);
  abort();
}

static void together(Call *call) {
  Shared *shared = call->comm->shared;
  int ranks = call->comm->count, rank = call->comm->rank;
  size_t bytes = call->count * width(call->type);
  size_t sent = call->kind == SCATTER ? bytes * ranks : bytes;
  if (sent > ROOM) refuse("too much is sent", sent);
  memcpy(shared->sent[rank], call->send, sent);
  pthread_barrier_wait(&shared->barrier);
  size_t first = call->kind == SCATTER ? bytes * rank : 0;
  for (int other = 0; other < ranks; other++) {
    const char *from = shared->sent[other] + first;
    if (call->kind == GATHER) memcpy((char *)call->recv + other * bytes, from, bytes);
    else if (other == 0) memcpy(call->recv, from, bytes);
    else combine(call->recv, from, call->count, call->type, call->op);
  }
  pthread_barrier_wait(&shared->barrier);
}

static void send_letter(Call *call) {
  Shared *shared = call->comm->shared;
  Box *box = &shared->boxes[call->comm->rank][call->peer];
  size_t bytes = call->count * width(call->type);
  if (bytes > ROOM) refuse("too long a letter", bytes);
  pthread_mutex_lock(&shared->lock);
  while (box->sent - box->received == LETTERS) pthread_cond_wait(&shared->changed, &shared->lock);
  Letter *letter = &box->letters[box->sent++ % LETTERS];
  memcpy(letter->data, call->send, bytes);
  letter->bytes = bytes;
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->lock);
}

static void receive_letter(Call *call) {
  Shared *shared = call->comm->shared;
  Box *box = &shared->boxes[call->peer][call->comm->rank];
  pthread_mutex_lock(&shared->lock);
  while (box->sent == box->received) pthread_cond_wait(&shared->changed, &shared->lock);
  Letter *letter = &box->letters[box->received++ % LETTERS];
  if (letter->bytes != call->count * width(call->type)) refuse("a letter of another length", letter->bytes);
  memcpy(call->recv, letter->data, letter->bytes);
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->lock);
}

Result ncclGroupStart(void) { group_depth++; return SUCCESS; }

Result ncclGroupEnd(void) {
  if (--group_depth) return SUCCESS;
  for (int i = 0; i < group_size; i++) if (group[i].kind == SEND) send_letter(&group[i]);
  for (int i = 0; i < group_size; i++) if (group[i].kind == RECEIVE) receive_letter(&group[i]);
  for (int i = 0; i < group_size; i++) if (group[i].kind < SEND) together(&group[i]);
  group_size = 0;
  return SUCCESS;
}

static Result called(Call call) {
  ncclGroupStart();
  group[group_size++] = call;
  return ncclGroupEnd();
}

Result ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, Comm *comm, Stream *stream) {
  return called((Call){REDUCE, send, recv, count, type, op, 0, comm});
}
Result ncclAllGather(const void *send, void *recv, size_t count, int type, Comm *comm, Stream *stream) {
  return called((Call){GATHER, send, recv, count, type, 0, 0, comm});
}
Result ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, Comm *comm, Stream *stream) {
  return called((Call){SCATTER, send, recv, count, type, op, 0, comm});
}
Result ncclSend(const void *send, size_t count, int type, int peer, Comm *comm, Stream *stream) {
  return called((Call){SEND, send, NULL, count, type, 0, peer, comm});
}
Result ncclRecv(void *recv, size_t count, int type, int peer, Comm *comm, Stream *stream) {
  return called((Call){RECEIVE, NULL, recv, count, type, 0, peer, comm});
}

Result ncclCommCount(Comm *comm, int *out) { *out = comm->count; return SUCCESS; }
Result ncclCommUserRank(Comm *comm, int *out) { *out = comm->rank; return SUCCESS; }
Result ncclCommCuDevice(Comm *comm, int *out) { *out = comm->rank; return SUCCESS; }
Result ncclCommFinalize(Comm *comm) { return SUCCESS; }
Result ncclCommDestroy(Comm *comm) { return SUCCESS; }
Result ncclCommAbort(Comm *comm) { return SUCCESS; }
Result ncclCommGetAsyncError(Comm *comm, int *out) { *out = SUCCESS; return SUCCESS; }
Result ncclBcast(void) { return INVALID_USAGE; }
Result ncclBroadcast(void) { return INVALID_USAGE; }
Result ncclReduce(void) { return INVALID_USAGE; }
Result ncclCommSplit(void) { return INVALID_USAGE; }
Result ncclCommInitAll(void) { return INVALID_USAGE; }
Result ncclCommInitRank(void) { return INVALID_USAGE; }
Result ncclRedOpCreatePreMulSum(void) { return INVALID_USAGE; }
Result ncclRedOpDestroy(void) { return INVALID_USAGE; }
