// An operand that is dear to compute is written, and the reduction reads it.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<512x1024xf32>) -> tensor<512xf32> {
  %0 = "adze.exp"(%x) : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %1 = "adze.reduce_sum"(%0) {axes = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512xf32>
  return %1 : tensor<512xf32>
}

// CHECK: %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<512x1024xf32>) outs(%0 : tensor<512x1024xf32>) {
// CHECK: %5 = func.call @scalar.exp.float32(%in) : (f32) -> f32
// CHECK: %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<512x1024xf32>) outs(%3 : tensor<512xf32>) attrs =  {compilation_info = #compilation} {
// CHECK: %5 = arith.addf %out, %in : f32
// CHECK: return %4 : tensor<512xf32>
