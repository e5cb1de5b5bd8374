// Calls predict.vmfb from C: no Python, no adze, only IREE's runtime. See README.md.
#define ADZE_PREDICT_IMPLEMENTATION
#include "predict.h"

#include <stdio.h>
#include <stdlib.h>

static iree_status_t run(predict_program_t* program, int64_t rows) {
  float* x = malloc(PREDICT_X_COUNT(rows) * sizeof(float));
  float* result = malloc(PREDICT_RESULT_COUNT(rows) * sizeof(float));
  iree_status_t status = iree_ok_status();
  if (x == NULL || result == NULL) {
    status = iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "no memory for %lld rows", (long long)rows);
  } else {
    for (size_t i = 0; i < PREDICT_X_COUNT(rows); ++i) x[i] = (float)i / 10.0f;
    status = predict_call(program, rows, x, result);
  }
  for (int64_t row = 0; row < rows && iree_status_is_ok(status); ++row) {
    printf("%.6f %.6f\n", (double)result[2 * row], (double)result[2 * row + 1]);
  }
  free(x);
  free(result);
  return status;
}

int main(int argc, char** argv) {
  predict_program_t program;
  const int64_t rows = argc > 1 ? atoll(argv[1]) : 3;
  if (rows < 1 || rows > 1000000) {
    fprintf(stderr, "usage: %s [ROWS [PROGRAM.vmfb]], with 1 to 1000000 rows\n", argv[0]);
    return 2;
  }
  iree_status_t status = predict_open(argc > 2 ? argv[2] : NULL, NULL, &program);
  if (iree_status_is_ok(status)) status = run(&program, rows);
  predict_close(&program);
  if (iree_status_is_ok(status)) return 0;
  iree_status_fprint(stderr, status);
  iree_status_ignore(status);
  return 1;
}
