// A product of integers of dynamic sizes carries no tiles and its operands are behind barriers: IREE packs them (data tiling).
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?x64xi32>, %arg1: tensor<64x256xi32>) -> tensor<?x256xi32> {
  %0 = "adze.dot_general"(%arg0, %arg1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = i32} : (tensor<?x64xi32>, tensor<64x256xi32>) -> tensor<?x256xi32>
  return %0 : tensor<?x256xi32>
}

// CHECK: module attributes {adze.hints = {{{.*}}data_tiling = true
// CHECK: [[LEFT:%.+]] = iree_tensor_ext.compute_barrier.start %arg0
// CHECK: [[RIGHT:%.+]] = iree_tensor_ext.compute_barrier.start %arg1
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins([[LEFT]], [[RIGHT]] : tensor<?x64xi32>, tensor<64x256xi32>) outs({{.*}} : tensor<?x256xi32>) {
// CHECK-NOT: compilation_info
