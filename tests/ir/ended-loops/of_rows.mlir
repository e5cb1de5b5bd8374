// Rows of an unknown size on lavapipe have at most as many elements as the loops of its lanes take; others are not checked.
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:lavapipe},ended-loops' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:ampere},ended-loops' | filecheck %s --check-prefix=ELSEWHERE

#rows = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
func.func @of_any_length(%x: tensor<4x?xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @of_any_number(%x: tensor<?x8xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @of_any_length
// CHECK: %[[MOST:.*]] = arith.constant 520000 : index
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %{{.*}}, %[[MOST]] : index
// CHECK: cf.assert %[[FITS]], "adze: lavapipe would leave out some of more than 520000 elements
// CHECK: linalg.generic
// CHECK-LABEL: func.func @of_any_number
// CHECK-NOT: cf.assert
// ELSEWHERE-NOT: cf.assert
