// Beside a product that is data-tiled, a small one of static sizes carries no tiles: IREE refuses some mixtures.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<32x64xf32>) -> (tensor<?x64xf32>, tensor<32x64xf32>) {
  %0 = "adze.dot_general"(%arg0, %arg1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %1 = "adze.dot_general"(%arg2, %arg1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f32} : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  return %0, %1 : tensor<?x64xf32>, tensor<32x64xf32>
}

// CHECK: module attributes {adze.hints = {{{.*}}data_tiling = true
// CHECK: ins(%arg2, %arg1 : tensor<32x64xf32>, tensor<64x64xf32>) outs({{.*}} : tensor<32x64xf32>) {
// CHECK-NOT: compilation_info
