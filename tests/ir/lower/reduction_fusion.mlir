// A large reduction computes a cheap operand itself; the operand is not written.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<512x1024xf32>, %y: tensor<512x1024xf32>) -> tensor<512xf32> {
  %0 = "adze.sub"(%x, %y) : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %1 = "adze.mul"(%0, %0) : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %2 = "adze.reduce_sum"(%1) {axes = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512xf32>
  return %2 : tensor<512xf32>
}

// CHECK: %2 = linalg.generic {indexing_maps = [#map, #map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<512x1024xf32>, tensor<512x1024xf32>) outs(%1 : tensor<512xf32>) attrs =  {compilation_info = #compilation} {
// CHECK: %3 = arith.subf %in, %in_0 : f32
// CHECK: %4 = arith.mulf %3, %3 : f32
// CHECK: %5 = arith.addf %out, %4 : f32
// CHECK: return %2 : tensor<512xf32>
