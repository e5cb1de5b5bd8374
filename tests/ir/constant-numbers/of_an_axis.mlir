// The numbers of elements along an axis are a constant; a map that is not the identity stays, and so does arithmetic.
// RUN: adze opt %s --pass-pipeline='constant-numbers' | filecheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
func.func @f(%init: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<2x3xi32>) {
  ^bb0(%out: i32):
    %3 = linalg.index 1 : index
    %4 = arith.index_cast %3 : index to i64
    %5 = arith.trunci %4 : i64 to i32
    linalg.yield %5 : i32
  } -> tensor<2x3xi32>
  %1 = linalg.generic {indexing_maps = [#turned], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<2x3xi32>) {
  ^bb0(%out: i32):
    %3 = linalg.index 1 : index
    %4 = arith.index_cast %3 : index to i32
    linalg.yield %4 : i32
  } -> tensor<2x3xi32>
  %2 = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<2x3xi32>) {
  ^bb0(%out: i32):
    %3 = linalg.index 0 : index
    %4 = arith.index_cast %3 : index to i32
    %5 = arith.muli %4, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<2x3xi32>
  return %0, %1, %2 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>
}

// CHECK: %[[NUMBERS:.*]] = arith.constant dense<{{\[\[}}0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
// CHECK: %[[TURNED:.*]] = linalg.generic
// CHECK: %[[SQUARES:.*]] = linalg.generic
// CHECK: return %[[NUMBERS]], %[[TURNED]], %[[SQUARES]]
