// Two sums of one large array are one op with two results, which squares the elements itself.
// RUN: adze opt %s --pass-pipeline='lower' --stop-after fuse-reductions | filecheck %s

func.func @f(%x: tensor<256x512xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
  %0 = "adze.mul"(%x, %x) : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x512xf32>
  %1 = "adze.reduce_sum"(%0) {axes = array<i64: 1>} : (tensor<256x512xf32>) -> tensor<256xf32>
  %2 = "adze.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<256x512xf32>) -> tensor<256xf32>
  return %1, %2 : tensor<256xf32>, tensor<256xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK-NOT: ["parallel", "parallel"]
// CHECK: %4:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]}
// CHECK: arith.mulf
// CHECK: return %4#0, %4#1
