// A long vector is reduced as rows first.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4194304xf32>) -> tensor<f32> {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<4194304xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK: %expanded = tensor.expand_shape %arg0 [[0, 1]] output_shape [2048, 2048] : tensor<4194304xf32> into tensor<2048x2048xf32>
// CHECK: %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%expanded : tensor<2048x2048xf32>) outs(%1 : tensor<2048xf32>) attrs =  {compilation_info = #compilation} {
// CHECK: %6 = arith.addf %out, %in : f32
// CHECK: %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["reduction"]} ins(%2 : tensor<2048xf32>) outs(%4 : tensor<f32>) {
// CHECK: %6 = arith.addf %out, %in : f32
