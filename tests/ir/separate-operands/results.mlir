// The result of a reduction that begins with an array goes behind a barrier; one that begins with a number does not.
// RUN: adze opt %s --pass-pipeline='separate-operands' | filecheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<?x8xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.addf %in, %out : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.maximumf %in, %out : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]} ins(%0, %1 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %4 = arith.mulf %in, %other : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  return %2, %0 : tensor<?xf32>, tensor<?xf32>
}

// CHECK: %[[BEGUN:.*]] = linalg.generic {{.*}} outs(%arg1 :
// CHECK: %[[SIZE:.*]] = tensor.dim %[[BEGUN]]
// CHECK: %[[APART:.*]] = iree_tensor_ext.compute_barrier.start %[[BEGUN]] : tensor<?xf32>{%[[SIZE]]}
// CHECK: %[[FILLED:.*]] = linalg.generic {{.*}} outs(%{{.*}} :
// CHECK-NOT: compute_barrier
// CHECK: linalg.generic {{.*}} ins(%[[APART]], %[[FILLED]] :
// CHECK: return %{{.*}}, %[[APART]]
