// The operand that an op computes goes behind a barrier; an argument and the initial value do not.
// RUN: adze opt %s --pass-pipeline='separate-operands' | filecheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: tensor<4x8xi32>, %z: tensor<4x8xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  %empty = tensor.empty() : tensor<4x8xi64>
  %0 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xi32>) outs(%empty : tensor<4x8xi64>) {
  ^bb0(%in: i32, %out: i64):
    %2 = arith.extsi %in : i32 to i64
    linalg.yield %2 : i64
  } -> tensor<4x8xi64>
  %1 = linalg.generic {indexing_maps = [#rows, #rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%0, %z : tensor<4x8xi64>, tensor<4x8xi64>) outs(%y : tensor<4xi64>) {
  ^bb0(%in: i64, %other: i64, %out: i64):
    %2 = arith.muli %in, %other : i64
    %3 = arith.addi %2, %out : i64
    linalg.yield %3 : i64
  } -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// CHECK: %[[WIDE:.*]] = linalg.generic
// CHECK: %[[APART:.*]] = iree_tensor_ext.compute_barrier.start %[[WIDE]] : tensor<4x8xi64> -> tensor<4x8xi64>
// CHECK: linalg.generic {{.*}} ins(%[[APART]], %arg1 : {{.*}}) outs(%arg2 :
// CHECK-NOT: compute_barrier
