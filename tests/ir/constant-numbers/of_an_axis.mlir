// Numbers along an axis of known size come from a constant operand, one for each axis; an unknown size stays.
// RUN: adze opt %s --pass-pipeline='constant-numbers' | filecheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: tensor<2x3xf32>, %init: tensor<2xi32>, %wide: tensor<2x?xi32>) -> (tensor<2xi32>, tensor<2x?xi32>) {
  %0 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x3xf32>) outs(%init : tensor<2xi32>) {
  ^bb0(%in: f32, %out: i32):
    %2 = linalg.index 1 : index
    %3 = linalg.index 0 : index
    %4 = arith.addi %2, %3 : index
    %5 = arith.index_cast %4 : index to i32
    %6 = arith.maxsi %out, %5 : i32
    linalg.yield %6 : i32
  } -> tensor<2xi32>
  %1 = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%wide : tensor<2x?xi32>) {
  ^bb0(%out: i32):
    %2 = linalg.index 1 : index
    %3 = arith.index_cast %2 : index to i32
    linalg.yield %3 : i32
  } -> tensor<2x?xi32>
  return %0, %1 : tensor<2xi32>, tensor<2x?xi32>
}

// CHECK: %[[COLUMNS:.*]] = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK: %[[ROWS:.*]] = arith.constant dense<[0, 1]> : tensor<2xi32>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[COLUMNS]], %[[ROWS]] : {{.*}}) outs(%arg1 :
// CHECK: ^bb0(%{{.*}}: f32, %[[COLUMN:.*]]: i32, %[[ROW:.*]]: i32, %[[OUT:.*]]: i32):
// CHECK-DAG: arith.index_cast %[[COLUMN]] : i32 to index
// CHECK-DAG: arith.index_cast %[[ROW]] : i32 to index
// CHECK: arith.maxsi %[[OUT]],
// CHECK: linalg.generic
// CHECK: linalg.index 1
