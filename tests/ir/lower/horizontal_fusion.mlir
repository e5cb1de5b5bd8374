// Two reductions of one large array along the same axis are one op of two results.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<512x1024xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512xf32>
  %1 = "adze.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512xf32>
  return %0, %1 : tensor<512xf32>, tensor<512xf32>
}

// CHECK: %4:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<512x1024xf32>) outs(%1, %3 : tensor<512xf32>, tensor<512xf32>) attrs =  {compilation_info = #compilation} {
// CHECK: %5 = arith.addf %out, %in : f32
// CHECK: %6 = arith.maximumf %out_1, %in : f32
// CHECK: linalg.yield %5, %6 : f32, f32
// CHECK: return %4#0, %4#1 : tensor<512xf32>, tensor<512xf32>
