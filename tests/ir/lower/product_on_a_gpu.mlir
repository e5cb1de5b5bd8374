// A product of float32 shares blocks of its operands in shared memory; one of bfloat16 is left to IREE, whose tensor cores.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda:sm_80},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<64x128xbf16>, %arg1: tensor<128x256xbf16>, %arg2: tensor<64x64xf32>) -> (tensor<64x256xbf16>, tensor<64x64xf32>) {
  %0 = "adze.dot_general"(%arg0, %arg1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = bf16} : (tensor<64x128xbf16>, tensor<128x256xbf16>) -> tensor<64x256xbf16>
  %1 = "adze.dot_general"(%arg2, %arg2) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0, %1 : tensor<64x256xbf16>, tensor<64x64xf32>
}

// CHECK: module attributes {adze.hints = {{{.*}}data_tiling = false
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<64x128xbf16>, tensor<128x256xbf16>) outs({{.*}} : tensor<64x256xf32>) {
// CHECK: linalg.generic {{.*}}ins(%arg2, %arg2 : tensor<64x64xf32>, tensor<64x64xf32>) outs({{.*}} : tensor<64x64xf32>) attrs = {{.*}}compilation_info
