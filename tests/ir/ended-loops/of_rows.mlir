// Rows of an unknown size, or of one that the lanes do not divide, have at most as many elements on lavapipe as its loops take, less where elements are computed of the sums.
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

func.func @of_an_odd_length(%x: tensor<4x100001xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x100001xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @of_an_even_length(%x: tensor<4x100008xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x100008xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @divided_by_the_sum(%x: tensor<4x?xf32>, %start: tensor<4xf32>, %empty: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #kept, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<4x?xf32>, tensor<4xf32>) outs(%empty : tensor<4x?xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %3 = arith.divf %in, %sum : f32
    linalg.yield %3 : f32
  } -> tensor<4x?xf32>
  return %2 : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @of_any_length
// CHECK: %[[MOST:.*]] = arith.constant 520000 : index
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %{{.*}}, %[[MOST]] : index
// CHECK: cf.assert %[[FITS]], "adze: lavapipe would leave out some of more than 520000 elements
// CHECK: linalg.generic
// CHECK-LABEL: func.func @of_any_number
// CHECK-NOT: cf.assert
// CHECK-LABEL: func.func @of_an_odd_length
// CHECK: cf.assert %{{.*}}, "adze: lavapipe would leave out some of more than 65000 elements
// CHECK-LABEL: func.func @of_an_even_length
// CHECK-NOT: cf.assert
// CHECK-LABEL: func.func @divided_by_the_sum
// CHECK: cf.assert %{{.*}}, "adze: lavapipe would leave out some of more than 260000 elements
// ELSEWHERE-NOT: cf.assert
